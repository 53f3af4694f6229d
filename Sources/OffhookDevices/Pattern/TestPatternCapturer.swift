internal import OffhookBasics
internal import OffhookCodecs
public import OffhookMedia

/// A moving picture that carries its number and a clock where ``TestPatternReader`` finds them.
///
/// Numbers go up by one with each picture. Pictures come on a thread of the system's pool, one at a time.
public final class TestPatternCapturer: VideoCapturer {
    /// The size of the pictures.
    public let size: VideoSize
    /// Pictures a second.
    public let frameRate: Double

    private let paced: PacedVideo

    /// Draws one picture after the other.
    private final class Source: @unchecked Sendable {
        // Used by one block at a time, on the paced source's serial queue.
        private let size: VideoSize
        private var painter: TestPatternPainter?
        private let pool = VideoFramePool()
        private var number = 0

        init(size: VideoSize) { self.size = size }

        func next(due: Instant) -> VideoFrame {
            // Made with the first picture, as it takes a while.
            let painter = painter ?? TestPatternPainter(size: size)
            self.painter = painter
            let buffer = pool.takeBuffer(size: size)
            painter.draw(TestPattern(frameNumber: number, drawnAt: MonotonicClock.now), into: buffer)
            number += 1
            return VideoFrame(buffer: buffer, captureTime: due)
        }
    }

    /// Makes a pattern, which starts to move once there is a sink.
    ///
    /// - Parameters:
    ///   - size: from 16x16 on; the number can be read from 160x120 on.
    ///   - frameRate: up to 240 pictures a second.
    public init(size: VideoSize = VideoSize(width: 1280, height: 720), frameRate: Double = 30) {
        let size = VideoSize(width: min(max(size.width, 16), 8192), height: min(max(size.height, 16), 8192))
        let frameRate = frameRate.isFinite ? min(max(frameRate, 0.1), 240) : 30
        self.size = size
        self.frameRate = frameRate
        let source = Source(size: size)
        paced = PacedVideo(frameRate: frameRate, label: "offhook.pattern") { source.next(due: $0) }
    }

    /// Chooses where pictures go; see ``VideoCapturer``.
    public func setVideoSink(_ sink: (any VideoSink)?) {
        paced.setSink(sink)
    }
}
