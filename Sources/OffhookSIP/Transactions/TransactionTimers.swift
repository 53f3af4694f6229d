/// The timer values all transactions derive theirs from (RFC 3261 §17.1.1.1 and table 4).
package struct TransactionTimers: Hashable, Sendable {
    /// An estimate of the round trip.
    package var t1: Duration
    /// The longest wait between two copies of a non-INVITE request or of an INVITE's final response.
    package var t2: Duration
    /// The longest a message stays in the network.
    package var t4: Duration
    /// How long a refused INVITE's client absorbs repeats of the refusal on an unreliable transport: timer D.
    package var refusalAbsorption: Duration
    /// How long an INVITE may be silent before its server says 100 by itself (RFC 3261 §17.2.1).
    package var automaticTrying: Duration

    package init(
        t1: Duration = .milliseconds(500), t2: Duration = .seconds(4), t4: Duration = .seconds(5),
        refusalAbsorption: Duration = .seconds(32), automaticTrying: Duration = .milliseconds(200)
    ) {
        self.t1 = t1
        self.t2 = t2
        self.t4 = t4
        self.refusalAbsorption = refusalAbsorption
        self.automaticTrying = automaticTrying
    }

    /// 64 × T1: timers B, F, H, J, L and M, and the end of most patience in SIP.
    package var giveUp: Duration {
        t1 * 64
    }
}
