internal import CPNG
internal import CYUV
internal import Glibc
internal import OffhookMedia

/// Writes a picture to a PNG file, in place of the one before. It belongs to one thread at a time.
///
/// What is there and no regular file, such as a pipe or a device, stays what it is and gets one picture after the other.
final class PNGWriter {
    private let path: String
    /// What is no regular file.
    private let stream: OutputFile?
    private let upright = UprightPicture()
    private var pixels: [UInt8] = []
    private(set) var error: DeviceError?
    private(set) var pictureCount = 0

    init(path: String) throws(DeviceError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            self.path = path
            stream = try OutputFile(creating: path)
            return
        }
        stream = nil
        // The file that a link leads to is renewed, and not the link.
        let target = realpath(path, nil)
        defer { free(target) }
        self.path = target.map { String(cString: $0) } ?? path
        // Whether the folder may be written is better known now than after the call.
        let trial = try OutputFile(creating: self.path + ".part")
        trial.close()
        unlink(self.path + ".part")
    }

    /// Ends a stream, whose reader waits for that.
    func close() { stream?.close() }

    func write(_ frame: VideoFrame) {
        guard error == nil, let picture = upright.make(of: frame) else { return }
        let (width, height) = (picture.size.width, picture.size.height)
        let needed = width * height * 3
        if pixels.count != needed { pixels = [UInt8](repeating: 0, count: needed) }
        let status = pixels.withUnsafeMutableBufferPointer { pixels in
            // The library's RAW is R, G, B in memory.
            I420ToRAW(
                picture.pointer(toPlane: 0), picture.stride(0), picture.pointer(toPlane: 1), picture.stride(1),
                picture.pointer(toPlane: 2), picture.stride(2), pixels.baseAddress, Int32(width * 3), Int32(width),
                Int32(height))
        }
        guard status == 0 else { return }
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        image.width = UInt32(width)
        image.height = UInt32(height)
        image.format = UInt32(PNG_FORMAT_FLAG_COLOR)
        image.flags = UInt32(PNG_IMAGE_FLAG_FAST)
        if let stream {
            append(&image, to: stream)
            return
        }
        // Renaming puts the picture in its place whole.
        errno = 0
        let isWritten = png_image_write_to_file(&image, path + ".part", 0, pixels, Int32(width * 3), nil) != 0
        guard isWritten, rename(path + ".part", path) == 0 else {
            error = DeviceError(writing: path, number: errno == 0 ? EIO : errno)
            unlink(path + ".part")
            return
        }
        pictureCount += 1
    }

    private func append(_ image: inout png_image, to stream: OutputFile) {
        // More than what cannot be compressed takes, with the frames around its blocks.
        var bytes = [UInt8](repeating: 0, count: pixels.count + pixels.count / 64 + Int(image.height) + 4096)
        var count = png_alloc_size_t(bytes.count)
        let isCoded =
            png_image_write_to_memory(&image, &bytes, &count, 0, pixels, Int32(image.width * 3), nil) != 0
        if isCoded { stream.append(Array(bytes.prefix(count))) }
        error = stream.error ?? (isCoded ? nil : DeviceError(writing: path, number: EIO))
        if error == nil { pictureCount += 1 }
    }
}
