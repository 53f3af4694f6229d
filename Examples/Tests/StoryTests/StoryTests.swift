import Foundation
import Testing

/// Each example does what its README says, with `offhook` at the other end.
@Suite(.serialized, .timeLimit(.minutes(3))) struct `Examples` {
    private func call(_ port: Int, _ arguments: [String]) throws -> Program {
        try Program(
            "offhook",
            ["call", "sip:127.0.0.1:\(port)", "--bind", "127.0.0.1:25099", "--camera", "pattern:320x180@15"] + arguments
        )
    }

    @Test func `a port that is taken is told with the option to choose another`() async throws {
        let arguments = ["answer", "--bind", "127.0.0.1:25095"]
        let first = try Program("offhook", arguments)
        _ = try #require(await first.line(with: "Waiting for calls"))
        let second = try Program("offhook", arguments)

        #expect(await second.line(with: "as in --bind :5070") != nil)
        #expect(await second.end() == 4)
    }

    @Test func `the answering machine records a message`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "offhook-messages-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let machine = try Program("answering-machine", [folder.path, "25081"])
        _ = try #require(await machine.line(with: "Waiting for calls"))
        let caller = try call(25081, ["--video", "sendrecv", "--duration", "4"])

        #expect(await machine.line(with: " calls.") != nil)
        #expect(await machine.line(with: "Recording \(folder.path)/message-1.webm.") != nil)
        #expect(await machine.line(with: "message-1.webm: ") != nil)
        #expect(await caller.end() == 0)
        #expect(await machine.end() == 0)
        let message = try Data(contentsOf: folder.appending(path: "message-1.webm"))
        #expect(message.prefix(4) == Data([0x1A, 0x45, 0xDF, 0xA3]))
        #expect(message.count > 20_000)
        #expect(message.range(of: Data("V_VP8".utf8)) != nil)
        #expect(message.range(of: Data("A_OPUS".utf8)) != nil)
    }

    @Test func `the door station opens the door by the right keys alone`() async throws {
        let resident = try Program(
            "offhook",
            [
                "answer", "--bind", "127.0.0.1:25082", "--video", "recvonly", "--calls", "1", "--duration", "6", "--do",
                "1:dtmf=99#,3:dtmf=12#",
            ])
        _ = try #require(await resident.line(with: "Waiting for calls"))
        let door = try Program("door-station", ["sip:127.0.0.1:25082", "12#", "25083"])
        _ = try #require(await door.line(with: "Enter rings"))
        door.type("")

        #expect(await door.line(with: "The bell rings at sip:127.0.0.1:25082.") != nil)
        #expect(await door.line(with: "answers.") != nil)
        #expect(await door.line(with: "The resident sees the door.") != nil)
        #expect(await resident.line(with: "receiveOnly") != nil)
        #expect(await door.line(with: "The door is open.") != nil)
        #expect(await door.line(with: "The call is over") != nil)
        #expect(await resident.end() == 0)
        #expect(await door.end() == 0)
    }

    @Test func `the custom sink sees that the pattern moves`() async throws {
        let watcher = try Program("custom-sink", ["25084"])
        _ = try #require(await watcher.line(with: "Waiting for calls"))
        let caller = try call(25084, ["--video", "sendonly", "--duration", "4"])

        #expect(await watcher.line(with: "Watching ") != nil)
        let end = try #require(await watcher.line(with: "something moved in"))
        let numbers = end.split { !$0.isNumber }.compactMap { Int($0) }
        #expect(numbers.count == 2)
        #expect(numbers[0] > 5)
        #expect(numbers[1] * 10 >= numbers[0] * 5)
        #expect(await caller.end() == 0)
        #expect(await watcher.end() == 0)
    }

    @Test func `the test pattern comes back in order`() async throws {
        let pattern = try Program("test-pattern", ["3"])

        #expect(await pattern.line(with: "ms after it was drawn.") != nil)
        #expect(await pattern.line(with: " 0 out of order.") != nil)
        #expect(await pattern.end() == 0)
    }
}
