internal import OffhookBasics
internal import OffhookRTP

/// What comes from the network: ICE's own, handshakes, and packets for the lines.
extension CallMedia {
    // MARK: Packets

    func receive(_ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint, core: inout EngineCore) {
        let users = lines.filter { $0.uses(socket) }
        let receipt =
            users.isEmpty ? .handled : connectivity?.receive(packet, on: socket, from: source, core: &core)
        switch receipt ?? .packet(isRelayed: false) {
        case .handled:
            core.pool.give(packet)
            sendWaiting(core: &core)
        case .packet(let isRelayed):
            deliver(packet, to: users, on: socket, from: source, isRelayed: isRelayed, core: &core)
        }
    }

    /// Gives a packet that is none of ICE's to the line that it is for.
    func deliver(
        _ packet: PacketBuffer, to users: [MediaLine], on socket: MediaSocketID, from source: Endpoint,
        isRelayed: Bool, core: inout EngineCore
    ) {
        guard let first = users.first else { return core.pool.give(packet) }
        let owns = first.ownTransport.ports.rtp == socket || first.ownTransport.ports.rtcp == socket
        let transport = owns ? first.ownTransport : first.transport
        // A relay lets through whom we have permitted, which is candidates alone (RFC 8656 §9).
        let arrival = transport.receive(
            packet, on: socket, from: source,
            isVouchedFor: isRelayed || connectivity?.knowsPort(of: source, on: socket) == true, at: core.now)
        switch arrival {
        case .rtp(let packet):
            let line = users.count > 1 ? line(of: packet, among: users) ?? first : first
            line.session.receiveRTP(packet, at: core.now, pool: &core.pool, actions: &actions)
            perform(line, core: &core)
        case .rtcp(let packet):
            // In a bundle each session finds what is its own by the sources.
            for line in users {
                line.session.receiveRTCP(packet.bytes, at: core.now, pool: &core.pool, actions: &actions)
                perform(line, core: &core)
            }
            // Sound goes both ways mostly, and so measures the path for pictures that only come.
            if let roundTrip = audio?.session.roundTrip { video?.session.pathRoundTrip = roundTrip }
            core.pool.give(packet)
        case .ignored(let packet):
            core.pool.give(packet)
            perform(first, core: &core)
        }
    }

    func line(of packet: PacketBuffer, among users: [MediaLine]) -> MediaLine? {
        guard let header = try? RTPHeader(parsing: packet.bytes) else { return nil }
        let kind = bundleSources.line(
            of: header.ssrc, named: users.first { $0.isIdentified(by: header, in: packet) }?.kind,
            fitting: users.filter { $0.receives(payloadType: header.payloadType) }.map(\.kind))
        return users.first { $0.kind == kind }
    }

    // MARK: Connections to TURN servers

    func relayConnected(_ relay: RelayConnectionID, local: Endpoint, core: inout EngineCore) {
        connectivity?.relayConnected(relay, local: local, core: &core)
    }

    func relayReceived(_ relay: RelayConnectionID, _ bytes: [UInt8], core: inout EngineCore) {
        guard let connectivity else { return }
        connectivity.relayReceived(relay, bytes, core: &core)
        sendWaiting(core: &core)
        for media in connectivity.takeRelayedMedia() {
            let users = lines.filter { $0.uses(media.socket) }
            deliver(media.packet, to: users, on: media.socket, from: media.source, isRelayed: true, core: &core)
        }
    }

    func relayClosed(_ relay: RelayConnectionID, core: inout EngineCore) {
        connectivity?.relayClosed(relay, core: &core)
    }
}
