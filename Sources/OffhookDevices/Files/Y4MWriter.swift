internal import OffhookMedia

/// Writes raw pictures to a Y4M file. It belongs to one thread at a time.
final class Y4MWriter {
    private let file: OutputFile
    private let frameRate: Double
    private let upright = UprightPicture()
    private var size: VideoSize?
    private var piece: [UInt8] = []
    private(set) var frameCount = 0

    var error: DeviceError? { file.error }

    init(path: String, frameRate: Double) throws(DeviceError) {
        file = try OutputFile(creating: path)
        self.frameRate = frameRate
    }

    /// Appends a picture; the first one's size is the file's, and later ones are scaled to it.
    func write(_ frame: VideoFrame) {
        guard let picture = upright.make(of: frame, size: size) else { return }
        piece.removeAll(keepingCapacity: true)
        if size == nil { piece += Self.header(size: picture.size, frameRate: frameRate) }
        piece += Array("FRAME\n".utf8)
        for plane in 0..<3 {
            let (columns, stride) = (picture.rowBytes(ofPlane: plane), picture.stride(ofPlane: plane))
            for row in 0..<picture.rows(ofPlane: plane) {
                piece.append(
                    contentsOf: UnsafeBufferPointer(
                        start: picture.pointer(toPlane: plane) + row * stride, count: columns))
            }
        }
        // The whole picture in one piece, so that the file never ends within one.
        guard file.append(piece) else { return }
        size = picture.size
        frameCount += 1
    }

    func close() {
        file.close()
    }

    private static func header(size: VideoSize, frameRate: Double) -> [UInt8] {
        let rate = frameRate.isFinite && frameRate > 0 ? frameRate : 30
        let fraction =
            rate == rate.rounded() ? "\(Int(min(rate, 1000))):1" : "\(Int((min(rate, 1000) * 1000).rounded())):1000"
        return Array("\(Y4MReader.signature) W\(size.width) H\(size.height) F\(fraction) Ip A1:1 C420jpeg\n".utf8)
    }
}
