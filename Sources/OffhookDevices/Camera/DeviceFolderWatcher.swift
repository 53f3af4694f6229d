internal import CV4L2
internal import Glibc

/// Watches `/dev` for video nodes that come, go or change their rights.
final class DeviceFolderWatcher {
    /// Readable when there is news; -1 where the system has no watch left, and then nothing is ever told.
    let descriptor: Int32

    init() {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return }
        _ = inotify_add_watch(descriptor, "/dev", UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_ATTRIB))
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Takes the news there is; whether any of it is of a video node.
    func hasVideoNews() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 8192)
        var isVideo = false
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return isVideo }
            bytes.withUnsafeBytes { bytes in
                let headerSize = MemoryLayout<inotify_event>.size
                var offset = 0
                while offset + headerSize <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let name = bytes[(offset + headerSize)..<min(offset + headerSize + Int(event.len), count)]
                    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 || name.starts(with: Array("video".utf8)) {
                        isVideo = true
                    }
                    offset += headerSize + Int(event.len)
                }
            }
        }
    }
}
