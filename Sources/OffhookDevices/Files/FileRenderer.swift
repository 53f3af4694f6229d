public import OffhookMedia

/// Writes pictures to a file: all of them to a `.y4m` file, the newest one to a `.png` file.
///
/// Received VP8 is kept as it came by ``IVFWriter`` instead, with no decoding and coding in between.
public final class FileRenderer: VideoSink {
    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: ends in `.y4m` or `.png`.
    ///   - frameRate: what a Y4M file says its rate is.
    public init(path: String, frameRate: Double = 30) throws(DeviceError) {
        throw DeviceError(.notUnderstood, "\(path) must end in .y4m or .png.")
    }

    /// The first trouble with writing, if there was any; pictures that came later were not kept.
    public var error: DeviceError? { nil }

    /// How many pictures are in the file.
    public var frameCount: Int { 0 }

    /// Takes a picture.
    public func handleVideoFrame(_ frame: VideoFrame) {}

    /// Writes what is left to write and closes the file. Pictures that come later are dropped.
    public func close() {}
}
