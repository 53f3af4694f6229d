internal import Dispatch
package import OffhookBasics
package import OffhookMedia

/// Decodes the frames of one video line on the shared pool.
///
/// All methods may be called on any thread. Pictures are delivered on the pipeline's queue.
package final class VideoDecoderPipeline: VideoSource {
    /// What has happened so far.
    package struct Counters: Hashable, Sendable {
        package var framesTaken = 0
        package var framesDecoded = 0
        package var keyFramesDecoded = 0
        /// Frames dropped since decoding was behind.
        package var framesDropped = 0
        /// Frames that could not be decoded without one that is missing.
        package var framesRefused = 0
        /// Time spent on decoding, of one processor.
        package var decodeTime = Duration.zero
        /// The size of the last picture.
        package var size: VideoSize?
        /// How often, and how long in all, the picture stood still for much longer than between frames on average.
        package var freezes = 0
        package var freezeTime = Duration.zero
    }

    fileprivate struct Intake {
        var waiting = 0
        var isWaitingForKeyFrame = false
        var counters = Counters()
        var lastDelivery: ContinuousClock.Instant?
        var averageInterval: Duration?
    }

    private let intake = Lock(Intake())
    private let capacity: Int
    private let decoder: QueueConfined<VP8Decoder>
    private let sink = SinkSlot<any VideoSink>()
    private let needsKeyFrame = SinkSlot<@Sendable () -> Void>()

    /// Makes a pipeline that keeps so many frames waiting at most; when more come it starts anew at a key frame.
    ///
    /// `needsKeyFrame` is called for every frame that is of no use without a key frame, on the pipeline's queue or on
    /// the thread of ``decode(isKeyFrame:captureTime:lendingBytes:)``.
    package init(
        pool: CodecPool = .shared, capacity: Int = 10, maximumPixels: Int = 4096 * 2304,
        needsKeyFrame: @escaping @Sendable () -> Void
    ) {
        decoder = QueueConfined(VP8Decoder(maximumPixels: maximumPixels), on: pool.makeQueue("video-decoder"))
        self.capacity = capacity
        self.needsKeyFrame.set(needsKeyFrame)
    }

    package var counters: Counters { intake.withLock { $0.counters } }

    /// Chooses where pictures go. With nil it detaches: no frame is delivered after this returns.
    package func setVideoSink(_ sink: (any VideoSink)?) {
        self.sink.set(sink)
    }

    /// Decodes a whole frame after those before it.
    package func decode(_ frame: [UInt8], isKeyFrame: Bool, captureTime: Instant) {
        decode(isKeyFrame: isKeyFrame, captureTime: captureTime) { $0(frame.span.bytes) }
    }

    /// Decodes a whole frame after those before it. The closure lends the frame's bytes when its turn has come.
    package func decode(
        isKeyFrame: Bool, captureTime: Instant, lendingBytes: @escaping @Sendable ((RawSpan) -> Void) -> Void
    ) {
        let isTaken = intake.withLock { intake in
            intake.counters.framesTaken += 1
            if isKeyFrame { intake.isWaitingForKeyFrame = false }
            if intake.waiting >= capacity { intake.isWaitingForKeyFrame = true }
            guard !intake.isWaitingForKeyFrame else {
                intake.counters.framesDropped += 1
                return false
            }
            intake.waiting += 1
            return true
        }
        guard isTaken else {
            needsKeyFrame.deliver { $0() }
            return
        }
        decoder.async { decoder in
            var outcome: Outcome?
            let start = ContinuousClock.now
            lendingBytes { bytes in
                outcome = Outcome(decoding: bytes, with: decoder, captureTime: captureTime)
            }
            let now = ContinuousClock.now
            self.intake.withLock { intake in
                intake.waiting -= 1
                intake.count(outcome, isKeyFrame: isKeyFrame, time: now - start, at: now)
            }
            switch outcome {
            case .picture(let picture): self.sink.deliver { $0.handleVideoFrame(picture) }
            case .refused: self.needsKeyFrame.deliver { $0() }
            case .hidden, nil: break
            }
        }
    }

    /// Ends delivery: neither sink nor handler is called after this returns, unless this was called from inside one.
    package func stop() {
        sink.set(nil)
        needsKeyFrame.set(nil)
    }

    /// Waits until all that was handed in has been decoded. Not to be called from the sink.
    package func drain() {
        decoder.sync { _ in }
    }
}

extension VideoDecoderPipeline {
    fileprivate enum Outcome {
        case picture(VideoFrame)
        case hidden
        case refused

        init(decoding bytes: RawSpan, with decoder: VP8Decoder, captureTime: Instant) {
            do throws(VideoCodecError) {
                let picture = try decoder.decode(bytes, captureTime: captureTime)
                self = picture.map { .picture($0) } ?? .hidden
            } catch {
                self = .refused
            }
        }
    }
}

extension VideoDecoderPipeline.Intake {
    fileprivate mutating func count(
        _ outcome: VideoDecoderPipeline.Outcome?, isKeyFrame: Bool, time: Duration, at now: ContinuousClock.Instant
    ) {
        counters.decodeTime += time
        switch outcome {
        case .refused: counters.framesRefused += 1
        case .hidden: counters.framesDecoded += 1
        case .picture(let picture):
            counters.framesDecoded += 1
            if isKeyFrame { counters.keyFramesDecoded += 1 }
            counters.size = picture.size
            countInterval(until: now)
        case nil: break
        }
    }

    /// A freeze is an interval of three times the average and 150 ms longer than it, as WebRTC's statistics define it.
    private mutating func countInterval(until now: ContinuousClock.Instant) {
        defer { lastDelivery = now }
        guard let lastDelivery else { return }
        let interval = now - lastDelivery
        guard let average = averageInterval else {
            averageInterval = interval
            return
        }
        if interval > max(average * 3, average + .milliseconds(150)) {
            counters.freezes += 1
            counters.freezeTime += interval
        } else {
            averageInterval = average + (interval - average) / 16
        }
    }
}
