internal import OffhookBasics

/// Which connections that others opened carry nothing, so that they may be closed.
///
/// A server should keep a connection for as long as a transaction may last (RFC 3261 §18); strangers may not hold one for ever.
/// Signs of life alone keep none: what they are for is a call, and the connection of a call stays.
struct AcceptedConnections: Sendable {
    /// How long the first whole message may take, the handshake of TLS included.
    static let firstMessage = Duration.seconds(32)
    /// How long nothing may come where there is no call.
    static let silence = Duration.seconds(300)

    /// Most of them; one more takes the place of another.
    static let limit = 1024

    /// When each may be closed, unless a message comes before.
    private var deadlines: [UInt64: Instant] = [:]

    var count: Int { deadlines.count }

    /// The earliest moment at which one may be closed.
    var nextDeadline: Instant? { deadlines.values.min() }

    mutating func opened(_ connection: UInt64, at now: Instant) {
        deadlines[connection] = now + Self.firstMessage
    }

    /// A whole message came; along connections that we opened, that is no matter.
    mutating func receivedMessage(on connection: UInt64, at now: Instant) {
        guard deadlines[connection] != nil else { return }
        deadlines[connection] = now + Self.silence
    }

    mutating func closed(_ connection: UInt64) {
        deadlines[connection] = nil
    }

    /// The one that makes room for another, where there are as many as may be; nil where each has a call.
    mutating func takeIdlest(isInUse: (UInt64) -> Bool) -> UInt64? {
        let idlest = deadlines.sorted { $0.value < $1.value }.first { !isInUse($0.key) }
        guard let idlest else { return nil }
        deadlines[idlest.key] = nil
        return idlest.key
    }

    var isFull: Bool { deadlines.count >= Self.limit }

    /// Those whose time is over; one that a call needs has its time anew.
    mutating func takeOverdue(at now: Instant, isInUse: (UInt64) -> Bool) -> [UInt64] {
        var overdue: [UInt64] = []
        for (connection, deadline) in deadlines where deadline <= now {
            if isInUse(connection) {
                deadlines[connection] = now + Self.silence
            } else {
                deadlines[connection] = nil
                overdue.append(connection)
            }
        }
        return overdue
    }
}
