@testable import Offhook
import OffhookBasics
import Testing

@Suite struct `Command queue` {
    @Test func `a command that negotiates keeps the next waiting until it is done`() async throws {
        let queue = CommandQueue()
        let log = Lock<[String]>([])
        try await queue.turn(.negotiating)

        let second = Task {
            try await queue.turn(.negotiating)
            log.withLock { $0.append("second") }
            queue.finish(.negotiating)
        }
        while queue.waitingCount < 1 { await Task.yield() }
        let third = Task {
            try await queue.turn(.handingOn)
            log.withLock { $0.append("third") }
        }
        while queue.waitingCount < 2 { await Task.yield() }
        log.withLock { $0.append("first") }
        queue.finish(.negotiating)
        try await second.value
        try await third.value

        #expect(log.withLock { $0 } == ["first", "second", "third"])
    }

    @Test func `a command that is handed on lets the next follow at once`() async throws {
        let queue = CommandQueue()

        try await queue.turn(.handingOn)
        try await queue.turn(.handingOn)
        try await queue.turn(.negotiating)

        #expect(queue.waitingCount == 0)
    }

    @Test func `a command cancelled before its turn never gets it`() async throws {
        let queue = CommandQueue()
        try await queue.turn(.negotiating)

        let waiting = Task { try await queue.turn(.negotiating) }
        while queue.waitingCount < 1 { await Task.yield() }
        waiting.cancel()

        await #expect { try await waiting.value } throws: { ($0 as? CallError)?.code == .cancelled }
        queue.finish(.negotiating)
        try await queue.turn(.negotiating)
    }
}
