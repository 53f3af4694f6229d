internal import Dispatch
internal import OffhookBasics

/// Carries all news of a client to the app: in order, one at a time, on the app's queue, whether that is serial or not.
final class DelegateQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        /// The jobs being done, last one first.
        var due: [@Sendable () -> Void] = []
        var isRunning = false
        var count = 0

        mutating func next() -> (@Sendable () -> Void)? {
            if due.isEmpty {
                due = waiting.reversed()
                waiting = []
            }
            return due.popLast()
        }
    }

    private let queue: DispatchQueue
    private let state = Lock(State())

    init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// Appends a job. It is never run before this returns to a caller that is on the queue.
    func enqueue(_ job: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.waiting.append(job)
            state.count += 1
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { queue.async { self.runNext() } }
    }

    /// How much news there was so far, and whether the app has been told all of it to the end.
    var progress: (count: Int, isDone: Bool) { state.withLock { ($0.count, !$0.isRunning) } }

    // One job a turn, so that the app's own work on the queue gets its share.
    private func runNext() {
        if let job = state.withLock({ $0.next() }) { job() }
        let isMore = state.withLock { state in
            state.isRunning = !state.due.isEmpty || !state.waiting.isEmpty
            return state.isRunning
        }
        if isMore { queue.async { self.runNext() } }
    }
}
