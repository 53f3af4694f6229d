internal import OffhookBasics
internal import OffhookEngine
internal import OffhookIO
internal import OffhookSIP

/// The sockets that SIP messages travel on: one for UDP, those that accept TCP and TLS, and the connections.
///
/// It belongs to the loop's thread.
final class SignalingSockets {
    /// What the sockets bring; called on the loop's thread.
    struct Handlers {
        var message: (_ bytes: [UInt8], _ source: TransportTarget, _ local: Endpoint) -> Void
        /// The same from a stream, where a message is parsed when its end is found.
        var parsed: (_ message: SIPMessage, _ source: TransportTarget, _ local: Endpoint) -> Void
        var malformed: (_ error: SIPParseError, _ source: TransportTarget) -> Void
        /// An answer to a sign of life of ours, with the address that the server saw.
        var signOfLife: (_ source: TransportTarget, _ seen: Endpoint?) -> Void
        /// What was sent to this target did not arrive; the reason is a sentence for a person.
        var failure: (_ target: TransportTarget, _ reason: String?) -> Void
        var closed: (_ target: TransportTarget, _ reason: String?) -> Void
        /// Whether anybody there may talk to us.
        var accepts: (Endpoint) -> Bool
        /// Whether a call goes along this connection.
        var isInUse: (_ connection: UInt64) -> Bool
    }

    private let loop: EventLoop
    private let bindAddress: IPAddress
    private let security: SignalingSecurity
    private let handlers: Handlers
    private var datagrams: UDPSocket?
    private var listeners: [StreamListener] = []
    private var links: [UInt64: SignalingLink] = [:]
    /// What others have opened, and when it may be closed.
    private var accepted = AcceptedConnections()
    private lazy var acceptedTimer = loop.makeTimer { [weak self] in self?.closeOverdue() }
    private(set) var ports: [SIPTransport: UInt16] = [:]

    /// Where messages can be sent to us.
    var endpoints: [SignalingTransport: Endpoint] {
        Dictionary(
            uniqueKeysWithValues: ports.map { (SignalingTransport($0.key), Endpoint(bindAddress, $0.value)) })
    }

    init(loop: EventLoop, bindAddress: IPAddress, security: SignalingSecurity, handlers: Handlers) {
        self.loop = loop
        self.bindAddress = bindAddress
        self.security = security
        self.handlers = handlers
    }

    // MARK: Opening and closing

    /// Opens what the transports need. A port that is in use is an error; with port 0 TCP takes UDP's number.
    func open(_ transports: Set<SignalingTransport>, port: UInt16) throws(IOError) {
        var streamPort = port
        if transports.contains(.udp) {
            try openDatagrams(port: port)
            streamPort = ports[.udp] ?? port
        }
        if transports.contains(.tcp) { try listen(on: streamPort, .tcp, security: .none) }
        if transports.contains(.tls), let context = try security.serverContext() {
            // TLS has the port after that of TCP (RFC 3261 §18.2.1: 5061 after 5060).
            try listen(on: port == 0 ? 0 : port &+ 1, .tls, security: .tls(context, peerName: nil))
        }
    }

    private func openDatagrams(port: UInt16) throws(IOError) {
        var options = UDPSocket.Options()
        options.reportsLocalAddress = bindAddress.isUnspecified
        options.receiveBufferSize = 1 << 20
        let socket = try UDPSocket(
            on: loop, boundTo: Endpoint(bindAddress, port), options: options,
            reception: .datagrams { [unowned self] bytes, source, local in
                self.receive(bytes, from: source, local: local)
            })
        socket.errorHandler = { [unowned self] destination, error in
            guard let destination else { return }
            self.handlers.failure(TransportTarget(transport: .udp, remote: destination), error.reason)
        }
        datagrams = socket
        ports[.udp] = socket.localEndpoint.port
    }

    private func listen(
        on port: UInt16, _ transport: SIPTransport, security: StreamConnection.Security
    ) throws(IOError) {
        var options = StreamConnection.Options()
        options.security = security
        let listener = try StreamListener(on: loop, boundTo: Endpoint(bindAddress, port), options: options) {
            [unowned self] connection in
            // A connection that nobody takes is closed.
            guard self.handlers.accepts(connection.remoteEndpoint), self.hasRoom() else { return }
            let link = self.adopt(connection, transport, domain: nil, isConnected: transport == .tcp)
            self.accepted.opened(link.id, at: self.loop.now)
            if !self.acceptedTimer.isArmed { self.awaitOverdue() }
        }
        listeners.append(listener)
        ports[transport] = listener.localEndpoint.port
    }

    /// Makes room for one more connection, where there is none.
    private func hasRoom() -> Bool {
        guard accepted.isFull else { return true }
        guard let idlest = accepted.takeIdlest(isInUse: handlers.isInUse) else { return false }
        links[idlest]?.close()
        closed(idlest, nil)
        return true
    }

    private func awaitOverdue() {
        if let deadline = accepted.nextDeadline { acceptedTimer.arm(at: deadline) }
    }

    private func closeOverdue() {
        for id in accepted.takeOverdue(at: loop.now, isInUse: handlers.isInUse) {
            links[id]?.close()
            closed(id, nil)
        }
        awaitOverdue()
    }

    func close() {
        acceptedTimer.disarm()
        datagrams?.close()
        for listener in listeners { listener.close() }
        for link in links.values { link.close() }
        links = [:]
    }

    /// Closes connections from addresses that we no longer have: nothing comes along them any more.
    func closeConnections(exceptFrom addresses: Set<IPAddress>) {
        for (id, link) in links {
            guard let local = link.local, !addresses.contains(local.address) else { continue }
            link.close()
            closed(id, IOError(.closed, reason: "This machine has lost its address \(local.address)."))
        }
    }

    /// Our address as packets to `remote` bear it.
    func localAddress(toward remote: Endpoint) -> IPAddress {
        guard bindAddress.isUnspecified else { return bindAddress }
        return InterfaceAddress.toward(remote) ?? bindAddress
    }

    // MARK: Sending

    /// Sends a message. What does not go out at once and for good is told by `failure` later.
    func send(_ bytes: [UInt8], to target: TransportTarget) {
        if target.transport == .udp {
            // A full buffer loses the datagram like any network does; transactions repeat it.
            switch datagrams?.send(bytes, to: target.remote) {
            case .failed?, nil: fail(target, nil)
            default: break
            }
            return
        }
        let link: SignalingLink?
        do throws(IOError) {
            link = try self.link(for: target)
        } catch {
            return fail(target, error.reason)
        }
        guard let link else { return fail(target, "The connection to \(target.remote) is closed.") }
        if link.isConnected {
            if !link.send(bytes) { fail(target, nil) }
        } else if link.waiting.count < Self.waitingLimit {
            links[link.id]?.waiting.append(bytes)
        } else {
            fail(target, "The connection to \(target.remote) does not open.")
        }
    }

    /// Sends a sign of life; a connection that is gone says so by itself.
    func sendSignOfLife(_ bytes: [UInt8], to target: TransportTarget) {
        if target.transport == .udp {
            _ = datagrams?.send(bytes, to: target.remote)
        } else if let id = target.connection, let link = links[id], link.isConnected {
            _ = link.send(bytes)
        }
    }

    private static let waitingLimit = 256

    /// Tells a failure when the present event is over: the engine is at work now.
    private func fail(_ target: TransportTarget, _ reason: String?) {
        loop.schedule(at: loop.now) { [weak self] in self?.handlers.failure(target, reason) }
    }

    private func receive(_ bytes: [UInt8], from source: Endpoint, local: IPAddress?) {
        let target = TransportTarget(transport: .udp, remote: source)
        if let answer = StunAnswer(parsing: bytes) { return handlers.signOfLife(target, answer.seen) }
        // Signs of life of peers behind translators, and answers to ours (RFC 5626 §3.5.1, RFC 3261 §7.5).
        guard bytes.count > 4 else {
            if bytes == [13, 10] { handlers.signOfLife(target, nil) }
            return
        }
        let address = local ?? localAddress(toward: source)
        let port = datagrams?.localEndpoint.port ?? 0
        handlers.message(bytes, target, Endpoint(address, port))
    }

    // MARK: Connections

    /// The connection named, one to that end, or a new one; nil where the one named is gone.
    private func link(for target: TransportTarget) throws(IOError) -> SignalingLink? {
        if let connection = target.connection { return links[connection] }
        if let link = links.values.first(where: { $0.serves(target) }) { return link }
        var options = StreamConnection.Options()
        if !bindAddress.isUnspecified { options.localAddress = bindAddress }
        let domain = target.domain ?? target.remote.address.description
        switch target.transport {
        case .udp: return nil
        case .tcp: break
        case .tls:
            options.security = .tls(try security.clientContext(), peerName: .sipDomain(domain))
        case .webSocket: return open(webSocketTo: target, domain, options)
        case .secureWebSocket:
            options.security = .tls(try security.clientContext(), peerName: .host(domain))
            return open(webSocketTo: target, domain, options)
        }
        let connection = StreamConnection(on: loop, connectingTo: target.remote, options: options) { _ in }
        return adopt(connection, target.transport, domain: domain, isConnected: false)
    }

    private func open(
        webSocketTo target: TransportTarget, _ domain: String, _ stream: StreamConnection.Options
    ) -> SignalingLink {
        var options = WebSocketConnection.Options()
        options.stream = stream
        let isUsual = target.remote.port == target.transport.defaultPort
        options.host = isUsual ? domain : "\(domain):\(target.remote.port)"
        let connection = WebSocketConnection(on: loop, connectingTo: target.remote, options: options) { _ in }
        let link = SignalingLink(.webSocket(connection), target.transport, domain: domain, isConnected: false)
        let id = link.id
        links[id] = link
        connection.handler = { [unowned self] event in self.handle(event, of: id) }
        return link
    }

    private func adopt(
        _ connection: StreamConnection, _ transport: SIPTransport, domain: String?, isConnected: Bool
    ) -> SignalingLink {
        let link = SignalingLink(.stream(connection), transport, domain: domain, isConnected: isConnected)
        let id = link.id
        links[id] = link
        connection.handler = { [unowned self] event in self.handle(event, of: id) }
        return link
    }

    private func handle(_ event: StreamConnection.Event, of id: UInt64) {
        guard let link = links[id] else { return }
        switch event {
        case .connected: connected(id)
        case .received(let bytes): receive(bytes, on: id)
        case .peerFinished:
            link.close()
            closed(id, nil)
        case .closed(let error): closed(id, error)
        case .drained: break
        }
    }

    private func handle(_ event: WebSocketConnection.Event, of id: UInt64) {
        switch event {
        case .connected: connected(id)
        case .text(let text): receive(message: Array(text.utf8), on: id)
        case .binary(let bytes): receive(message: bytes, on: id)
        case .closed(let error): closed(id, error)
        }
    }

    private func connected(_ id: UInt64) {
        guard let link = links[id] else { return }
        links[id]?.isConnected = true
        links[id]?.waiting = []
        for bytes in link.waiting where !link.send(bytes) { fail(link.target, nil) }
    }

    private func closed(_ id: UInt64, _ error: IOError?) {
        guard let link = links.removeValue(forKey: id) else { return }
        accepted.closed(id)
        if !link.isConnected {
            handlers.failure(TransportTarget(transport: link.transport, remote: link.remote), error?.reason)
        }
        handlers.closed(link.target, error?.reason)
    }

    // MARK: Receiving on connections

    private func localEndpoint(of link: SignalingLink) -> Endpoint {
        let address = link.local?.address ?? localAddress(toward: link.remote)
        return Endpoint(address, ports[link.transport] ?? 0)
    }

    /// Takes one whole message: a WebSocket needs no framing of ours (RFC 7118 §4.2).
    private func receive(message bytes: [UInt8], on id: UInt64) {
        guard let link = links[id] else { return }
        guard bytes.count > 4 else { return handlers.signOfLife(link.target, nil) }
        handlers.message(bytes, link.target, localEndpoint(of: link))
    }

    private func receive(_ bytes: [UInt8], on id: UInt64) {
        links[id]?.framer.receive(bytes)
        while let link = links[id] {
            let output: SIPStreamFramer.Output?
            do throws(SIPStreamError) {
                output = try links[id]?.framer.next()
            } catch {
                // The stream cannot be read on: what follows has no beginning (RFC 3261 §18.3).
                link.close()
                return closed(id, nil)
            }
            guard let output else { return }
            switch output {
            case .message(let message):
                accepted.receivedMessage(on: id, at: loop.now)
                handlers.parsed(message, link.target, localEndpoint(of: link))
            case .malformed(let error): handlers.malformed(error, link.target)
            case .ping:
                // RFC 5626 §4.4.1.
                _ = link.send([13, 10])
            case .pong: handlers.signOfLife(link.target, nil)
            }
        }
    }
}
