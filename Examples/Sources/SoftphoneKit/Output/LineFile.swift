import Foundation
import Offhook

/// A text file that grows line by line and is whole after each.
///
/// May be used on any thread.
final class LineFile: Sendable {
    let path: String
    private let descriptor: Lock<Int32>
    private let failure = Lock<String?>(nil)

    /// Creates the file anew, for this program alone.
    init(path: String) throws(FileFailure) {
        self.path = path
        // Emptied only when it is ours: another program may be writing it.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw FileFailure("\(path) cannot be created: \(FileFailure.reason)") }
        self.descriptor = Lock(descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            Glibc.close(descriptor)
            throw FileFailure("\(path) is being written by another program; choose another name")
        }
        guard ftruncate(descriptor, 0) == 0 else {
            let reason = FileFailure.reason
            Glibc.close(descriptor)
            throw FileFailure("\(path) cannot be created: \(reason)")
        }
    }

    deinit {
        close()
    }

    /// The first trouble with writing, if there was any.
    var error: String? { failure.withLock { $0 } }

    func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        descriptor.withLock { descriptor in
            var done = 0
            while descriptor >= 0, done < bytes.count {
                let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    failure.withLock { $0 = "\(path) cannot be written: \(FileFailure.reason)" }
                    Glibc.close(descriptor)
                    descriptor = -1
                    return
                }
                done += count
            }
        }
    }

    func close() {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            Glibc.close(descriptor)
            descriptor = -1
        }
    }
}

/// A file that cannot be used, in one sentence.
struct FileFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Why the last call of the system failed.
    static var reason: String { String(cString: strerror(errno)) + "." }
}

/// A file that a person names, read whole.
enum InputText {
    /// The text of a file of at most so many bytes.
    static func read(_ path: String, limit: Int) throws(FileFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure("\(path) cannot be read: \(FileFailure.reason)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFailure("\(path) cannot be read: \(FileFailure.reason)") }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
            guard bytes.count <= limit else {
                throw FileFailure("\(path) is too long; give a file of at most \(limit >> 10) KiB")
            }
        }
    }
}
