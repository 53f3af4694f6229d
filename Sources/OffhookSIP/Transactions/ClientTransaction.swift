package import OffhookBasics

/// The client's side of one request that is no INVITE.
///
/// RFC 3261 §17.1.2.
package struct ClientTransaction: Sendable {
    package enum Action: Equatable, Sendable {
        /// Send the request, for the first time or again.
        case sendRequest
        /// Hand the response just received to the user of the transaction.
        case deliver
        case timedOut
        case transportFailed
        case terminated
    }

    /// Timers E and F.
    private struct Wait: Sendable {
        var resendAt: Instant?
        var interval: Duration
        let giveUpAt: Instant
    }

    private enum State: Sendable {
        case trying(Wait)
        /// A provisional response came: repeats slow down to T2.
        case proceeding(Wait)
        /// The final response went up; its repeats are swallowed until timer K.
        case completed(until: Instant)
        case terminated
    }

    private let timers: TransactionTimers
    private let isReliable: Bool
    private var state: State

    package init(isReliable: Bool, timers: TransactionTimers, at now: Instant, actions: inout [Action]) {
        self.timers = timers
        self.isReliable = isReliable
        state = .trying(
            Wait(resendAt: isReliable ? nil : now + timers.t1, interval: timers.t1, giveUpAt: now + timers.giveUp))
        actions.append(.sendRequest)
    }

    package var isTerminated: Bool {
        if case .terminated = state { true } else { false }
    }

    /// Whether no final response came yet.
    package var isPending: Bool {
        switch state {
        case .trying, .proceeding: true
        case .completed, .terminated: false
        }
    }

    /// When `handle(timeoutAt:)` should next be called, if ever.
    package var nextDeadline: Instant? {
        switch state {
        case .trying(let wait), .proceeding(let wait): min(wait.resendAt ?? wait.giveUpAt, wait.giveUpAt)
        case .completed(let until): until
        case .terminated: nil
        }
    }

    package mutating func receive(status: Int, at now: Instant, actions: inout [Action]) {
        switch state {
        case .trying(let wait), .proceeding(let wait):
            actions.append(.deliver)
            if status < 200 {
                state = .proceeding(wait)
            } else if isReliable {
                terminate(actions: &actions)
            } else {
                state = .completed(until: now + timers.t4)
            }
        case .completed, .terminated:
            break
        }
    }

    package mutating func handleTransportFailure(actions: inout [Action]) {
        switch state {
        case .trying, .proceeding:
            actions.append(.transportFailed)
            terminate(actions: &actions)
        case .completed, .terminated:
            break
        }
    }

    package mutating func handle(timeoutAt now: Instant, actions: inout [Action]) {
        switch state {
        case .trying(let wait):
            if let next = repeated(wait, interval: min(wait.interval * 2, timers.t2), at: now, actions: &actions) {
                state = .trying(next)
            }
        case .proceeding(let wait):
            if let next = repeated(wait, interval: timers.t2, at: now, actions: &actions) {
                state = .proceeding(next)
            }
        case .completed(let until):
            if now >= until { terminate(actions: &actions) }
        case .terminated:
            break
        }
    }

    /// The wait after a repeat that was due; nil where nothing was due or patience has ended.
    private mutating func repeated(
        _ wait: Wait, interval: Duration, at now: Instant, actions: inout [Action]
    ) -> Wait? {
        if now >= wait.giveUpAt {
            actions.append(.timedOut)
            terminate(actions: &actions)
            return nil
        }
        guard let resendAt = wait.resendAt, now >= resendAt else { return nil }
        actions.append(.sendRequest)
        return Wait(resendAt: now + interval, interval: interval, giveUpAt: wait.giveUpAt)
    }

    private mutating func terminate(actions: inout [Action]) {
        state = .terminated
        actions.append(.terminated)
    }
}
