import Foundation
import Offhook

/// A text file that grows line by line and is whole after each.
///
/// May be used on any thread.
final class LineFile: Sendable {
    let path: String
    private let handle: Lock<FileHandle?>
    private let failure = Lock<String?>(nil)

    init(path: String) throws(FileFailure) {
        self.path = path
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw FileFailure("\(path) cannot be created: \(String(cString: strerror(errno))).") }
        handle = Lock(file)
    }

    /// The first trouble with writing, if there was any.
    var error: String? { failure.withLock { $0 } }

    func write(_ line: String) {
        handle.withLock { handle in
            guard let file = handle else { return }
            do {
                try file.write(contentsOf: Data((line + "\n").utf8))
            } catch {
                failure.withLock { $0 = "\(path) cannot be written: \(error.localizedDescription)" }
                handle = nil
            }
        }
    }

    func close() {
        handle.withLock { handle in
            try? handle?.close()
            handle = nil
        }
    }
}

/// A file that cannot be used, in one sentence.
struct FileFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
