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

    private let paced: PacedVideo

    private final class Source: @unchecked Sendable {
        // Used by one block at a time, on the paced source's serial queue.
        private let reader: any PictureReader
        init(_ reader: any PictureReader) { self.reader = reader }
        func next(due: Instant) -> VideoFrame? { reader.next(captureTime: due) }
    }

    /// Opens a file, whose content and not whose name tells its kind.
    public init(path: String) throws(DeviceError) {
        let file = try InputFile(opening: path)
        let start = file.readUpTo(9)
        let reader: any PictureReader
        if start.elementsEqual(Y4MReader.signature.utf8) {
            reader = try Y4MReader(file)
        } else if start.starts(with: IVFReader.signature.utf8) {
            reader = try IVFReader(file)
        } else {
            throw DeviceError(.notUnderstood, "\(path) is neither Y4M nor IVF: convert it to one of them.")
        }
        size = reader.size
        frameRate = reader.frameRate
        let source = Source(reader)
        paced = PacedVideo(frameRate: frameRate, label: "offhook.file") { source.next(due: $0) }
    }

    /// Chooses where pictures go; see ``VideoCapturer``.
    public func setVideoSink(_ sink: (any VideoSink)?) {
        paced.setSink(sink)
    }
}
