internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookMedia

/// Reads raw 4:2:0 pictures from a Y4M file.
final class Y4MReader: PictureReader {
    static let signature = "YUV4MPEG2"

    let size: VideoSize
    let frameRate: Double
    private let file: InputFile
    private let start: Int
    private let pool = VideoFramePool()

    init(_ file: InputFile) throws(DeviceError) {
        self.file = file
        file.position = 0
        guard let header = file.readLine(), header.hasPrefix(Self.signature) else {
            throw DeviceError(.notUnderstood, "\(file.path) is no Y4M file.")
        }
        var size = VideoSize(width: 0, height: 0)
        var rate = 30.0
        for field in header.split(separator: " ").dropFirst() {
            let value = field.dropFirst()
            switch field.first {
            case "W": size.width = Int(value) ?? 0
            case "H": size.height = Int(value) ?? 0
            case "F":
                let parts = value.split(separator: ":").compactMap { Double($0) }
                if parts.count == 2, parts[0] > 0, parts[1] > 0 { rate = parts[0] / parts[1] }
            case "C":
                guard ["420", "420jpeg", "420mpeg2", "420paldv"].contains(value) else {
                    throw DeviceError(
                        .notUnderstood,
                        "\(file.path) has pixels of kind \(value): convert it to yuv420p, which can be sent.")
                }
            default: break
            }
        }
        guard (2...16384).contains(size.width), (2...16384).contains(size.height) else {
            throw DeviceError(.notUnderstood, "\(file.path) does not tell a usable picture size.")
        }
        self.size = size
        frameRate = min(max(rate, 0.1), 240)
        start = file.position
        guard next(captureTime: .zero) != nil else {
            throw DeviceError(.notUnderstood, "\(file.path) holds no whole picture.")
        }
        file.position = start
    }

    func next(captureTime: Instant) -> VideoFrame? {
        guard let buffer = readPicture() else {
            // The end of the file: once more from the start.
            file.position = start
            return readPicture().map { VideoFrame(buffer: $0, captureTime: captureTime) }
        }
        return VideoFrame(buffer: buffer, captureTime: captureTime)
    }

    private func readPicture() -> VideoFrameBuffer? {
        guard let line = file.readLine(limit: 128), line.hasPrefix("FRAME") else { return nil }
        let buffer = pool.takeBuffer(size: size)
        for plane in 0..<3 {
            let (columns, stride) = (buffer.rowBytes(ofPlane: plane), buffer.stride(ofPlane: plane))
            for row in 0..<buffer.rows(ofPlane: plane) {
                let line = UnsafeMutableRawBufferPointer(
                    start: buffer.pointerForWriting(toPlane: plane) + row * stride, count: columns)
                guard file.read(into: line) else { return nil }
            }
        }
        return buffer
    }
}
