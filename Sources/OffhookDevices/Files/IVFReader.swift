internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookMedia

/// Reads and decodes VP8 from an IVF file.
final class IVFReader: PictureReader {
    static let signature = "DKIF"
    private static let largestFrame = 1 << 24

    let size: VideoSize
    let frameRate: Double
    private let file: InputFile
    private let frames: [(offset: Int, count: Int)]
    private var index = 0
    private var decoder = VP8Decoder()

    init(_ file: InputFile) throws(DeviceError) {
        self.file = file
        file.position = 0
        guard let header = file.read(32), header.starts(with: Array(Self.signature.utf8)) else {
            throw DeviceError(.notUnderstood, "\(file.path) is no IVF file.")
        }
        guard header[8..<12].elementsEqual("VP80".utf8) else {
            let codec = String(decoding: header[8..<12], as: UTF8.self)
            throw DeviceError(
                .notUnderstood, "\(file.path) is coded as \(codec): convert it to VP8, which can be sent.")
        }
        file.position = max(Int(header.littleEndian(at: 6, as: UInt16.self)), 32)
        var frames: [(offset: Int, count: Int)] = []
        var times: [UInt64] = []
        while let head = file.read(12) {
            let count = Int(head.littleEndian(at: 0, as: UInt32.self))
            // A file cut short ends with a frame that is not whole.
            guard count <= Self.largestFrame, Self.isWhole(file, count) else { break }
            frames.append((file.position, count))
            times.append(head.littleEndian(at: 4))
            file.position += count
        }
        guard let first = frames.first else {
            throw DeviceError(.notUnderstood, "\(file.path) holds no whole picture.")
        }
        self.frames = frames
        file.position = first.offset
        let key = file.read(first.count).flatMap { VP8FrameHeader(parsing: $0.span.bytes) }
        guard let size = key?.keyFrameSize else {
            throw DeviceError(.notUnderstood, "\(file.path) does not start with a key frame.")
        }
        self.size = size
        frameRate = Self.frameRate(times, header: header)
    }

    private static func isWhole(_ file: InputFile, _ count: Int) -> Bool {
        guard count > 0 else { return true }
        let start = file.position
        defer { file.position = start }
        file.position = start + count - 1
        return file.read(1) != nil
    }

    private static func frameRate(_ times: [UInt64], header: [UInt8]) -> Double {
        let ticks = Double(header.littleEndian(at: 16, as: UInt32.self))
        let scale = Double(header.littleEndian(at: 20, as: UInt32.self))
        guard let first = times.first, let last = times.last, last > first, ticks > 0, scale > 0 else { return 30 }
        return min(max(Double(times.count - 1) * ticks / (scale * Double(last - first)), 1), 240)
    }

    func next(captureTime: Instant) -> VideoFrame? {
        if index == frames.count {
            index = 0
            decoder = VP8Decoder()
        }
        let frame = frames[index]
        index += 1
        file.position = frame.offset
        guard frame.count > 0, let bytes = file.read(frame.count) else { return nil }
        // A frame that cannot be decoded is passed over, as in a call.
        return try? decoder.decode(bytes.span.bytes, captureTime: captureTime)
    }
}
