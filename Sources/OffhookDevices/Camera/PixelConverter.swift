internal import CYUV
package import OffhookMedia

/// Turns what a camera's driver delivers into I420, in one pass from the driver's memory to the frame's.
///
/// I420 is what encoder and scaler want, so that no second conversion follows.
package final class PixelConverter {
    /// How the driver lays out a picture.
    package struct Layout: Hashable {
        package var pixelFormat: CameraPixelFormat
        package var size: VideoSize
        /// Bytes from row to row for each of the driver's memory planes; 0 or nothing where the driver does not say. A
        /// plane that holds luma and chroma has the luma's here.
        package var strides: [Int] = []

        package init(pixelFormat: CameraPixelFormat, size: VideoSize, strides: [Int] = []) {
            (self.pixelFormat, self.size, self.strides) = (pixelFormat, size, strides)
        }
    }

    private enum Kind {
        case packed422(isUYVY: Bool)
        case semiPlanar(isVU: Bool, isSplit: Bool)
        case planar(isVU: Bool, isSplit: Bool)
        case rgb(isBGR: Bool)
        case jpeg(JPEGDecoder)
    }

    /// The formats that can be converted, those that take the least work first.
    static let pixelFormats: [CameraPixelFormat] = [
        .nv12, .nv12Split, .yu12, .yu12Split, .yv12, .yv12Split, .nv21, .nv21Split, .yuyv, .uyvy, .rgb24, .bgr24,
        .mjpeg,
        .jpeg,
    ]

    package let layout: Layout
    private let kind: Kind

    /// Nil for a format that cannot be converted.
    package init?(_ layout: Layout) {
        guard layout.size.width > 0, layout.size.height > 0, layout.size.width <= 16384, layout.size.height <= 16384
        else { return nil }
        self.layout = layout
        switch layout.pixelFormat {
        case .yuyv: kind = .packed422(isUYVY: false)
        case .uyvy: kind = .packed422(isUYVY: true)
        case .nv12: kind = .semiPlanar(isVU: false, isSplit: false)
        case .nv21: kind = .semiPlanar(isVU: true, isSplit: false)
        case .nv12Split: kind = .semiPlanar(isVU: false, isSplit: true)
        case .nv21Split: kind = .semiPlanar(isVU: true, isSplit: true)
        case .yu12: kind = .planar(isVU: false, isSplit: false)
        case .yv12: kind = .planar(isVU: true, isSplit: false)
        case .yu12Split: kind = .planar(isVU: false, isSplit: true)
        case .yv12Split: kind = .planar(isVU: true, isSplit: true)
        case .rgb24: kind = .rgb(isBGR: false)
        case .bgr24: kind = .rgb(isBGR: true)
        case .mjpeg, .jpeg:
            guard let decoder = JPEGDecoder() else { return nil }
            kind = .jpeg(decoder)
        default: return nil
        }
    }

    /// Samples that made a stop between the driver's memory and the frame's, in all.
    package var stagedSamples: Int {
        if case .jpeg(let decoder) = kind { decoder.stagedSamples } else { 0 }
    }

    /// Fills an I420 buffer of the layout's size; false where the data are too short or damaged.
    package func convert(_ planes: [UnsafeRawBufferPointer], into buffer: VideoFrameBuffer) -> Bool {
        guard buffer.size == layout.size, buffer.pixelFormat == .i420 else { return false }
        switch kind {
        case .packed422(let isUYVY):
            let pairs = (layout.size.width + 1) / 2
            guard let source = plane(planes, 0, columns: pairs * 4, rows: layout.size.height) else { return false }
            return convert(buffer) { width, height in
                (isUYVY ? UYVYToI420 : YUY2ToI420)(
                    source.address, source.stride, buffer.pointerForWriting(toPlane: 0), buffer.stride(0),
                    buffer.pointerForWriting(toPlane: 1), buffer.stride(1), buffer.pointerForWriting(toPlane: 2),
                    buffer.stride(2), width,
                    height)
            }
        case .rgb(let isBGR):
            guard let source = plane(planes, 0, columns: layout.size.width * 3, rows: layout.size.height)
            else { return false }
            // The library names formats by the order in a word, so that its RAW is R, G, B in memory.
            return convert(buffer) { width, height in
                (isBGR ? RGB24ToI420 : RAWToI420)(
                    source.address, source.stride, buffer.pointerForWriting(toPlane: 0), buffer.stride(0),
                    buffer.pointerForWriting(toPlane: 1), buffer.stride(1), buffer.pointerForWriting(toPlane: 2),
                    buffer.stride(2), width,
                    height)
            }
        case .semiPlanar(let isVU, let isSplit):
            return convertSemiPlanar(planes, isVU: isVU, isSplit: isSplit, into: buffer)
        case .planar(let isVU, let isSplit):
            return convertPlanar(planes, isVU: isVU, isSplit: isSplit, into: buffer)
        case .jpeg(let decoder):
            guard let data = planes.first else { return false }
            return decoder.decode(data, into: buffer)
        }
    }

    private struct Source {
        let address: UnsafePointer<UInt8>
        let stride: Int32
    }

    /// Rows in one of the driver's planes; nil where it is too short for them.
    private func plane(
        _ planes: [UnsafeRawBufferPointer], _ index: Int, columns: Int, rows: Int, offset: Int = 0, stride: Int? = nil
    ) -> Source? {
        guard index < planes.count else { return nil }
        let told = stride ?? (index < layout.strides.count ? layout.strides[index] : 0)
        let stride = told > 0 ? told : columns
        // The last row need not be padded.
        guard stride >= columns, stride <= 1 << 20, rows > 0,
            offset + stride * (rows - 1) + columns <= planes[index].count,
            let address = planes[index].baseAddress
        else { return nil }
        return Source(address: (address + offset).assumingMemoryBound(to: UInt8.self), stride: Int32(stride))
    }

    private func convert(_ buffer: VideoFrameBuffer, _ body: (_ width: Int32, _ height: Int32) -> Int32) -> Bool {
        body(Int32(buffer.size.width), Int32(buffer.size.height)) == 0
    }

    private func convertSemiPlanar(
        _ planes: [UnsafeRawBufferPointer], isVU: Bool, isSplit: Bool, into buffer: VideoFrameBuffer
    ) -> Bool {
        let (width, height) = (layout.size.width, layout.size.height)
        let (chromaColumns, chromaRows) = ((width + 1) / 2 * 2, (height + 1) / 2)
        guard let luma = plane(planes, 0, columns: width, rows: height) else { return false }
        // In one memory plane chroma has the luma's stride, which for an odd width must hold a whole pair more.
        let shared = max(Int(luma.stride), chromaColumns)
        let chroma =
            isSplit
            ? plane(planes, 1, columns: chromaColumns, rows: chromaRows)
            : plane(
                planes, 0, columns: chromaColumns, rows: chromaRows, offset: Int(luma.stride) * height, stride: shared)
        guard let chroma else { return false }
        return convert(buffer) { width, height in
            (isVU ? NV21ToI420 : NV12ToI420)(
                luma.address, luma.stride, chroma.address, chroma.stride, buffer.pointerForWriting(toPlane: 0),
                buffer.stride(0),
                buffer.pointerForWriting(toPlane: 1), buffer.stride(1), buffer.pointerForWriting(toPlane: 2),
                buffer.stride(2), width,
                height)
        }
    }

    private func convertPlanar(
        _ planes: [UnsafeRawBufferPointer], isVU: Bool, isSplit: Bool, into buffer: VideoFrameBuffer
    ) -> Bool {
        let (width, height) = (layout.size.width, layout.size.height)
        let (chromaColumns, chromaRows) = ((width + 1) / 2, (height + 1) / 2)
        guard let luma = plane(planes, 0, columns: width, rows: height) else { return false }
        let first: Source?
        let second: Source?
        if isSplit {
            first = plane(planes, 1, columns: chromaColumns, rows: chromaRows)
            second = plane(planes, 2, columns: chromaColumns, rows: chromaRows)
        } else {
            // V4L2: chroma rows have half the luma's stride, padding included.
            let stride = max(Int(luma.stride) / 2, chromaColumns)
            let start = Int(luma.stride) * height
            first = plane(planes, 0, columns: chromaColumns, rows: chromaRows, offset: start, stride: stride)
            second = plane(
                planes, 0, columns: chromaColumns, rows: chromaRows, offset: start + stride * chromaRows, stride: stride
            )
        }
        guard let first, let second else { return false }
        let (u, v) = isVU ? (second, first) : (first, second)
        return convert(buffer) { width, height in
            I420Copy(
                luma.address, luma.stride, u.address, u.stride, v.address, v.stride,
                buffer.pointerForWriting(toPlane: 0),
                buffer.stride(0), buffer.pointerForWriting(toPlane: 1), buffer.stride(1),
                buffer.pointerForWriting(toPlane: 2),
                buffer.stride(2), width, height)
        }
    }
}

extension VideoFrameBuffer {
    /// A stride as C takes it.
    func stride(_ plane: Int) -> Int32 { Int32(stride(ofPlane: plane)) }
}

extension CameraPixelFormat {
    /// Packed 4:2:2 as Y, U, Y, V.
    public static let yuyv = CameraPixelFormat("YUYV")
    /// Packed 4:2:2 as U, Y, V, Y.
    public static let uyvy = CameraPixelFormat("UYVY")
    /// 4:2:0 with U and V in turn.
    public static let nv12 = CameraPixelFormat("NV12")
    /// 4:2:0 with V and U in turn.
    public static let nv21 = CameraPixelFormat("NV21")
    /// As ``nv12``, with luma and chroma in memory of their own.
    public static let nv12Split = CameraPixelFormat("NM12")
    /// As ``nv21``, with luma and chroma in memory of their own.
    public static let nv21Split = CameraPixelFormat("NM21")
    /// 4:2:0 in planes Y, U, V.
    public static let yu12 = CameraPixelFormat("YU12")
    /// 4:2:0 in planes Y, V, U.
    public static let yv12 = CameraPixelFormat("YV12")
    /// As ``yu12``, with each plane in memory of its own.
    public static let yu12Split = CameraPixelFormat("YM12")
    /// As ``yv12``, with each plane in memory of its own.
    public static let yv12Split = CameraPixelFormat("YM21")
    /// Packed R, G, B.
    public static let rgb24 = CameraPixelFormat("RGB3")
    /// Packed B, G, R.
    public static let bgr24 = CameraPixelFormat("BGR3")
    /// A JPEG picture for each frame, often without Huffman tables.
    public static let mjpeg = CameraPixelFormat("MJPG")
    /// A JPEG picture for each frame.
    public static let jpeg = CameraPixelFormat("JPEG")
}
