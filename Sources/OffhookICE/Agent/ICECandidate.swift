package import OffhookBasics

/// A transport address at which one side may be reached for one component (RFC 8445 §5.1). Always UDP.
package struct ICECandidate: Hashable, Sendable {
    /// Where a candidate came from, spelt as in SDP.
    package enum Kind: String, Hashable, Sendable {
        case host
        case serverReflexive = "srflx"
        case peerReflexive = "prflx"
        case relayed = "relay"

        /// RFC 8445 §5.1.2.2.
        package var typePreference: UInt32 {
            switch self {
            case .host: 126
            case .peerReflexive: 110
            case .serverReflexive: 100
            case .relayed: 0
            }
        }
    }

    package var foundation: String
    package var component: UInt16
    package var priority: UInt32
    package var endpoint: Endpoint
    package var kind: Kind
    /// The base of a reflexive candidate, or what a TURN server saw of us (RFC 8839 §5.1's `raddr` and `rport`).
    package var related: Endpoint?

    package init(
        foundation: String, component: UInt16, priority: UInt32, endpoint: Endpoint, kind: Kind,
        related: Endpoint? = nil
    ) {
        self.foundation = foundation
        self.component = component
        self.priority = priority
        self.endpoint = endpoint
        self.kind = kind
        self.related = related
    }

    /// Reads the fields of an `a=candidate` line.
    ///
    /// Nil where the candidate is of no use to us, which is no fault of the peer's: a name such as `….local` (RFC 8839
    /// §5.1 lets an agent ignore names), TCP, an unknown kind, port 0, or an address nobody can be reached at.
    package init?(
        foundation: String, component: UInt16, transport: String, priority: UInt32, address: String, port: UInt16,
        kind: String, relatedAddress: String? = nil, relatedPort: UInt16? = nil
    ) {
        guard transport.lowercased() == "udp", let kind = Kind(rawValue: kind.lowercased()),
            (1...256).contains(component), port != 0, let address = IPAddress(parsing: address),
            !address.isUnspecified, !address.isMulticast
        else { return nil }
        self.init(
            foundation: foundation, component: component, priority: priority, endpoint: Endpoint(address, port),
            kind: kind,
            related: relatedAddress.flatMap { IPAddress(parsing: $0) }.map { Endpoint($0, relatedPort ?? 0) })
    }

    /// RFC 8445 §5.1.2.1.
    package static func priority(kind: Kind, localPreference: UInt16, component: UInt16) -> UInt32 {
        kind.typePreference << 24 | UInt32(localPreference) << 8 | (256 - UInt32(min(component, 256)))
    }
}
