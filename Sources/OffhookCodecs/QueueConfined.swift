internal import Dispatch

/// A value that only the work on one serial queue touches: a codec and what belongs to it.
final class QueueConfined<Value>: @unchecked Sendable {
    // Reached through `async` and `sync` alone, so that the queue's order keeps two threads from using it at once.
    private var value: Value
    private let queue: DispatchQueue

    init(_ value: sending Value, on queue: DispatchQueue) {
        self.value = value
        self.queue = queue
    }

    func async(_ body: @escaping @Sendable (inout Value) -> Void) {
        queue.async { body(&self.value) }
    }

    /// Waits for all that was asked for before. Not to be called from the queue itself.
    func sync<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        dispatchPrecondition(condition: .notOnQueue(queue))
        return queue.sync { body(&value) }
    }
}
