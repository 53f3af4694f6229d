internal import CTurboJPEG
internal import CYUV
internal import OffhookMedia

/// Decodes the pictures of a motion JPEG camera.
///
/// Luma is decoded straight into the frame, and chroma too where the camera halves it both ways; where it does not, as
/// most cameras, chroma alone takes a second step. Pictures without Huffman tables are decoded with the standard ones.
///
/// The samples are taken as they are: JPEG's full range of 0 to 255 is not squeezed into video's 16 to 235.
final class JPEGDecoder {
    private let handle: tjhandle
    private var scratch: [UInt8] = []
    /// Samples that were decoded into memory of the decoder's own first, in all.
    private(set) var stagedSamples = 0

    /// Nil where there is no memory.
    init?() {
        guard let handle = tjInitDecompress() else { return nil }
        self.handle = handle
    }

    deinit {
        tjDestroy(handle)
    }

    /// Whether the picture could be decoded whole and has the buffer's size.
    func decode(_ data: UnsafeRawBufferPointer, into buffer: VideoFrameBuffer) -> Bool {
        guard let start = data.baseAddress?.assumingMemoryBound(to: UInt8.self), data.count > 4 else { return false }
        var (width, height, subsampling, colorspace): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        guard tjDecompressHeader3(handle, start, UInt(data.count), &width, &height, &subsampling, &colorspace) == 0,
            Int(width) == buffer.size.width, Int(height) == buffer.size.height,
            subsampling >= 0, subsampling < TJ_NUMSAMP
        else { return false }

        let isDirect = subsampling == TJSAMP_420.rawValue && width % 2 == 0 && height % 2 == 0
        let planes = (0..<3).map { plane -> Plane in
            let columns = Int(tjPlaneWidth(Int32(plane), width, subsampling))
            let rows = Int(tjPlaneHeight(Int32(plane), height, subsampling))
            // Gray pictures have one plane; sizes are below 0 for the planes that are not there.
            return Plane(columns: max(columns, 0), rows: max(rows, 0))
        }
        // Luma that is padded to more than the picture's rows must not run into the chroma plane.
        let isLumaDirect =
            planes[0].rows == buffer.size.height && planes[0].columns <= buffer.stride(ofPlane: 0)
        let lumaScratch = isLumaDirect ? 0 : planes[0].byteCount
        let scratchBytes = isDirect ? 0 : lumaScratch + planes[1].byteCount + planes[2].byteCount
        if scratch.count < scratchBytes { scratch = [UInt8](repeating: 0, count: scratchBytes) }

        return scratch.withUnsafeMutableBufferPointer { scratch in
            var addresses: [UnsafeMutablePointer<UInt8>?] = []
            var strides: [Int32] = []
            var next = scratch.baseAddress
            for plane in 0..<3 {
                if isDirect || (plane == 0 && isLumaDirect) {
                    addresses.append(buffer.pointerForWriting(toPlane: plane))
                    strides.append(Int32(buffer.stride(ofPlane: plane)))
                } else {
                    addresses.append(next)
                    strides.append(Int32(planes[plane].columns))
                    next = next?.advanced(by: planes[plane].byteCount)
                }
            }
            let status = tjDecompressToYUVPlanes(
                handle, start, UInt(data.count), &addresses, width, &strides, height, TJFLAG_FASTDCT)
            guard status == 0 || isHarmless else { return false }
            stagedSamples += scratchBytes
            return isDirect || finish(addresses, strides, planes, isLumaDirect: isLumaDirect, into: buffer)
        }
    }

    private struct Plane {
        let columns: Int
        let rows: Int
        var byteCount: Int { columns * rows }
    }

    /// Some cameras put stray bytes between the parts of every picture, which does it no harm.
    private var isHarmless: Bool {
        guard tjGetErrorCode(handle) == TJERR_WARNING.rawValue, let message = tjGetErrorStr2(handle) else {
            return false
        }
        return String(cString: message).contains("extraneous bytes before marker")
    }

    /// Brings the planes to the frame's layout.
    private func finish(
        _ addresses: [UnsafeMutablePointer<UInt8>?], _ strides: [Int32], _ planes: [Plane], isLumaDirect: Bool,
        into buffer: VideoFrameBuffer
    ) -> Bool {
        if !isLumaDirect, let luma = addresses[0] {
            CopyPlane(
                luma, strides[0], buffer.pointerForWriting(toPlane: 0), Int32(buffer.stride(ofPlane: 0)),
                Int32(buffer.size.width), Int32(buffer.size.height))
        }
        for plane in 1...2 {
            let (target, stride) = (buffer.pointerForWriting(toPlane: plane), Int32(buffer.stride(ofPlane: plane)))
            let (columns, rows) = (Int32(buffer.rowBytes(ofPlane: plane)), Int32(buffer.rows(ofPlane: plane)))
            guard planes[plane].byteCount > 0, let source = addresses[plane] else {
                SetPlane(target, stride, columns, rows, 128)
                continue
            }
            ScalePlane(
                source, strides[plane], Int32(planes[plane].columns), Int32(planes[plane].rows),
                target, stride, columns, rows, kFilterBox)
        }
        return true
    }
}
