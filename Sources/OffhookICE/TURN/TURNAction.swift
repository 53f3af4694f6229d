package import OffhookBasics

/// Why an allocation could not be had, or was lost.
package enum TURNFailure: Hashable, Sendable {
    /// The server did not answer.
    case timedOut
    /// The name or password is wrong (401, 441).
    case unauthorized
    /// The server's challenge is weaker than its nonce promises (RFC 8489 §9.2.5), or makes no sense.
    case untrustworthyChallenge
    /// Another server should be asked, by a new connection (300); over UDP the client does so by itself.
    case redirected(to: Endpoint)
    /// Too many servers sent us on, or in a circle (RFC 8489 §10).
    case redirectionLoop
    /// The server no longer knows the allocation, or another one is in its way (437).
    case allocationMismatch
    /// Our quota is used up (486) or the server is full (508); try again after a minute at the earliest.
    case noCapacity
    /// Any other refusal, 440 (address family) and 442 (transport) among them.
    case refused(Int)
    /// The connection brought something that is no TURN.
    case brokenStream

    init(code: Int) {
        switch code {
        case 401, 441: self = .unauthorized
        case 437: self = .allocationMismatch
        case 486, 508: self = .noCapacity
        default: self = .refused(code)
        }
    }
}

/// What a caller should do, or know, after a TURN client was told something.
package enum TURNAction: Hashable, Sendable {
    /// Send these bytes to the client's `server`.
    case send([UInt8])
    /// The relay is ours: peers reach us at `relayed`, and the server sees us as `mapped`.
    case allocated(relayed: Endpoint, mapped: Endpoint?)
    case failed(TURNFailure)
    /// The server will not relay to this address (403).
    case permissionRefused(IPAddress)
    /// A stream connection brought a datagram of a peer's.
    case received([UInt8], from: Endpoint)
}

/// What became of a datagram that a TURN client was shown.
package enum TURNReceipt: Hashable, Sendable {
    case notMine
    case handled
    /// A peer's datagram, which lies at these offsets.
    case data(Range<Int>, from: Endpoint)
}
