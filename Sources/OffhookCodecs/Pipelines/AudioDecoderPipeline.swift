internal import Dispatch
package import OffhookBasics
package import OffhookMedia

/// What an ``AudioDecoderPipeline`` does for the next stretch of playing time.
package enum AudioDecoderStep: Hashable, Sendable {
    /// Decode a payload.
    case packet([UInt8], AudioCodec)
    /// Decode what a payload says of the lost one before it, so long.
    case forwardErrorCorrection([UInt8], Duration)
    /// Make up a stretch that fits what was played last.
    case conceal(Duration)
    /// Play nothing.
    case silence(Duration)
}

/// How the next stretch is played, so that the jitter buffer comes to hold less or more.
package enum AudioDecoderSpeed: Hashable, Sendable {
    case normal
    /// Up to 10 ms shorter.
    case accelerated
    /// Up to 10 ms longer.
    case expanded
}

/// Decodes the sound of one audio line to 48 kHz mono on the shared pool.
///
/// Who plays asks ``bufferedDuration`` each 20 ms, hands in steps until 20 ms are there, and calls ``play(at:)``. All
/// methods may be called on any thread; the sink is called on the pipeline's queue.
package final class AudioDecoderPipeline: Sendable {
    /// What has happened so far.
    package struct Counters: Hashable, Sendable {
        package var packetsDecoded = 0
        package var packetsRefused = 0
        /// Packets brought back by forward error correction.
        package var packetsRecovered = 0
        /// Samples played, of which made up, cut out and put in; all at 48 kHz.
        package var samplesPlayed = 0
        package var samplesConcealed = 0
        package var samplesRemoved = 0
        package var samplesInserted = 0
        /// How loud the last 20 ms were: the root of the mean square, 0 to 1.
        package var level: Float = 0
        /// Time spent on decoding, of one processor.
        package var decodeTime = Duration.zero
    }

    private struct Intake {
        /// Samples in the buffer, with a careful estimate of those still being decoded.
        var buffered = 0
        var gain: Float = 1
        var counters = Counters()
    }

    /// Samples of one delivered frame.
    private static let frameSamples = 960
    private static let sampleRate = 48000

    private let intake = Lock(Intake())
    private let worker: QueueConfined<AudioDecoderWorker>
    private let sink = SinkSlot<any AudioSink>()

    package init(pool: CodecPool = .shared) {
        worker = QueueConfined(AudioDecoderWorker(), on: pool.makeQueue("audio-decoder"))
    }

    package var counters: Counters { intake.withLock { $0.counters } }

    /// Chooses where sound goes. With nil it detaches: no frame is delivered after this returns.
    package func setAudioSink(_ sink: (any AudioSink)?) {
        self.sink.set(sink)
    }

    /// By what every sample is multiplied; 1 changes nothing.
    package func setGain(_ gain: Float) {
        intake.withLock { $0.gain = gain }
    }

    /// How much sound waits to be played, counting what is still being decoded as its shortest.
    package var bufferedDuration: Duration {
        .nanoseconds(Int64(max(intake.withLock { $0.buffered }, 0)) * 1_000_000_000 / Int64(Self.sampleRate))
    }

    /// Decodes the next stretch into the buffer.
    package func decode(_ step: AudioDecoderStep, speed: AudioDecoderSpeed = .normal) {
        let estimate = step.estimatedSamples - (speed == .accelerated ? Self.sampleRate / 100 : 0)
        intake.withLock { $0.buffered += estimate }
        worker.async { worker in
            let start = ContinuousClock.now
            let outcome = worker.run(step, speed: speed)
            let time = ContinuousClock.now - start
            self.intake.withLock { intake in
                intake.buffered += outcome.sampleCount - estimate
                intake.counters.count(outcome, time: time)
            }
        }
    }

    /// Hands the next 20 ms to the sink; what is missing is made up. `now` becomes the frame's time.
    package func play(at now: Instant) {
        let gain = intake.withLock { intake in
            intake.buffered -= Self.frameSamples
            return intake.gain
        }
        worker.async { worker in
            var (samples, missing) = worker.take(Self.frameSamples)
            AudioSamples.amplify(&samples, by: gain)
            let level = AudioSamples.level(of: samples)
            self.intake.withLock { intake in
                intake.buffered += missing
                intake.counters.samplesConcealed += missing
                intake.counters.samplesPlayed += Self.frameSamples
                intake.counters.level = level
            }
            let frame = AudioFrame(samples: samples, sampleRate: Self.sampleRate, captureTime: now)
            self.sink.deliver { $0.handleAudioFrame(frame) }
        }
    }

    /// Ends delivery: the sink is not called after this returns, unless this was called from inside it.
    package func stop() {
        sink.set(nil)
    }

    /// Waits until all that was handed in has been done. Not to be called from the sink.
    package func drain() {
        worker.sync { _ in }
    }
}

extension AudioDecoderStep {
    /// Samples at 48 kHz that the step is going to give, as far as can be told before decoding.
    fileprivate var estimatedSamples: Int {
        switch self {
        case .packet(let payload, .opus): OpusDecoder.sampleCount(of: payload.span.bytes) ?? 960
        case .packet(let payload, .muLaw), .packet(let payload, .aLaw): payload.count * 6
        case .forwardErrorCorrection(_, let duration), .conceal(let duration), .silence(let duration):
            duration.samples(at: 48000)
        }
    }
}

extension AudioDecoderPipeline.Counters {
    fileprivate mutating func count(_ outcome: AudioDecoderWorker.Outcome, time: Duration) {
        decodeTime += time
        switch outcome.source {
        case .packet: packetsDecoded += 1
        case .recovered: packetsRecovered += 1
        case .refused:
            packetsRefused += 1
            samplesConcealed += outcome.sampleCount
        case .concealed: samplesConcealed += outcome.sampleCount
        case .silence: break
        }
        samplesRemoved += max(-outcome.stretch, 0)
        samplesInserted += max(outcome.stretch, 0)
    }
}
