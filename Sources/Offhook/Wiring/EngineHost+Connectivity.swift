internal import OffhookBasics
internal import OffhookEngine
internal import OffhookIO

/// Where media finds its way: an account's STUN and TURN servers, their names looked up.
extension EngineHost {
    /// What the engine needs to do ICE for an account; nil where it does none.
    func iceSettings(for user: UserConfiguration) async -> ICESettings? {
        let connectivity = user.connectivity ?? configuration.connectivity
        guard connectivity.ice != .off else { return nil }
        var settings = ICESettings()
        settings.isLite = connectivity.ice == .lite
        settings.isRelayOnly = connectivity.ice == .relay
        for server in connectivity.stunServers {
            settings.stunServers += await endpoints(of: server, defaultPort: 3478)
        }
        for relay in connectivity.relayServers {
            guard let address = RelayAddress(parsing: relay.uri) else {
                log(
                    .warning,
                    "The TURN server “\(relay.uri)” is passed over: write turn:host[:port][?transport=udp|tcp] or "
                        + "turns:host[:port].")
                continue
            }
            for endpoint in await endpoints(of: address.server, defaultPort: address.defaultPort) {
                settings.relayServers.append(
                    ICESettings.Relay(
                        endpoint: endpoint, transport: address.transport, username: relay.username,
                        password: relay.password))
            }
        }
        return settings
    }

    private func endpoints(of server: String, defaultPort: UInt16) async -> [Endpoint] {
        if let endpoint = Endpoint(parsing: server) { return [endpoint] }
        if let address = IPAddress(parsing: server) { return [Endpoint(address, defaultPort)] }
        let parts = server.split(separator: ":", maxSplits: 1)
        let port = parts.count == 2 ? UInt16(parts[1]) ?? defaultPort : defaultPort
        let host = String(parts.first ?? "")
        let result: Result<[IPAddress], IOError> = await withCheckedContinuation { continuation in
            do throws(IOError) {
                try nameResolver().addresses(of: host) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        switch result {
        case .success(let addresses):
            return addresses.prefix(2).map { Endpoint($0, port) }
        case .failure(let error):
            log(.warning, error.reason)
            return []
        }
    }
}

/// The parts of a TURN URI (RFC 7065): `turn:host[:port][?transport=udp]`, `turns:host[:port]`.
struct RelayAddress {
    var server: String
    var transport: ICESettings.Relay.Transport
    var defaultPort: UInt16

    /// Nil for what is no such URI, and for TURN over DTLS, which no server here speaks.
    init?(parsing text: String) {
        var rest = text[...]
        let isSecure = rest.hasPrefix("turns:")
        if isSecure || rest.hasPrefix("turn:") {
            rest = rest.dropFirst(isSecure ? 6 : 5)
        } else if rest.contains("//") || rest.hasPrefix("stun") {
            return nil
        }
        let parts = rest.split(separator: "?", maxSplits: 1)
        guard let host = parts.first, !host.isEmpty else { return nil }
        server = String(host)
        defaultPort = isSecure ? 5349 : 3478
        switch (parts.count < 2 ? nil : parts[1].lowercased(), isSecure) {
        case (nil, false), ("transport=udp", false): transport = .udp
        case ("transport=tcp", false): transport = .tcp
        case (nil, true), ("transport=tcp", true): transport = .tls(name: Self.name(of: server))
        default: return nil
        }
    }

    /// The host without its port, which a certificate must bear.
    private static func name(of server: String) -> String {
        if let endpoint = Endpoint(parsing: server) { return endpoint.address.description }
        if IPAddress(parsing: server) != nil { return server }
        return String(server.split(separator: ":", maxSplits: 1).first ?? "")
    }
}

extension EngineHost {
    func makeRelaySockets(_ bindAddress: IPAddress, _ security: SignalingSecurity) -> RelaySockets {
        RelaySockets(
            loop: loop, bindAddress: bindAddress, security: security,
            handlers: RelaySockets.Handlers(
                connected: { [unowned self] relay, local in
                    assumeIsolated { host in
                        let now = host.loop.now
                        host.step { $0.relayConnected(relay, local: local, at: now) }
                    }
                },
                received: { [unowned self] relay, bytes in
                    assumeIsolated { host in
                        let now = host.loop.now
                        host.step { $0.relayReceived(relay, bytes, at: now) }
                    }
                },
                closed: { [unowned self] relay, reason in
                    assumeIsolated { host in
                        if let reason { host.log(.warning, "A TURN server cannot be used: \(reason)") }
                        let now = host.loop.now
                        host.step { $0.relayClosed(relay, at: now) }
                    }
                }))
    }
}
