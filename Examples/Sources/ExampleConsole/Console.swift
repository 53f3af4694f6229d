internal import Foundation

/// What the examples print and read.
public enum Console {
    /// Prints at once, even into a pipe.
    public static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Does something in a task of its own, and prints what stood in its way.
    @MainActor public static func attempt(_ work: @escaping @MainActor () async throws -> Void) {
        Task {
            do { try await work() } catch { say("\(error)") }
        }
    }

    /// The lines that are typed, until Ctrl-D. To be asked for once.
    public static var lines: AsyncStream<String> {
        AsyncStream { lines in
            // Reading waits, which no thread that others need may do.
            Thread.detachNewThread {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }
}
