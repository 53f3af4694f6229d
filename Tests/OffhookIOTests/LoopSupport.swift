import Foundation
import OffhookBasics
import OffhookIO
import Testing

extension EventLoop {
    /// Runs a body on the loop's thread and waits for what it gives.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: Result { try body() }) }
        }
        return try result.get()
    }
}

/// Runs a test body with a loop of its own, and shuts that down from a thread that may wait.
func withLoop<Value: Sendable>(_ body: (EventLoop) async throws -> Value) async throws -> Value {
    let loop = try EventLoop()
    do {
        let value = try await body(loop)
        await shutDown(loop)
        return value
    } catch {
        await shutDown(loop)
        throw error
    }
}

func shutDown(_ loop: EventLoop) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            loop.shutdown()
            continuation.resume()
        }
    }
}

/// What handlers saw, for a test to wait for.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Lock(State())

    func put(_ element: Element) {
        let waiter = state.withLock { state in
            state.elements.append(element)
            guard let waiter = state.waiter, state.elements.count >= waiter.count else {
                return nil as CheckedContinuation<Void, Never>?
            }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    var all: [Element] {
        state.withLock { $0.elements }
    }

    /// Waits until so many have come, and gives all; throws when the test's time is over.
    func wait(for count: Int) async throws -> [Element] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.elements.count >= count || Task.isCancelled { return true }
                    state.waiter = (count, continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in state.waiter.take() }?.continuation.resume()
        }
        let elements = all
        guard elements.count >= count else {
            throw TimeIsOver(seen: "\(elements.suffix(5))")
        }
        return elements
    }

    /// Waits for the first element that fits.
    func first(where fits: (Element) -> Bool) async throws -> Element {
        var count = 1
        while true {
            let elements = try await wait(for: count)
            if let element = elements.first(where: fits) { return element }
            count = elements.count + 1
        }
    }
}

struct TimeIsOver: Error {
    let seen: String
}

let loopback4 = IPAddress(version4: 0x7F00_0001)
let loopback6 = IPAddress(version6High: 0, low: 1)
let any4 = IPAddress(version4: 0)
let any6 = IPAddress(version6High: 0, low: 0)

/// Waits until a leak of a hundred descriptors is ruled out; other tests have some open at the same time.
func descriptorsFall(below limit: Int) async throws {
    while try openDescriptorCount() >= limit {
        try Task.checkCancellation()
        await Task.yield()
    }
}

func openDescriptorCount() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

extension Array where Element == UInt8 {
    init(_ span: RawSpan) {
        self = span.withUnsafeBytes { Array($0) }
    }
}
