internal import OffhookBasics
internal import OffhookCodecs
public import OffhookMedia

/// Writes coded VP8 frames to an IVF file, which is whole after each frame, whatever then happens to the process.
///
/// May be called on any thread, one frame after another.
public final class IVFWriter: Sendable {
    private struct State: @unchecked Sendable {
        // The file is used with the lock around this value held only.
        let file: OutputFile
        var size: VideoSize?
        var frameCount = 0
        var firstTimestamp: UInt64?
    }

    private let state: Lock<State>

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: where.
    ///   - size: the picture's size, if it is known; otherwise it is taken from the first key frame.
    ///   - timestampRate: ticks of the timestamps a second.
    public init(path: String, size: VideoSize? = nil, timestampRate: Int = 90000) throws(DeviceError) {
        let file = try OutputFile(creating: path)
        var header = Array("DKIF".utf8) + littleEndianBytes(UInt16(0)) + littleEndianBytes(UInt16(32))
        header += Array("VP80".utf8) + Self.bytes(of: size ?? VideoSize(width: 0, height: 0))
        header += littleEndianBytes(UInt32(clamping: max(timestampRate, 1))) + littleEndianBytes(UInt32(1))
        header += littleEndianBytes(UInt64(0))
        file.append(header)
        if let error = file.error { throw error }
        state = Lock(State(file: file, size: size))
    }

    /// The first trouble with writing, if there was any; frames that came later were not kept.
    public var error: DeviceError? { state.withLock { $0.file.error } }

    /// How many frames are in the file.
    public var frameCount: Int { state.withLock { $0.frameCount } }

    /// Appends a frame.
    ///
    /// - Parameters:
    ///   - frame: the whole coded frame.
    ///   - timestamp: when it is due; the file counts from the first frame on.
    public func write(_ frame: [UInt8], timestamp: UInt64) {
        write(frame.span.bytes, timestamp: timestamp)
    }

    /// Appends a frame.
    package func write(_ frame: RawSpan, timestamp: UInt64) {
        state.withLock { state in
            let first = state.firstTimestamp ?? timestamp
            state.firstTimestamp = first
            // Header and content go out in one piece, so that the file never ends within a frame.
            var piece = littleEndianBytes(UInt32(clamping: frame.byteCount)) + littleEndianBytes(timestamp &- first)
            frame.withUnsafeBytes { piece.append(contentsOf: $0) }
            guard state.file.append(piece) else { return }
            state.frameCount += 1
            state.file.overwrite(littleEndianBytes(UInt32(clamping: state.frameCount)), at: 24)
            if state.size == nil, let size = VP8FrameHeader(parsing: frame)?.keyFrameSize {
                state.size = size
                state.file.overwrite(Self.bytes(of: size), at: 12)
            }
        }
    }

    private static func bytes(of size: VideoSize) -> [UInt8] {
        littleEndianBytes(UInt16(clamping: size.width)) + littleEndianBytes(UInt16(clamping: size.height))
    }

    /// Closes the file. Frames that come later are dropped.
    public func close() {
        state.withLock { $0.file.close() }
    }
}
