import Foundation

/// An example that runs beside the test; its lines are read as they come.
final class Program {
    private let process = Process()
    private let input = Pipe()
    private let lines: AsyncStream<String>

    init(_ name: String, _ arguments: [String]) throws {
        let output = Pipe()
        process.executableURL = Self.folder.appending(path: name)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        process.standardInput = input
        let (lines, feed) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        try process.run()
        let file = output.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let more = file.availableData
                guard !more.isEmpty else { break }
                rest += more
                while let end = rest.firstIndex(of: 10) {
                    feed.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            feed.finish()
        }
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    /// Where the test bundle and the programs lie.
    private static var folder: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(filePath: bundle).deletingLastPathComponent()
    }

    /// The next line with these words in it, after some without; nil where the program ends before.
    func line(with words: String) async -> String? {
        for await line in lines where line.contains(words) { return line }
        return nil
    }

    func type(_ text: String) {
        input.fileHandleForWriting.write(Data((text + "\n").utf8))
    }

    /// Closes what it reads from, and returns its exit status.
    func end() async -> Int32 {
        try? input.fileHandleForWriting.close()
        for await _ in lines {}
        // Where the test's time is over, the program may not be.
        if Task.isCancelled { process.terminate() }
        process.waitUntilExit()
        return process.terminationStatus
    }
}
