public import OffhookMedia

/// Writes coded VP8 frames to an IVF file, which is whole after each frame, whatever then happens to the process.
///
/// May be called on any thread, one frame after another.
public final class IVFWriter: Sendable {
    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: where.
    ///   - size: the picture's size, if it is known; otherwise it is taken from the first key frame.
    ///   - timestampRate: ticks of the timestamps a second.
    public init(path: String, size: VideoSize? = nil, timestampRate: Int = 90000) throws(DeviceError) {
        throw DeviceError(.cannotOpen, "\(path) cannot be created.")
    }

    /// The first trouble with writing, if there was any; frames that came later were not kept.
    public var error: DeviceError? { nil }

    /// How many frames are in the file.
    public var frameCount: Int { 0 }

    /// Appends a frame.
    public func write(_ frame: [UInt8], timestamp: UInt64) {}

    /// Appends a frame.
    package func write(_ frame: RawSpan, timestamp: UInt64) {}

    /// Completes the header and closes the file. Frames that come later are dropped.
    public func close() {}
}
