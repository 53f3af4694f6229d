internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookRTP
internal import OffhookSDP

/// Handshakes, and by what way a packet leaves.
extension CallMedia {
    func perform(_ outcome: MediaTransport.Outcome, _ line: MediaLine, core: inout EngineCore) {
        switch outcome {
        case .send(let bytes, let isControl):
            sendHandshake(bytes, line.transport, isControl: isControl, core: &core)
        case .secured:
            events.append(.mediaSecured)
            // What was encoded before the keys were there went nowhere.
            if line.kind == .video, plan.video?.sends == true { core.output(.encodeKeyFrame(call, channel)) }
        case .securityFailed(.timedOut) where line.kind == .video:
            // No picture flows, in the clear least of all; the sound goes on.
            core.output(.log("no keys for video: the far end does not answer the handshake", call))
        case .securityFailed(let error):
            events.append(.mediaSecurityFailed("\(error)"))
        }
    }

    func sendHandshake(
        _ bytes: [UInt8], _ transport: MediaTransport, isControl: Bool, core: inout EngineCore
    ) {
        guard bytes.count <= PacketBuffer.capacity else { return }
        if let connectivity, connectivity.governs(transport.ports), connectivity.remote(of: transport.ports) == nil {
            return transport.keep(bytes, isControl: isControl)
        }
        let packet = core.pool.take()
        packet.assign(bytes)
        forward(packet, transport, isControl: isControl, core: &core)
    }

    /// Sends what of the handshakes has waited for a way, now that there may be one.
    func sendWaiting(core: inout EngineCore) {
        for line in lines where line.session.pathRoundTrip == nil {
            line.session.pathRoundTrip = connectivity?.roundTrip(of: line.transport.ports)
        }
        for transport in transports {
            transport.pathFound(roundTrip: connectivity?.roundTrip(of: transport.ports), at: core.now)
            guard transport.hasWaiting, connectivity?.remote(of: transport.ports) != nil else { continue }
            for datagram in transport.takeWaiting() {
                sendHandshake(datagram.bytes, transport, isControl: datagram.isControl, core: &core)
            }
        }
    }

    func send(
        _ packet: PacketBuffer, _ transport: MediaTransport, isControl: Bool, core: inout EngineCore
    ) {
        guard transport.protect(packet, isControl: isControl) else { return core.pool.give(packet) }
        forward(packet, transport, isControl: isControl, core: &core)
    }

    /// Sends a packet as it is: by the way ICE found, or to where signalling said.
    func forward(
        _ packet: PacketBuffer, _ transport: MediaTransport, isControl: Bool, core: inout EngineCore
    ) {
        if let connectivity, connectivity.governs(transport.ports) {
            let isControl = isControl && !transport.isMultiplexed
            guard connectivity.send(packet, transport.ports, isControl: isControl, core: &core) else {
                return core.pool.give(packet)
            }
        } else if let way = transport.way(isControl: isControl) {
            core.output(.sendMedia(packet, from: way.socket, to: way.destination))
        } else {
            core.pool.give(packet)
        }
    }

}
