internal import CYUV
internal import OffhookCodecs
internal import OffhookMedia

/// Makes pictures for the encoder of a screen's pixels. It belongs to one thread at a time.
final class ScreenConverter {
    private let pool = VideoFramePool()
    private var canvas: [UInt8] = []
    private var scaled: [UInt8] = []

    /// Converts a picture, with the pointer in it, no larger than asked for.
    ///
    /// - Parameter origin: where the picture's top left corner is on the screen.
    func convert(
        _ picture: XPicture, pointer: XPointer.Image?, origin: (x: Int, y: Int), within limit: VideoSize?
    ) -> VideoFrameBuffer {
        let size = Self.size(of: picture.size, within: limit)
        let target = pool.takeBuffer(size: size)
        if picture.format == .bgrx, pointer == nil, size == picture.size {
            Self.convert(picture.pixels, stride: picture.stride, into: target)
            return target
        }
        // The pixels as they came are kept for comparison, so the pointer goes into a copy.
        let stride = picture.size.width * 4
        Self.resize(&canvas, to: stride * picture.size.height)
        canvas.withUnsafeMutableBufferPointer { canvas in
            guard let canvas = canvas.baseAddress else { return }
            copy(picture, to: canvas, stride: stride)
            pointer?.draw(into: canvas, stride: stride, size: picture.size, at: origin)
            guard size != picture.size else { return Self.convert(canvas, stride: stride, into: target) }
            Self.resize(&scaled, to: size.width * 4 * size.height)
            scaled.withUnsafeMutableBufferPointer { scaled in
                guard let scaled = scaled.baseAddress else { return }
                ARGBScale(
                    canvas, Int32(stride), Int32(picture.size.width), Int32(picture.size.height), scaled,
                    Int32(size.width * 4), Int32(size.width), Int32(size.height), kFilterBox)
                Self.convert(scaled, stride: size.width * 4, into: target)
            }
        }
        return target
    }

    /// The largest size of the same aspect within the limit.
    static func size(of size: VideoSize, within limit: VideoSize?) -> VideoSize {
        guard let limit, limit.width > 0, limit.height > 0, size.width > limit.width || size.height > limit.height
        else {
            return size
        }
        let scale = min(Double(limit.width) / Double(size.width), Double(limit.height) / Double(size.height))
        return VideoSize(
            width: max(Int((Double(size.width) * scale).rounded()), 1),
            height: max(Int((Double(size.height) * scale).rounded()), 1))
    }

    private func copy(_ picture: XPicture, to canvas: UnsafeMutablePointer<UInt8>, stride: Int) {
        let (width, height) = (Int32(picture.size.width), Int32(picture.size.height))
        switch picture.format {
        case .bgrx: ARGBCopy(picture.pixels, Int32(picture.stride), canvas, Int32(stride), width, height)
        case .rgb565: RGB565ToARGB(picture.pixels, Int32(picture.stride), canvas, Int32(stride), width, height)
        }
    }

    private static func convert(_ pixels: UnsafePointer<UInt8>, stride: Int, into target: VideoFrameBuffer) {
        // The library's ARGB is B, G, R, A in memory.
        ARGBToI420(
            pixels, Int32(stride), target.pointerForWriting(toPlane: 0), Int32(target.stride(ofPlane: 0)),
            target.pointerForWriting(toPlane: 1), Int32(target.stride(ofPlane: 1)),
            target.pointerForWriting(toPlane: 2),
            Int32(target.stride(ofPlane: 2)), Int32(target.size.width), Int32(target.size.height))
    }

    private static func resize(_ bytes: inout [UInt8], to count: Int) {
        if bytes.count != count { bytes = [UInt8](repeating: 0, count: count) }
    }
}
