internal import Glibc

/// A file being read.
final class InputFile {
    let path: String
    private let descriptor: Int32
    /// Where the next bytes are read.
    var position = 0

    init(opening path: String) throws(DeviceError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DeviceError(opening: path, number: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Bytes in the file now.
    var length: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Fills the memory from the file; false where the file ends before.
    func read(into memory: UnsafeMutableRawBufferPointer) -> Bool {
        var done = 0
        while done < memory.count {
            let count = pread(descriptor, memory.baseAddress?.advanced(by: done), memory.count - done, position + done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        position += done
        return true
    }

    /// The next bytes; nil where the file ends before.
    func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { read(into: $0) } ? bytes : nil
    }

    /// As many of the next bytes as there are, up to a number.
    func readUpTo(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, position) }
        bytes.removeLast(count - max(got, 0))
        position += bytes.count
        return bytes
    }

    /// The next bytes up to a line's end, which is passed over; nil where it does not come within `limit` bytes.
    func readLine(limit: Int = 512) -> String? {
        let start = position
        let bytes = readUpTo(limit)
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            position = start
            return nil
        }
        position = start + end + 1
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}
