internal import OffhookBasics
internal import OffhookIO
internal import OffhookSIP

/// The sockets that SIP messages travel on: one for UDP, one that accepts TCP, and the connections.
///
/// It belongs to the loop's thread.
final class SignalingSockets {
    /// What the sockets bring; called on the loop's thread.
    struct Handlers {
        var message: (_ bytes: [UInt8], _ source: TransportTarget, _ local: Endpoint) -> Void
        /// The same from a stream, where a message is parsed when its end is found.
        var parsed: (_ message: SIPMessage, _ source: TransportTarget, _ local: Endpoint) -> Void
        var malformed: (_ error: SIPParseError, _ source: TransportTarget) -> Void
        /// What was sent to this target did not arrive.
        var failure: (TransportTarget) -> Void
        var closed: (TransportTarget) -> Void
    }

    private struct Link {
        var connection: StreamConnection
        var transport: SIPTransport
        var framer = SIPStreamFramer()
        var isConnected: Bool
        /// What is to be sent once it is connected.
        var waiting: [[UInt8]] = []
    }

    private let loop: EventLoop
    private let bindAddress: IPAddress
    private let handlers: Handlers
    private var datagrams: UDPSocket?
    private var listener: StreamListener?
    private var links: [UInt64: Link] = [:]
    private(set) var ports: [SIPTransport: UInt16] = [:]

    /// Where messages can be sent to us.
    var endpoints: [SignalingTransport: Endpoint] {
        Dictionary(
            uniqueKeysWithValues: ports.map { (SignalingTransport($0.key), Endpoint(bindAddress, $0.value)) })
    }

    init(loop: EventLoop, bindAddress: IPAddress, handlers: Handlers) {
        self.loop = loop
        self.bindAddress = bindAddress
        self.handlers = handlers
    }

    /// Opens what the transports need. A port that is in use is an error; with port 0 TCP takes UDP's number.
    func open(_ transports: Set<SignalingTransport>, port: UInt16) throws(IOError) {
        var port = port
        if transports.contains(.udp) {
            var options = UDPSocket.Options()
            options.reportsLocalAddress = bindAddress.isUnspecified
            options.receiveBufferSize = 1 << 20
            let socket = try UDPSocket(
                on: loop, boundTo: Endpoint(bindAddress, port), options: options,
                reception: .datagrams { [unowned self] bytes, source, local in
                    self.receive(bytes, from: source, local: local)
                })
            socket.errorHandler = { [unowned self] destination, _ in
                guard let destination else { return }
                self.handlers.failure(TransportTarget(transport: .udp, remote: destination))
            }
            datagrams = socket
            port = socket.localEndpoint.port
            ports[.udp] = port
        }
        if transports.contains(.tcp) {
            let listener = try StreamListener(on: loop, boundTo: Endpoint(bindAddress, port)) {
                [unowned self] connection in
                self.adopt(connection, .tcp, isConnected: true)
            }
            self.listener = listener
            ports[.tcp] = listener.localEndpoint.port
        }
    }

    func close() {
        datagrams?.close()
        listener?.close()
        for link in links.values { link.connection.close() }
        links = [:]
    }

    /// Our address as packets to `remote` bear it.
    func localAddress(toward remote: Endpoint) -> IPAddress {
        guard bindAddress.isUnspecified else { return bindAddress }
        return InterfaceAddress.toward(remote) ?? bindAddress
    }

    /// Sends a message. What does not go out at once and for good is told by `failure` later.
    func send(_ bytes: [UInt8], to target: TransportTarget) {
        switch target.transport {
        case .udp:
            // A full buffer loses the datagram like any network does; transactions repeat it.
            if case .failed? = datagrams?.send(bytes, to: target.remote) { fail(target) }
        case .tcp:
            guard let link = link(for: target) else { return fail(target) }
            if !link.isConnected {
                links[link.connection.id]?.waiting.append(bytes)
            } else if link.connection.send(bytes) != .accepted {
                fail(target)
            }
        case .tls, .webSocket, .secureWebSocket:
            fail(target)
        }
    }

    /// Tells a failure when the present event is over: the engine is at work now.
    private func fail(_ target: TransportTarget) {
        loop.schedule(at: loop.now) { [weak self] in self?.handlers.failure(target) }
    }

    private func receive(_ bytes: [UInt8], from source: Endpoint, local: IPAddress?) {
        // Keep-alives of peers behind NAT (RFC 5626 §3.5.1, RFC 3261 §7.5).
        guard bytes.count > 4 else { return }
        let address = local ?? localAddress(toward: source)
        let port = datagrams?.localEndpoint.port ?? 0
        handlers.message(bytes, TransportTarget(transport: .udp, remote: source), Endpoint(address, port))
    }

    // MARK: Connections

    /// The connection named, one to that end, or a new one.
    private func link(for target: TransportTarget) -> Link? {
        if let connection = target.connection { return links[connection] }
        if let link = links.values.first(where: {
            $0.transport == target.transport && $0.connection.remoteEndpoint == target.remote
        }) {
            return link
        }
        var options = StreamConnection.Options()
        if !bindAddress.isUnspecified { options.localAddress = bindAddress }
        let connection = StreamConnection(on: loop, connectingTo: target.remote, options: options) { _ in }
        adopt(connection, target.transport, isConnected: false)
        return links[connection.id]
    }

    private func adopt(_ connection: StreamConnection, _ transport: SIPTransport, isConnected: Bool) {
        links[connection.id] = Link(connection: connection, transport: transport, isConnected: isConnected)
        let id = connection.id
        connection.handler = { [unowned self] event in self.handle(event, of: id) }
    }

    private func handle(_ event: StreamConnection.Event, of id: UInt64) {
        guard let link = links[id] else { return }
        switch event {
        case .connected:
            links[id]?.isConnected = true
            links[id]?.waiting = []
            for bytes in link.waiting where link.connection.send(bytes) != .accepted {
                fail(TransportTarget(transport: link.transport, remote: link.connection.remoteEndpoint))
            }
        case .received(let bytes):
            receive(bytes, on: id)
        case .peerFinished:
            link.connection.close()
            closed(id)
        case .closed:
            closed(id)
        case .drained:
            break
        }
    }

    private func closed(_ id: UInt64) {
        guard let link = links.removeValue(forKey: id) else { return }
        let remote = link.connection.remoteEndpoint
        if !link.isConnected { handlers.failure(TransportTarget(transport: link.transport, remote: remote)) }
        handlers.closed(TransportTarget(transport: link.transport, remote: remote, connection: id))
    }

    private func receive(_ bytes: [UInt8], on id: UInt64) {
        links[id]?.framer.receive(bytes)
        while let link = links[id] {
            let output: SIPStreamFramer.Output?
            do throws(SIPStreamError) {
                output = try links[id]?.framer.next()
            } catch {
                // The stream cannot be read on: what follows has no beginning (RFC 3261 §18.3).
                link.connection.close()
                return closed(id)
            }
            guard let output else { return }
            let source = TransportTarget(
                transport: link.transport, remote: link.connection.remoteEndpoint, connection: id)
            let local =
                link.connection.localEndpoint
                ?? Endpoint(localAddress(toward: source.remote), ports[link.transport] ?? 0)
            switch output {
            case .message(let message):
                handlers.parsed(message, source, local)
            case .malformed(let error):
                handlers.malformed(error, source)
            case .ping:
                // RFC 5626 §4.4.1.
                link.connection.send([13, 10])
            case .pong:
                break
            }
        }
    }
}
