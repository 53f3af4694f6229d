internal import Glibc

/// A file being written, of which no half-written piece ever remains.
///
/// What is no regular file, such as a pipe or a device, gets the bytes as they come; what would be changed later is not.
final class OutputFile {
    let path: String
    private var descriptor: Int32
    /// Whether it is a file that keeps what is written.
    private var isRegular = false
    /// Bytes in the file.
    private(set) var length = 0
    /// The first trouble; nothing is written after it.
    private(set) var error: DeviceError?

    init(creating path: String) throws(DeviceError) {
        self.path = path
        // Emptied only when it is ours: another program may be writing it.
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw DeviceError(creating: path, number: errno) }
        var status = stat()
        isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        guard isRegular else { return }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close()
            throw DeviceError(.cannotOpen, "\(path) is being written already: choose another name.")
        }
        guard ftruncate(descriptor, 0) == 0 else {
            let number = errno
            close()
            throw DeviceError(creating: path, number: number)
        }
    }

    deinit {
        close()
    }

    /// Appends the bytes whole, or not at all.
    @discardableResult
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard descriptor >= 0, error == nil else { return false }
        guard write(bytes, at: length) else {
            // What was written of the piece goes again, so that the file ends with a whole one.
            if isRegular { _ = ftruncate(descriptor, length) }
            return false
        }
        length += bytes.count
        return true
    }

    @discardableResult
    func append(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Changes bytes that are in the file already.
    func overwrite(_ bytes: [UInt8], at offset: Int) {
        guard descriptor >= 0, error == nil, isRegular, offset + bytes.count <= length else { return }
        bytes.withUnsafeBytes { _ = write($0, at: offset) }
    }

    func close() {
        guard descriptor >= 0 else { return }
        if Glibc.close(descriptor) != 0, error == nil { error = DeviceError(writing: path, number: errno) }
        descriptor = -1
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        var done = 0
        while done < bytes.count {
            let (start, rest) = (bytes.baseAddress?.advanced(by: done), bytes.count - done)
            let count =
                isRegular
                ? pwrite(descriptor, start, rest, offset + done)
                : withoutPipeSignal { Glibc.write(descriptor, start, rest) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                error = DeviceError(writing: path, number: count < 0 ? errno : ENOSPC)
                return false
            }
            done += count
        }
        return true
    }
}

/// Does what writes to a pipe. One that nobody reads any more is an error and does not end the process.
private func withoutPipeSignal(_ body: () -> Int) -> Int {
    var (signals, before, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    sigpending(&pending)
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    let count = body()
    let number = errno
    if count < 0, number == EPIPE, sigismember(&pending, SIGPIPE) == 0 {
        // It waits for this thread alone, and is taken away before it is let through.
        var now = timespec()
        while sigtimedwait(&signals, nil, &now) < 0, errno == EINTR {}
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = number
    return count
}

extension DeviceError {
    init(opening path: String, number: Int32) {
        self.init(.cannotOpen, "\(path) cannot be opened: \(String(cString: strerror(number))).")
    }

    init(creating path: String, number: Int32) {
        let code: Code = number == ENOSPC || number == EDQUOT ? .diskFull : .cannotOpen
        self.init(code, "\(path) cannot be created: \(String(cString: strerror(number))).")
    }

    init(writing path: String, number: Int32) {
        if number == ENOSPC || number == EDQUOT || number == EFBIG {
            self.init(.diskFull, "\(path) cannot grow any more, as the disk is full: what was written before is kept.")
        } else {
            self.init(
                .cannotWrite,
                "\(path) cannot be written (\(String(cString: strerror(number)))): what was written before is kept.")
        }
    }
}
