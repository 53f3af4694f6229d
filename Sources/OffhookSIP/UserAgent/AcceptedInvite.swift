internal import OffhookBasics

/// A 2xx of ours to an INVITE, which repeats until its ACK comes.
///
/// RFC 3261 §13.3.1.4: over every transport, since a proxy may use another one behind it.
struct AcceptedInvite: Sendable {
    let transaction: ServerTransactionID
    let response: SIPResponse
    let sequence: UInt32
    /// Whether the ACK must bring an answer.
    let carriesOffer: Bool
    /// Whether it is the one that begins the session.
    let isFirst: Bool
    private var resendAt: Instant
    private var interval: Duration
    private let giveUpAt: Instant
    private let longest: Duration

    init(
        transaction: ServerTransactionID, response: SIPResponse, sequence: UInt32, carriesOffer: Bool,
        isFirst: Bool, timers: TransactionTimers, at now: Instant
    ) {
        self.transaction = transaction
        self.response = response
        self.sequence = sequence
        self.carriesOffer = carriesOffer
        self.isFirst = isFirst
        interval = timers.t1
        longest = timers.t2
        resendAt = now + timers.t1
        giveUpAt = now + timers.giveUp
    }

    var nextDeadline: Instant { min(resendAt, giveUpAt) }

    enum Due: Sendable {
        case resend
        case giveUp
    }

    mutating func handle(timeoutAt now: Instant) -> Due? {
        if now >= giveUpAt { return .giveUp }
        guard now >= resendAt else { return nil }
        interval = min(interval * 2, longest)
        resendAt = now + interval
        return .resend
    }
}
