internal import OffhookBasics
internal import OffhookICE

/// The connections that a call has to TURN servers by TCP and TLS: one for each component and server, since an
/// allocation belongs to its connection (RFC 8656 §3.1).
struct RelayConnections {
    struct Connection {
        let server: ICESettings.Relay
        let component: ICEComponentID
        /// What the component's packets would come to without a relay.
        let socket: MediaSocketID
        var isOpen = false
    }

    private let servers: [ICESettings.Relay]
    private var connections: [RelayConnectionID: Connection] = [:]

    init(servers: [ICESettings.Relay]) {
        self.servers = servers
    }

    /// Whether some of them are neither up nor given up.
    var areConnecting: Bool { connections.values.contains { !$0.isOpen } }

    func isOpen(_ id: RelayConnectionID) -> Bool { connections[id]?.isOpen == true }

    func connection(of component: ICEComponentID) -> Connection? {
        connections.values.first { $0.component == component }
    }

    /// Begins to connect for a component that has none yet.
    mutating func connect(
        _ component: ICEComponentID, socket: MediaSocketID, version4: Bool, call: CallHandle, core: inout EngineCore
    ) {
        for server in servers where server.endpoint.address.isVersion4 == version4 {
            let id = core.connect(to: server, for: call)
            connections[id] = Connection(server: server, component: component, socket: socket)
        }
    }

    /// A connection is up; nil where it is not ours any more.
    mutating func opened(_ id: RelayConnectionID) -> Connection? {
        connections[id]?.isOpen = true
        return connections[id]
    }

    /// A connection is gone; the result tells whether it had been up.
    mutating func closed(_ id: RelayConnectionID, core: inout EngineCore) -> Bool? {
        guard let connection = connections.removeValue(forKey: id) else { return nil }
        core.close(id)
        return connection.isOpen
    }

    mutating func close(core: inout EngineCore, where isUnwanted: (ICEComponentID) -> Bool) {
        for (id, connection) in connections where isUnwanted(connection.component) {
            connections[id] = nil
            core.close(id)
        }
    }
}

extension TURNServer {
    init(_ relay: ICESettings.Relay) {
        self.init(endpoint: relay.endpoint, username: relay.username, password: relay.password)
        if relay.transport != .udp { transport = .stream }
    }
}
