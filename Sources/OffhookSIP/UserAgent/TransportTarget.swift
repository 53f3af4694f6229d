package import OffhookBasics

/// How SIP messages travel.
package enum SIPTransport: String, Hashable, Sendable, CaseIterable {
    case udp
    case tcp
    case tls
    case webSocket = "ws"
    case secureWebSocket = "wss"

    /// Reads the name as Via, a `transport` parameter or a log has it, in any case.
    package init?(name: some StringProtocol) {
        self.init(rawValue: name.lowercased())
    }

    /// As a Via header field writes it: `UDP`, `WSS`.
    package var viaName: String { rawValue.uppercased() }

    /// Whether what is sent arrives or the connection ends, so that transactions need no repeats.
    package var isReliable: Bool { self != .udp }

    package var isSecure: Bool { self == .tls || self == .secureWebSocket }

    /// Whether only the side that opened the connection can open it (RFC 7118 §5).
    package var isWebSocket: Bool { self == .webSocket || self == .secureWebSocket }

    /// The port of a URI or Via that names none (RFC 3261 §19.1.2, RFC 7118 §9).
    package var defaultPort: UInt16 {
        switch self {
        case .udp, .tcp: 5060
        case .tls: 5061
        case .webSocket: 80
        case .secureWebSocket: 443
        }
    }
}

/// Where a message goes to or came from.
package struct TransportTarget: Hashable, Sendable {
    package var transport: SIPTransport
    package var remote: Endpoint
    /// The stream connection to use; nil leaves it to the edge to reuse one to that end or to open one.
    package var connection: UInt64?
    /// The domain that the certificate of a new secure connection must be for; nil where none is to be opened.
    package var domain: String?

    package init(transport: SIPTransport, remote: Endpoint, connection: UInt64? = nil, domain: String? = nil) {
        self.transport = transport
        self.remote = remote
        self.connection = connection
        self.domain = domain
    }
}

/// A target and the address that we have towards it.
package struct TransportRoute: Hashable, Sendable {
    package var target: TransportTarget
    /// Where the target's side would reach us; its port gives way to the configured listening port of the transport, and
    /// is 0 where nothing listens.
    package var local: Endpoint

    package init(target: TransportTarget, local: Endpoint) {
        self.target = target
        self.local = local
    }
}

/// A host, and how to find targets for it by RFC 3263.
package struct ResolveQuery: Hashable, Sendable {
    /// A name, or the text of an address towards which our own is not known yet.
    package var host: SIPHost
    /// Nil asks for SRV.
    package var port: UInt16?
    /// Nil asks for NAPTR, then UDP.
    package var transport: SIPTransport?
    /// Whether only secure transports will do (a `sips` URI).
    package var isSecure: Bool

    package init(host: SIPHost, port: UInt16?, transport: SIPTransport?, isSecure: Bool) {
        self.host = host
        self.port = port
        self.transport = transport
        self.isSecure = isSecure
    }

    /// Where a request to this URI goes.
    package init(to uri: SIPURI) {
        self.init(
            host: uri.parameters["maddr"].map { SIPHost($0) } ?? uri.host, port: uri.port,
            transport: uri.transport.flatMap { SIPTransport(name: $0) }, isSecure: uri.isSecure)
    }
}

/// Which question a call of ``SIPUserAgent/resolved(_:routes:at:actions:)`` answers.
package struct ResolveToken: Hashable, Sendable {
    package let number: UInt64
}
