internal import Dispatch
package import OffhookBasics
package import OffhookMedia

/// One VP8 frame, ready to be cut into packets.
package struct EncodedVideoFrame: Sendable {
    package var bytes: [UInt8]
    package var isKeyFrame: Bool
    /// The size as encoded, upright.
    package var size: VideoSize
    /// When the picture was taken.
    package var captureTime: Instant
}

/// Encodes the pictures of one video line on the shared pool.
///
/// Pictures may come on any thread and faster than they can be encoded: the newest waits, older ones are dropped and
/// counted. Where encoding takes most of the time there is, it is done less thoroughly. All methods may be called on
/// any thread.
package final class VideoEncoderPipeline: VideoSink {
    /// What has happened so far.
    package struct Counters: Hashable, Sendable {
        package var framesTaken = 0
        package var framesEncoded = 0
        package var keyFramesEncoded = 0
        /// Pictures that a newer one pushed out before their turn.
        package var framesReplaced = 0
        /// Pictures that came sooner than the frame rate asks for.
        package var framesOverRate = 0
        /// Pictures that the encoder left out to hold its bit rate.
        package var framesLeftOut = 0
        package var framesFailed = 0
        package var bytesEncoded = 0
        /// Time spent on encoding, of one processor.
        package var encodeTime = Duration.zero
        /// Samples that were copied between what came and what the encoder was given.
        package var reshapedSamples = 0
        /// The size of the last encoded picture.
        package var size: VideoSize?
        package var targetBitrate = 0
    }

    fileprivate struct Slot {
        var waiting: VideoFrame?
        var isScheduled = false
        var frameInterval: Duration?
        var nextDue: Instant?
        var load: EncoderLoad
        var counters = Counters()
    }

    private let slot: Lock<Slot>
    private let encoder: QueueConfined<VP8Encoder>
    private let handler = SinkSlot<@Sendable (EncodedVideoFrame) -> Void>()

    /// Makes a pipeline that calls `handler` on its queue, once for each encoded frame, in order.
    package init(
        configuration: VP8EncoderConfiguration = VP8EncoderConfiguration(), pool: CodecPool = .shared,
        handler: @escaping @Sendable (EncodedVideoFrame) -> Void
    ) {
        encoder = QueueConfined(VP8Encoder(configuration: configuration), on: pool.makeQueue("video-encoder"))
        slot = Lock(Slot(load: EncoderLoad(speed: configuration.speed)))
        slot.withLock { $0.counters.targetBitrate = configuration.bitrate }
        self.handler.set(handler)
    }

    package var counters: Counters { slot.withLock { $0.counters } }

    /// Takes a picture, unless it comes too soon for the frame rate, and returns at once.
    package func handleVideoFrame(_ frame: VideoFrame) {
        let isToBeScheduled = slot.withLock { slot in
            slot.counters.framesTaken += 1
            guard slot.admits(frame) else {
                slot.counters.framesOverRate += 1
                return false
            }
            if slot.waiting != nil { slot.counters.framesReplaced += 1 }
            slot.waiting = frame
            defer { slot.isScheduled = true }
            return !slot.isScheduled
        }
        if isToBeScheduled { encoder.async { self.encodeNewest(with: $0) } }
    }

    /// Changes bit rate (bits a second), the largest picture, of a camera and of a screen, and how many pictures a second
    /// are taken at most, from the next picture on. Nil leaves size or rate as they come.
    package func setTarget(
        bitrate: Int, sizeLimit: VideoSize?, screenSizeLimit: VideoSize? = nil, frameRate: Double?
    ) {
        slot.withLock { slot in
            slot.counters.targetBitrate = bitrate
            slot.frameInterval = frameRate.map { .nanoseconds(Int64(1e9 / max($0, 0.1))) }
        }
        encoder.async { encoder in
            encoder.setBitrate(bitrate)
            encoder.setSizeLimit(sizeLimit, ofScreens: screenSizeLimit ?? sizeLimit)
            if let frameRate { encoder.setFrameRate(frameRate) }
        }
    }

    /// Makes the next encoded picture a key frame.
    package func requestKeyFrame() {
        encoder.async { $0.requestKeyFrame() }
    }

    /// Ends delivery: the handler is not called after this returns, unless this was called from inside it.
    package func stop() {
        handler.set(nil)
        slot.withLock { $0.waiting = nil }
    }

    /// Waits until all that was handed in has been encoded. Not to be called from the handler.
    package func drain() {
        encoder.sync { _ in }
    }

    private func encodeNewest(with encoder: borrowing VP8Encoder) {
        let waiting = slot.withLock { slot in
            slot.isScheduled = false
            defer { slot.waiting = nil }
            return slot.waiting
        }
        guard let waiting, !handler.isEmpty else { return }
        let start = ContinuousClock.now
        var encoded: EncodedVideoFrame?
        do throws(VideoCodecError) {
            try encoder.encode(waiting) { bytes, picture in
                encoded = EncodedVideoFrame(
                    bytes: bytes.withUnsafeBytes { Array($0) }, isKeyFrame: picture.isKeyFrame, size: picture.size,
                    captureTime: picture.captureTime)
            }
            let time = ContinuousClock.now - start
            let speed = slot.withLock { slot -> Int? in
                slot.counters.count(encoded, time: time)
                slot.counters.reshapedSamples = encoder.reshapedSamples
                let isToChange = slot.load.note(captureTime: waiting.captureTime, encodeTime: time)
                return isToChange ? slot.load.speed : nil
            }
            if let speed { encoder.setSpeed(speed) }
        } catch {
            slot.withLock { $0.counters.framesFailed += 1 }
        }
        if let encoded { handler.deliver { $0(encoded) } }
    }
}

extension VideoEncoderPipeline.Slot {
    /// Whether the frame rate has room for a picture of this time; a tenth of an interval early is on time.
    fileprivate mutating func admits(_ frame: VideoFrame) -> Bool {
        guard let frameInterval else { return true }
        if let nextDue, frame.captureTime + frameInterval / 10 < nextDue,
            // A clock that jumped back starts anew.
            nextDue - frame.captureTime < frameInterval * 2
        {
            return false
        }
        let base = max(nextDue ?? frame.captureTime, frame.captureTime - frameInterval)
        nextDue = min(base, frame.captureTime) + frameInterval
        return true
    }
}

extension VideoEncoderPipeline.Counters {
    fileprivate mutating func count(_ frame: EncodedVideoFrame?, time: Duration) {
        encodeTime += time
        guard let frame else {
            framesLeftOut += 1
            return
        }
        framesEncoded += 1
        if frame.isKeyFrame { keyFramesEncoded += 1 }
        bytesEncoded += frame.bytes.count
        size = frame.size
    }
}
