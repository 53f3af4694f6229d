internal import OffhookBasics

/// Puts the commands of one call in order.
///
/// Commands get their turn in the order they were made. One that negotiates keeps the next waiting until it is done, so
/// that a mode set while another change is in flight is queued and not lost. What cannot wait for the far end, such as
/// muting or ending, does not come here.
final class CommandQueue: Sendable {
    /// How long a command keeps its turn.
    enum Kind: Sendable {
        /// Until it was handed on: the next may follow while this one is answered.
        case handingOn
        /// Until it is done.
        case negotiating
    }

    private struct State {
        var isBusy = false
        var waiting: [(number: UInt64, kind: Kind, continuation: CheckedContinuation<Bool, Never>)] = []
        var lastNumber: UInt64 = 0
        /// Cancelled while they were not waiting: not yet, or no longer.
        var cancelled: Set<UInt64> = []

        /// Those whose turn it is now.
        mutating func admit() -> [CheckedContinuation<Bool, Never>] {
            var admitted: [CheckedContinuation<Bool, Never>] = []
            while !isBusy, !waiting.isEmpty {
                let next = waiting.removeFirst()
                isBusy = next.kind == .negotiating
                admitted.append(next.continuation)
            }
            return admitted
        }
    }

    private let state = Lock(State())

    /// Waits for the command's turn. Call ``finish(_:)`` afterwards, whatever comes of the command.
    func turn(_ kind: Kind) async throws(CallError) {
        let ticket: UInt64? = state.withLock { state in
            guard state.isBusy || !state.waiting.isEmpty else {
                state.isBusy = kind == .negotiating
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let ticket else { return }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(ticket, kind, continuation) }
        } onCancel: {
            cancel(ticket)
        }
        state.withLock { _ = $0.cancelled.remove(ticket) }
        guard isAdmitted else { throw CallError(.cancelled, "the command was cancelled before its turn came") }
    }

    /// How many commands wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Gives the turn to the next.
    func finish(_ kind: Kind) {
        guard kind == .negotiating else { return }
        let admitted = state.withLock { state in
            state.isBusy = false
            return state.admit()
        }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    private func wait(_ ticket: UInt64, _ kind: Kind, _ continuation: CheckedContinuation<Bool, Never>) {
        let (isCancelled, admitted) = state.withLock { state in
            if state.cancelled.remove(ticket) != nil { return (true, [CheckedContinuation<Bool, Never>]()) }
            state.waiting.append((ticket, kind, continuation))
            return (false, state.admit())
        }
        if isCancelled { continuation.resume(returning: false) }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    private func cancel(_ ticket: UInt64) {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let index = state.waiting.firstIndex(where: { $0.number == ticket }) else {
                state.cancelled.insert(ticket)
                return nil
            }
            return state.waiting.remove(at: index).continuation
        }
        continuation?.resume(returning: false)
    }
}
