internal import OffhookBasics

/// The reliable provisional responses to one INVITE, sent one after another as their PRACKs come.
///
/// RFC 3262 §3.
struct ReliableResponses: Sendable {
    private struct Outstanding: Sendable {
        let response: SIPResponse
        let number: UInt32
        let hasDescription: Bool
        var resendAt: Instant
        var interval: Duration
        let giveUpAt: Instant
    }

    private var nextNumber: UInt32
    private var outstanding: Outstanding?
    private var queue: [(response: SIPResponse, hasDescription: Bool)] = []
    private let timers: TransactionTimers

    init(firstNumber: UInt32, timers: TransactionTimers) {
        nextNumber = firstNumber
        self.timers = timers
    }

    var nextDeadline: Instant? {
        outstanding.map { min($0.resendAt, $0.giveUpAt) }
    }

    /// Whether a response with a description waits for its PRACK, so that a 2xx must wait too (RFC 3262 §5).
    var holdsBackSuccess: Bool {
        (outstanding?.hasDescription ?? false) || queue.contains { $0.hasDescription }
    }

    /// Takes a response to send; returns it, numbered, if it can go now.
    mutating func submit(_ response: SIPResponse, hasDescription: Bool, at now: Instant) -> SIPResponse? {
        guard outstanding == nil else {
            if queue.count < 8 { queue.append((response, hasDescription)) }
            return nil
        }
        return send(response, hasDescription: hasDescription, at: now)
    }

    /// Takes a PRACK's number; false if nothing waits for it (RFC 3262 §3: 481).
    mutating func acknowledge(_ number: UInt32) -> Bool {
        guard outstanding?.number == number else { return false }
        outstanding = nil
        return true
    }

    /// The next response, numbered, if one waits and nothing is outstanding.
    mutating func sendNext(at now: Instant) -> SIPResponse? {
        guard outstanding == nil, !queue.isEmpty else { return nil }
        let (response, hasDescription) = queue.removeFirst()
        return send(response, hasDescription: hasDescription, at: now)
    }

    /// A final response ends the repeats; a PRACK on its way is still taken.
    mutating func stop() {
        queue = []
        outstanding?.resendAt = .distantFuture
    }

    enum Due: Sendable {
        case resend(SIPResponse)
        case giveUp
    }

    mutating func handle(timeoutAt now: Instant) -> Due? {
        guard var waiting = outstanding else { return nil }
        if now >= waiting.giveUpAt {
            let isStopped = waiting.resendAt == .distantFuture
            outstanding = nil
            return isStopped ? nil : .giveUp
        }
        guard now >= waiting.resendAt else { return nil }
        waiting.interval = waiting.interval * 2
        waiting.resendAt = now + waiting.interval
        outstanding = waiting
        return .resend(waiting.response)
    }

    private mutating func send(_ response: SIPResponse, hasDescription: Bool, at now: Instant) -> SIPResponse {
        var response = response
        response.headers.rseq = nextNumber
        response.headers.require = response.headers.require.union(["100rel"])
        outstanding = Outstanding(
            response: response, number: nextNumber, hasDescription: hasDescription, resendAt: now + timers.t1,
            interval: timers.t1, giveUpAt: now + timers.giveUp)
        nextNumber &+= 1
        return response
    }
}
