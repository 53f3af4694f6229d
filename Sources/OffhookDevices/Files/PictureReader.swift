internal import OffhookBasics
internal import OffhookMedia

/// Reads a file's pictures one after the other, and from the start again at its end. It belongs to one thread at a time.
protocol PictureReader: AnyObject {
    var size: VideoSize { get }
    /// Pictures a second.
    var frameRate: Double { get }
    /// The next picture; nil where this one cannot be read.
    func next(captureTime: Instant) -> VideoFrame?
}
