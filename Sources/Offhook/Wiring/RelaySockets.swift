internal import OffhookBasics
internal import OffhookEngine
internal import OffhookIO

/// The connections to TURN servers that calls have by TCP and TLS.
///
/// It belongs to the loop's thread.
final class RelaySockets {
    /// What the connections bring; called on the loop's thread.
    struct Handlers {
        var connected: (_ relay: RelayConnectionID, _ local: Endpoint) -> Void
        var received: (_ relay: RelayConnectionID, _ bytes: [UInt8]) -> Void
        /// The reason is a sentence for a person; nil where the server merely ended it.
        var closed: (_ relay: RelayConnectionID, _ reason: String?) -> Void
    }

    /// Waiting media is worth little: with more than this in the way, new packets are dropped, as a full queue would.
    private static let queueLimit = 64 * 1024

    private let loop: EventLoop
    private let bindAddress: IPAddress
    private let security: SignalingSecurity
    private let handlers: Handlers
    private var connections: [RelayConnectionID: StreamConnection] = [:]

    init(loop: EventLoop, bindAddress: IPAddress, security: SignalingSecurity, handlers: Handlers) {
        self.loop = loop
        self.bindAddress = bindAddress
        self.security = security
        self.handlers = handlers
    }

    func connect(_ id: RelayConnectionID, to server: ICESettings.Relay) {
        var options = StreamConnection.Options()
        options.queueLimit = Self.queueLimit
        options.connectTimeout = .seconds(5)
        if !bindAddress.isUnspecified { options.localAddress = bindAddress }
        do throws(IOError) {
            if case .tls(let name) = server.transport {
                options.security = .tls(try security.clientContext(), peerName: .host(name))
            }
            connections[id] = StreamConnection(on: loop, connectingTo: server.endpoint, options: options) {
                [unowned self] event in self.handle(event, of: id)
            }
        } catch {
            // Not from inside the step that asked for it.
            let reason = error.reason
            loop.schedule(at: loop.now) { [self] in handlers.closed(id, reason) }
        }
    }

    private func handle(_ event: StreamConnection.Event, of id: RelayConnectionID) {
        switch event {
        case .connected:
            guard let local = connections[id]?.localEndpoint else { return }
            handlers.connected(id, local)
        case .received(let bytes):
            handlers.received(id, bytes)
        case .peerFinished:
            // A TURN server that sends no more is of no use.
            connections.removeValue(forKey: id)?.close()
            handlers.closed(id, nil)
        case .closed(let error):
            connections[id] = nil
            handlers.closed(id, error?.reason)
        case .drained:
            break
        }
    }

    func send(_ bytes: [UInt8], along id: RelayConnectionID) {
        connections[id]?.send(bytes)
    }

    func close(_ id: RelayConnectionID) {
        // What gives the allocation back still goes out.
        connections.removeValue(forKey: id)?.close()
    }

    func closeAll() {
        for connection in connections.values { connection.close() }
        connections = [:]
    }
}
