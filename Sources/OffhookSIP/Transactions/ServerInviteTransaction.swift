package import OffhookBasics

/// The server's side of one INVITE, from its arrival to the end of its final response.
///
/// RFC 3261 §17.2.1 with the accepted state of RFC 6026 §8.7. A 2xx is repeated by the user of the transaction.
package struct ServerInviteTransaction: Sendable {
    package enum Action: Equatable, Sendable {
        /// Send a 100 of the transaction's own making: the user of the transaction was silent for 200 ms.
        case sendTrying
        /// Send the latest response, for the first time or again.
        case sendResponse
        /// The ACK of a refusal came.
        case acknowledged
        /// The ACK of a refusal never came.
        case timedOut
        case transportFailed
        case terminated
    }

    /// Timers G and H.
    private struct Refusal: Sendable {
        var resendAt: Instant?
        var interval: Duration
        let giveUpAt: Instant
    }

    private enum State: Sendable {
        /// No final response yet; the latest provisional one, if any, answers a repeated request.
        case proceeding(tryingAt: Instant?, hasResponded: Bool)
        /// A refusal is out and repeats until its ACK comes.
        case completed(Refusal)
        /// The refusal's ACK is here; repeats of it are swallowed until timer I.
        case confirmed(until: Instant)
        /// A 2xx is out; repeats of the INVITE are swallowed until timer L.
        case accepted(until: Instant)
        case terminated
    }

    private let timers: TransactionTimers
    private let isReliable: Bool
    private var state: State

    package init(isReliable: Bool, timers: TransactionTimers, at now: Instant) {
        self.timers = timers
        self.isReliable = isReliable
        state = .proceeding(tryingAt: now + timers.automaticTrying, hasResponded: false)
    }

    package var isTerminated: Bool {
        if case .terminated = state { true } else { false }
    }

    /// Whether no final response was given yet.
    package var isPending: Bool {
        if case .proceeding = state { true } else { false }
    }

    /// Whether an ACK with the INVITE's branch belongs to a refusal.
    package var absorbsAcknowledgement: Bool {
        switch state {
        case .completed, .confirmed: true
        case .proceeding, .accepted, .terminated: false
        }
    }

    /// When `handle(timeoutAt:)` should next be called, if ever.
    package var nextDeadline: Instant? {
        switch state {
        case .proceeding(let tryingAt, _): tryingAt
        case .completed(let refusal): min(refusal.resendAt ?? refusal.giveUpAt, refusal.giveUpAt)
        case .confirmed(let until), .accepted(let until): until
        case .terminated: nil
        }
    }

    /// Takes a response from the user of the transaction; one that comes too late gives no action.
    package mutating func respond(status: Int, at now: Instant, actions: inout [Action]) {
        switch state {
        case .proceeding:
            actions.append(.sendResponse)
            switch status {
            case ..<200:
                state = .proceeding(tryingAt: nil, hasResponded: true)
            case ..<300:
                state = .accepted(until: now + timers.giveUp)
            default:
                state = .completed(
                    Refusal(
                        resendAt: isReliable ? nil : now + timers.t1, interval: timers.t1,
                        giveUpAt: now + timers.giveUp))
            }
        case .accepted:
            if (200..<300).contains(status) { actions.append(.sendResponse) }
        case .completed, .confirmed, .terminated:
            break
        }
    }

    /// Takes a repeat of the INVITE.
    package mutating func receiveRepeat(actions: inout [Action]) {
        switch state {
        case .proceeding(_, let hasResponded):
            if hasResponded { actions.append(.sendResponse) }
        case .completed:
            actions.append(.sendResponse)
        case .confirmed, .accepted, .terminated:
            break
        }
    }

    /// Takes an ACK with the INVITE's branch.
    package mutating func receiveAcknowledgement(at now: Instant, actions: inout [Action]) {
        guard case .completed = state else { return }
        actions.append(.acknowledged)
        if isReliable {
            terminate(actions: &actions)
        } else {
            state = .confirmed(until: now + timers.t4)
        }
    }

    package mutating func handleTransportFailure(actions: inout [Action]) {
        switch state {
        case .proceeding, .completed:
            actions.append(.transportFailed)
            terminate(actions: &actions)
        case .accepted, .confirmed, .terminated:
            break
        }
    }

    package mutating func handle(timeoutAt now: Instant, actions: inout [Action]) {
        switch state {
        case .proceeding(let tryingAt, _):
            guard let tryingAt, now >= tryingAt else { return }
            state = .proceeding(tryingAt: nil, hasResponded: true)
            actions.append(.sendTrying)
        case .completed(var refusal):
            if now >= refusal.giveUpAt {
                actions.append(.timedOut)
                terminate(actions: &actions)
            } else if let resendAt = refusal.resendAt, now >= resendAt {
                refusal.interval = min(refusal.interval * 2, timers.t2)
                refusal.resendAt = now + refusal.interval
                state = .completed(refusal)
                actions.append(.sendResponse)
            }
        case .confirmed(let until), .accepted(let until):
            if now >= until { terminate(actions: &actions) }
        case .terminated:
            break
        }
    }

    private mutating func terminate(actions: inout [Action]) {
        state = .terminated
        actions.append(.terminated)
    }
}
