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
            guard let address = RelayAddress(parsing: relay.uri), address.isDatagram else {
                log(.warning, "The TURN server “\(relay.uri)” is passed over: only turn:host[:port] over UDP is used.")
                continue
            }
            for endpoint in await endpoints(of: address.server, defaultPort: 3478) {
                settings.relayServers.append(
                    ICESettings.Relay(endpoint: endpoint, username: relay.username, password: relay.password))
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

/// The parts of a TURN URI (RFC 7065): `turn:host[:port][?transport=udp]`.
struct RelayAddress {
    var server: String
    var isDatagram: Bool

    init?(parsing text: String) {
        var rest = text[...]
        if rest.hasPrefix("turn:") {
            rest = rest.dropFirst(5)
        } else if rest.contains("//") || rest.hasPrefix("turns:") {
            return nil
        }
        let parts = rest.split(separator: "?", maxSplits: 1)
        guard let host = parts.first, !host.isEmpty else { return nil }
        server = String(host)
        isDatagram = parts.count < 2 || parts[1].lowercased() == "transport=udp"
    }
}
