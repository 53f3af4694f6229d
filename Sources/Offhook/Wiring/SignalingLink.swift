internal import OffhookBasics
internal import OffhookIO
internal import OffhookSIP

/// One connection that SIP messages travel on: TCP or TLS, or a WebSocket over one of them.
struct SignalingLink {
    enum Carrier {
        case stream(StreamConnection)
        case webSocket(WebSocketConnection)
    }

    let carrier: Carrier
    let transport: SIPTransport
    /// The domain that the other side's certificate was checked for; nil where we accepted the connection.
    let domain: String?
    var framer = SIPStreamFramer()
    var isConnected: Bool
    /// What is to be sent once it is connected.
    var waiting: [[UInt8]] = []

    init(_ carrier: Carrier, _ transport: SIPTransport, domain: String?, isConnected: Bool) {
        self.carrier = carrier
        self.transport = transport
        self.domain = domain
        self.isConnected = isConnected
    }

    var id: UInt64 {
        switch carrier {
        case .stream(let connection): connection.id
        case .webSocket(let connection): connection.id
        }
    }

    var remote: Endpoint {
        switch carrier {
        case .stream(let connection): connection.remoteEndpoint
        case .webSocket(let connection): connection.remoteEndpoint
        }
    }

    var local: Endpoint? {
        switch carrier {
        case .stream(let connection): connection.localEndpoint
        case .webSocket(let connection): connection.localEndpoint
        }
    }

    /// The target that names this connection.
    var target: TransportTarget {
        TransportTarget(transport: transport, remote: remote, connection: id, domain: domain)
    }

    /// Whether what is for that target may go here: the same end, which has shown a certificate for the same domain.
    ///
    /// A target that is known by its address alone was named by a peer we trust, such as a proxy that noted itself in
    /// Record-Route, or is answered to.
    func serves(_ target: TransportTarget) -> Bool {
        guard transport == target.transport, remote == target.remote else { return false }
        guard transport.isSecure, let wanted = target.domain, IPAddress(parsing: wanted) == nil else { return true }
        return domain?.lowercased() == wanted.lowercased()
    }

    /// Sends a message, or a sign of life; false where it did not go out.
    func send(_ bytes: [UInt8]) -> Bool {
        switch carrier {
        case .stream(let connection): return connection.send(bytes) == .accepted
        case .webSocket(let connection):
            // A message is text wherever it can be (RFC 7118 §4.2).
            if let text = String(validating: bytes, as: UTF8.self) {
                return connection.send(text: text) == .accepted
            }
            return connection.send(binary: bytes) == .accepted
        }
    }

    func close() {
        switch carrier {
        case .stream(let connection): connection.close()
        case .webSocket(let connection): connection.close()
        }
    }
}
