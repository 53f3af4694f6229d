internal import OffhookBasics
public import OffhookMedia

/// A moving picture that carries its number and a clock where ``TestPatternReader`` finds them.
///
/// Pictures come on a thread of the system's pool, one at a time.
public final class TestPatternCapturer: VideoCapturer {
    /// The size of the pictures.
    public let size: VideoSize
    /// Pictures a second.
    public let frameRate: Double
    private let slot = SinkSlot<any VideoSink>()

    /// Makes a pattern, which starts to move once there is a sink.
    public init(size: VideoSize = VideoSize(width: 1280, height: 720), frameRate: Double = 30) {
        self.size = size
        self.frameRate = frameRate
    }

    /// Chooses where pictures go; see ``VideoCapturer``.
    public func setVideoSink(_ sink: (any VideoSink)?) {
        slot.set(sink)
    }
}
