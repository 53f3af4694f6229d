package import OffhookBasics

/// The server's side of one request that is no INVITE.
///
/// RFC 3261 §17.2.2.
package struct ServerTransaction: Sendable {
    package enum Action: Equatable, Sendable {
        /// Send the latest response, for the first time or again.
        case sendResponse
        case transportFailed
        case terminated
    }

    private enum State: Sendable {
        /// Nothing was answered; repeats are swallowed.
        case trying
        /// A provisional response answers repeats.
        case proceeding
        /// The final response answers repeats until timer J.
        case completed(until: Instant)
        case terminated
    }

    private let timers: TransactionTimers
    private let isReliable: Bool
    private var state = State.trying

    package init(isReliable: Bool, timers: TransactionTimers) {
        self.timers = timers
        self.isReliable = isReliable
    }

    package var isTerminated: Bool {
        if case .terminated = state { true } else { false }
    }

    /// Whether no final response was given yet.
    package var isPending: Bool {
        switch state {
        case .trying, .proceeding: true
        case .completed, .terminated: false
        }
    }

    /// When `handle(timeoutAt:)` should next be called, if ever.
    package var nextDeadline: Instant? {
        if case .completed(let until) = state { until } else { nil }
    }

    /// Takes a response from the user of the transaction; one after the final one gives no action.
    package mutating func respond(status: Int, at now: Instant, actions: inout [Action]) {
        switch state {
        case .trying, .proceeding:
            actions.append(.sendResponse)
            if status < 200 {
                state = .proceeding
            } else if isReliable {
                terminate(actions: &actions)
            } else {
                state = .completed(until: now + timers.giveUp)
            }
        case .completed, .terminated:
            break
        }
    }

    /// Takes a repeat of the request.
    package mutating func receiveRepeat(actions: inout [Action]) {
        switch state {
        case .proceeding, .completed: actions.append(.sendResponse)
        case .trying, .terminated: break
        }
    }

    package mutating func handleTransportFailure(actions: inout [Action]) {
        switch state {
        case .proceeding, .completed:
            actions.append(.transportFailed)
            terminate(actions: &actions)
        case .trying, .terminated:
            break
        }
    }

    package mutating func handle(timeoutAt now: Instant, actions: inout [Action]) {
        guard case .completed(let until) = state, now >= until else { return }
        terminate(actions: &actions)
    }

    private mutating func terminate(actions: inout [Action]) {
        state = .terminated
        actions.append(.terminated)
    }
}
