internal import OffhookBasics

/// A request of ours that waits for its answer.
struct ICETransaction: Sendable {
    enum Purpose: Hashable, Sendable {
        /// Asks a STUN server for our address.
        case reflexive(SocketID)
        case check(ICEStreamID, pair: Int)
        case consent(ICEStreamID, pair: Int)
    }

    let id: STUNTransactionID
    let purpose: Purpose
    let bytes: [UInt8]
    let base: ICEBase
    let destination: Endpoint
    /// What the answer must be signed with; nil for a STUN server, which signs nothing.
    let key: STUNKey?
    let role: ICERole
    let usesCandidate: Bool
    var retransmission: STUNRetransmission
    /// A newer check of the same pair took over; an answer still counts, its lack does not (RFC 8445 §7.3.1.4).
    var isCancelled = false
}

/// A server to ask once the pacing allows.
enum GatherTask: Hashable, Sendable {
    case reflexive(SocketID, Endpoint)
    case relay(Int)
}

/// A TURN server's allocation, or the wish for one.
struct Relay: Sendable {
    let id: Int
    let socket: SocketID
    let component: ICEComponentID
    /// The address that the socket has on this machine.
    let localEndpoint: Endpoint
    var client: TURNClient
}

/// A socket of the caller's.
struct LocalSocket: Sendable {
    let id: SocketID
    let endpoint: Endpoint
    let component: ICEComponentID
}

/// A NAT's binding for a server-reflexive candidate, kept open until a pair is selected (RFC 8445 §5.1.1.4).
struct ReflexiveBinding: Sendable {
    let socket: SocketID
    let server: Endpoint
    let component: ICEComponentID
    var refreshAt: Instant
}
