internal import OffhookBasics

/// Where one flow's packets go: to the address the far end signalled, or, where it sits behind a NAT, to the one its
/// packets come from (symmetric RTP, RFC 4961).
///
/// A stranger must not be able to draw media to himself. Packets that SRTP has authenticated move the address at once;
/// plain ones only when several came in a row and the present address has been silent, and no longer than until the
/// address that was signalled speaks. When the far end has moved, what is still under way from where it was moves nothing.
struct RemoteAddress: Sendable {
    private static let packetsNeeded = 4
    private static let silenceNeeded = Duration.seconds(1)

    private var signalled: Endpoint?
    private var learned: Endpoint?
    private var candidate: (endpoint: Endpoint, packets: Int)?
    private var lastFromCurrent: Instant?
    /// Where the far end was before it said that it moved, and since when packets come from there still.
    private var former: (endpoint: Endpoint, since: Instant?)?

    /// Where to send now; nil before the far end said, or where it said to send nothing (the address 0.0.0.0).
    var current: Endpoint? {
        guard let signalled else { return nil }
        return learned ?? signalled
    }

    /// Takes the address of a description; what was learned holds while the description says the same.
    mutating func signal(_ endpoint: Endpoint?) {
        guard endpoint != signalled else { return }
        former = current.map { ($0, nil) }
        signalled = endpoint
        learned = nil
        candidate = nil
        lastFromCurrent = nil
    }

    /// Takes note of where a packet came from.
    mutating func note(_ source: Endpoint, isAuthenticated: Bool, at now: Instant) {
        if source == signalled, !isAuthenticated { learned = nil }
        guard let current, source != current else {
            if source == current {
                lastFromCurrent = now
                candidate = nil
            }
            return
        }
        if let former, former.endpoint == source {
            let since = former.since ?? now
            self.former = (source, since)
            guard now - since >= Self.silenceNeeded else { return }
        }
        if isAuthenticated {
            learn(source, at: now)
            return
        }
        if let lastFromCurrent, now - lastFromCurrent < Self.silenceNeeded { return }
        let packets = candidate?.endpoint == source ? (candidate?.packets ?? 0) + 1 : 1
        candidate = (source, packets)
        if packets >= Self.packetsNeeded { learn(source, at: now) }
    }

    private mutating func learn(_ source: Endpoint, at now: Instant) {
        learned = source
        candidate = nil
        lastFromCurrent = now
    }
}
