import Foundation
import Offhook
import Testing

@testable import SoftphoneKit

@Suite struct `Output that nobody reads` {
    /// A reader that reads nothing until it is told to.
    private final class Reader: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        let pieces = Lock<[String]>([])

        func take(_ piece: String) {
            gate.wait()
            gate.signal()
            pieces.withLock { $0.append(piece) }
        }

        func open() { gate.signal() }
    }

    @Test func `holds nothing up, and is told of in one sentence when the program is asked to end`() async throws {
        let reader = Reader()
        let queue = OutputQueue { reader.take($0) }
        for number in 1...3 { queue.write("\(number)\n") }

        let words = try #require(await queue.finish { .now - .seconds(2) })

        #expect(words.contains("3 lines"))
        #expect(!words.contains("\n"))
        reader.open()
        #expect(await queue.finish { nil } == nil)
        #expect(reader.pieces.withLock { $0 } == ["1\n", "2\n", "3\n"])
    }

    @Test func `is bounded`() async throws {
        let reader = Reader()
        let queue = OutputQueue(bound: 10) { reader.take($0) }
        for _ in 1...5 { queue.write("1234\n") }
        reader.open()

        let words = try #require(await queue.finish { nil })

        #expect(words.contains("3 lines"))
        #expect(reader.pieces.withLock { $0.count } == 2)
    }
}

@Suite struct `Text of others` {
    @Test(
        arguments: [
            ("Jörg 🙂", "Jörg 🙂"), ("\u{1B}[31mred\u{7}", "\\u{1b}[31mred\\u{7}"), ("a\rb", "a\\u{d}b"),
            ("\u{9B}2J", "\\u{9b}2J"), ("a\u{202E}b", "a\\u{202e}b"), ("a\nb", "a\\u{a}b"),
            ("a\r\nb", "a\\u{d}\\u{a}b"),
        ])
    func `cannot steer a terminal`(text: String, shown: String) {
        #expect(Printable.text(text) == shown)
    }

    @Test func `keeps its lines where there may be several`() {
        #expect(Printable.text("a\n\u{1B}b", keepsLines: true) == "a\n\\u{1b}b")
    }

    @Test func `is escaped in events, C1 controls included`() {
        #expect(JSONValue.text("\u{9B}\u{7F}").line == #""\u009b\u007f""#)
    }
}

@Suite struct `A file of lines` {
    private let path = FileManager.default.temporaryDirectory.appending(path: "lines-\(UUID().uuidString)").path

    @Test func `belongs to one writer, and what was there stays until it does`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = try LineFile(path: path)
        first.write("one")

        #expect(throws: FileFailure.self) { try LineFile(path: path) }
        first.close()

        #expect(try InputText.read(path, limit: 100) == "one\n")
        let second = try LineFile(path: path)
        #expect(try InputText.read(path, limit: 100).isEmpty)
        second.close()
    }

    @Test func `tells in a sentence that the disk is full`() throws {
        let file = try LineFile(path: "/dev/full")
        file.write("one")
        file.write("two")

        #expect(file.error == "/dev/full cannot be written: No space left on device.")
    }
}
