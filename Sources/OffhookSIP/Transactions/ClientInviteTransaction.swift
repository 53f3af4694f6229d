package import OffhookBasics

/// The client's side of one INVITE, from its first copy to the last repeat of its final response.
///
/// RFC 3261 §17.1.1 with the accepted state of RFC 6026 §8.4.
package struct ClientInviteTransaction: Sendable {
    package enum Action: Equatable, Sendable {
        /// Send the INVITE, for the first time or again.
        case sendRequest
        /// Send the ACK of a refusal.
        case acknowledge
        /// Hand the response just received to the user of the transaction.
        case deliver
        case timedOut
        case transportFailed
        case terminated
    }

    private enum State: Sendable {
        /// Nothing came back; the request repeats on an unreliable transport (timers A and B).
        case calling(resendAt: Instant?, interval: Duration, giveUpAt: Instant)
        /// A provisional response is here; the user of the transaction decides how long to wait.
        case proceeding
        /// A refusal was acknowledged; its repeats are acknowledged until timer D.
        case completed(until: Instant)
        /// A 2xx came; its repeats and those of other branches go up until timer M.
        case accepted(until: Instant)
        case terminated
    }

    private let timers: TransactionTimers
    private let isReliable: Bool
    private var state: State

    package init(isReliable: Bool, timers: TransactionTimers, at now: Instant, actions: inout [Action]) {
        self.timers = timers
        self.isReliable = isReliable
        state = .calling(
            resendAt: isReliable ? nil : now + timers.t1, interval: timers.t1, giveUpAt: now + timers.giveUp)
        actions.append(.sendRequest)
    }

    package var isTerminated: Bool {
        if case .terminated = state { true } else { false }
    }

    /// Whether no final response came yet.
    package var isPending: Bool {
        switch state {
        case .calling, .proceeding: true
        case .completed, .accepted, .terminated: false
        }
    }

    /// Whether a provisional response came and no final one: a CANCEL may be sent (RFC 3261 §9.1).
    package var isProceeding: Bool {
        if case .proceeding = state { true } else { false }
    }

    /// When `handle(timeoutAt:)` should next be called, if ever.
    package var nextDeadline: Instant? {
        switch state {
        case .calling(let resendAt, _, let giveUpAt): min(resendAt ?? giveUpAt, giveUpAt)
        case .completed(let until), .accepted(let until): until
        case .proceeding, .terminated: nil
        }
    }

    package mutating func receive(status: Int, at now: Instant, actions: inout [Action]) {
        switch state {
        case .calling, .proceeding:
            switch status {
            case ..<200:
                state = .proceeding
                actions.append(.deliver)
            case ..<300:
                state = .accepted(until: now + timers.giveUp)
                actions.append(.deliver)
            default:
                actions.append(.acknowledge)
                actions.append(.deliver)
                if isReliable {
                    terminate(actions: &actions)
                } else {
                    state = .completed(until: now + timers.refusalAbsorption)
                }
            }
        case .completed:
            if status >= 300 { actions.append(.acknowledge) }
        case .accepted:
            if (200..<300).contains(status) { actions.append(.deliver) }
        case .terminated:
            break
        }
    }

    package mutating func handleTransportFailure(actions: inout [Action]) {
        switch state {
        case .calling, .proceeding:
            actions.append(.transportFailed)
            terminate(actions: &actions)
        case .completed:
            terminate(actions: &actions)
        case .accepted, .terminated:
            break
        }
    }

    /// Stops waiting: the user of the transaction has given the request up.
    package mutating func abandon(actions: inout [Action]) {
        switch state {
        case .calling, .proceeding: terminate(actions: &actions)
        case .completed, .accepted, .terminated: break
        }
    }

    package mutating func handle(timeoutAt now: Instant, actions: inout [Action]) {
        switch state {
        case .calling(let resendAt, let interval, let giveUpAt):
            if now >= giveUpAt {
                actions.append(.timedOut)
                terminate(actions: &actions)
            } else if let resendAt, now >= resendAt {
                state = .calling(resendAt: now + interval * 2, interval: interval * 2, giveUpAt: giveUpAt)
                actions.append(.sendRequest)
            }
        case .completed(let until), .accepted(let until):
            if now >= until { terminate(actions: &actions) }
        case .proceeding, .terminated:
            break
        }
    }

    private mutating func terminate(actions: inout [Action]) {
        state = .terminated
        actions.append(.terminated)
    }
}
