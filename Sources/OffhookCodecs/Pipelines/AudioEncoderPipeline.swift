internal import Dispatch
package import OffhookBasics
package import OffhookMedia

/// What an ``AudioEncoderPipeline`` makes of sound.
package struct AudioEncoderConfiguration: Hashable, Sendable {
    package var codec: AudioCodec
    /// How much sound a packet holds: 10, 20, 40 or 60 ms.
    package var packetDuration = Duration.milliseconds(20)
    /// Counts with Opus alone.
    package var opus = OpusEncoderConfiguration()

    package init(codec: AudioCodec = .opus) {
        self.codec = codec
    }
}

/// One audio payload, ready for its packet.
package struct EncodedAudio: Hashable, Sendable {
    package var bytes: [UInt8]
    /// By how much the RTP timestamp goes on: ticks of the codec's RTP clock.
    package var units: Int
    /// When the first sample was taken.
    package var captureTime: Instant
    /// Whether the packet says nothing and need not be sent (Opus DTX); time goes on all the same.
    package var isPause: Bool
}

/// Encodes the sound of one audio line on the shared pool.
///
/// Takes frames of any length, sampling rate and number of channels. All methods may be called on any thread.
package final class AudioEncoderPipeline: AudioSink {
    /// What has happened so far.
    package struct Counters: Hashable, Sendable {
        package var packetsEncoded = 0
        package var bytesEncoded = 0
        /// Frames dropped since encoding was behind by half a second.
        package var framesDropped = 0
        package var framesFailed = 0
        /// How loud the last frame was: the root of the mean square, 0 to 1.
        package var level: Float = 0
        /// Time spent on encoding, of one processor.
        package var encodeTime = Duration.zero
    }

    private struct Intake {
        var waiting = Duration.zero
        var isMuted = false
        var gain: Float = 1
        var counters = Counters()
    }

    private static let longestWait = Duration.milliseconds(500)

    private let intake = Lock(Intake())
    private let worker: QueueConfined<AudioEncoderWorker>
    private let handler = SinkSlot<@Sendable (EncodedAudio) -> Void>()

    /// Makes a pipeline that calls `handler` on its queue, once for each packet, in order.
    package init(
        configuration: AudioEncoderConfiguration = AudioEncoderConfiguration(), pool: CodecPool = .shared,
        handler: @escaping @Sendable (EncodedAudio) -> Void
    ) throws(AudioCodecError) {
        worker = QueueConfined(
            try AudioEncoderWorker(configuration: configuration), on: pool.makeQueue("audio-encoder"))
        self.handler.set(handler)
    }

    package var counters: Counters { intake.withLock { $0.counters } }

    /// Takes the next sound and returns at once.
    package func handleAudioFrame(_ frame: AudioFrame) {
        let change = intake.withLock { intake -> (isMuted: Bool, gain: Float)? in
            guard intake.waiting < Self.longestWait else {
                intake.counters.framesDropped += 1
                return nil
            }
            intake.waiting += frame.duration
            return (intake.isMuted, intake.gain)
        }
        guard let change else { return }
        worker.async { worker in
            let start = ContinuousClock.now
            var frame = frame
            if change.isMuted {
                frame.samples = [Int16](repeating: 0, count: frame.samples.count)
            } else {
                AudioSamples.amplify(&frame.samples, by: change.gain)
            }
            let level = AudioSamples.level(of: frame.samples)
            var packets: [EncodedAudio] = []
            var isFailed = false
            do throws(AudioCodecError) {
                try worker.encode(frame, into: &packets)
            } catch {
                isFailed = true
            }
            let time = ContinuousClock.now - start
            self.intake.withLock { [packets, isFailed] intake in
                intake.waiting -= frame.duration
                intake.counters.level = level
                intake.counters.encodeTime += time
                intake.counters.packetsEncoded += packets.count
                intake.counters.bytesEncoded += packets.reduce(0) { $0 + $1.bytes.count }
                if isFailed { intake.counters.framesFailed += 1 }
            }
            for packet in packets { self.handler.deliver { $0(packet) } }
        }
    }

    /// Whether silence is encoded in place of what comes.
    package func setMuted(_ isMuted: Bool) {
        intake.withLock { $0.isMuted = isMuted }
    }

    /// By what every sample is multiplied; 1 changes nothing.
    package func setGain(_ gain: Float) {
        intake.withLock { $0.gain = gain }
    }

    /// Changes codec, packet length or settings from the next packet on.
    package func setConfiguration(_ configuration: AudioEncoderConfiguration) {
        worker.async { worker in
            do throws(AudioCodecError) {
                try worker.setConfiguration(configuration)
            } catch {
                self.intake.withLock { $0.counters.framesFailed += 1 }
            }
        }
    }

    /// Ends delivery: the handler is not called after this returns, unless this was called from inside it.
    package func stop() {
        handler.set(nil)
    }

    /// Waits until all that was handed in has been encoded. Not to be called from the handler.
    package func drain() {
        worker.sync { _ in }
    }
}
