internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookICE
internal import OffhookSDP

/// ICE of one call: finds a way for each media transport and keeps watch over it (RFC 8445, RFC 8839).
final class CallConnectivity {
    /// What ICE has to tell the call.
    enum News {
        case gathered
        case candidateFound
        /// Every transport has a way that works.
        case connected
        /// No way works, or the far end consents no more (RFC 7675).
        case lost
    }

    private var agent: ICEAgent
    private let call: CallHandle
    private var streams: [MediaSocketID: ICEStreamID] = [:]
    private var relays: RelayConnections
    private var connected: Set<ICEStreamID> = []
    /// Transports on which the far end does no ICE.
    private var refused: Set<MediaSocketID> = []
    private var actions: [ICEAction] = []
    private var news: [News] = []
    private var relayedMedia: [(packet: PacketBuffer, socket: MediaSocketID, source: Endpoint)] = []
    private let isLite: Bool
    /// Whether the far end does ICE with us; until then, and where it does not, packets go to the signalled addresses.
    private(set) var isAgreed = false

    init(call: CallHandle, settings: ICESettings, isOfferer: Bool, seed: UInt64) {
        self.call = call
        var configuration = ICEConfiguration()
        configuration.stunServers = settings.stunServers
        configuration.turnServers = settings.relayServers.filter { $0.transport == .udp }.map(TURNServer.init)
        relays = RelayConnections(servers: settings.isLite ? [] : settings.relayServers.filter { $0.transport != .udp })
        configuration.relayOnly = settings.isRelayOnly
        configuration.isLite = settings.isLite
        configuration.pacing = .milliseconds(20)
        isLite = settings.isLite
        agent = ICEAgent(
            configuration: configuration, role: isOfferer && !settings.isLite ? .controlling : .controlled, seed: seed,
            authenticator: OpenSSLAuthenticator())
    }

    /// Whether packets of this transport go by what ICE finds.
    func governs(_ ports: MediaPorts) -> Bool {
        isAgreed && streams[ports.rtp] != nil
    }

    // MARK: Transports

    /// Begins to find ways for a transport's sockets.
    func add(_ ports: MediaPorts, address: IPAddress, core: inout EngineCore) {
        guard streams[ports.rtp] == nil, !refused.contains(ports.rtp) else { return }
        let stream = agent.addStream(components: [ICEComponentID.rtp, ICEComponentID.rtcp])
        streams[ports.rtp] = stream
        agent.addLocalHost(
            Endpoint(address, ports.rtpPort), socket: SocketID(ports.rtp.number), component: ICEComponentID(stream),
            at: core.now, actions: &actions)
        agent.addLocalHost(
            Endpoint(address, ports.rtcpPort), socket: SocketID(ports.rtcp.number),
            component: ICEComponentID(stream, ICEComponentID.rtcp), at: core.now, actions: &actions)
        relays.connect(
            ICEComponentID(stream), socket: ports.rtp, version4: address.isVersion4, call: call, core: &core)
        relays.connect(
            ICEComponentID(stream, ICEComponentID.rtcp), socket: ports.rtcp, version4: address.isVersion4, call: call,
            core: &core)
        agent.gather(at: core.now, actions: &actions)
        take(core: &core)
    }

    var isGathered: Bool { agent.isGatheringComplete && !relays.areConnecting }

    /// What our description says of a transport.
    func description(of ports: MediaPorts) -> ICEDescription? {
        guard let stream = streams[ports.rtp], let credentials = agent.localCredentials(of: stream) else { return nil }
        return ICEDescription(
            userFragment: credentials.userFragment, password: credentials.password,
            // RFC 8445 §10, RFC 8840 §4.1.
            options: isLite ? ["ice2"] : ["ice2", "trickle"], isLite: isLite,
            candidates: agent.localCandidates(of: stream).map(ICECandidateAttribute.init),
            isComplete: isGathered)
    }

    /// Takes what the far end's description says of a transport; nil where it does no ICE there.
    func agree(_ remote: ICEDescription?, on ports: MediaPorts, isMultiplexed: Bool, core: inout EngineCore) {
        guard let stream = streams[ports.rtp] else { return }
        guard let remote, !remote.isMismatch else {
            agent.removeStream(stream, at: core.now, actions: &actions)
            streams[ports.rtp] = nil
            refused.insert(ports.rtp)
            take(core: &core)
            return relays.close(core: &core) { $0.stream == stream }
        }
        isAgreed = true
        if isMultiplexed {
            agent.multiplex(stream, at: core.now, actions: &actions)
            take(core: &core)
            relays.close(core: &core) { $0.stream == stream && $0.component != ICEComponentID.rtp }
        }
        let candidates = remote.candidates.compactMap(ICECandidate.init)
        agent.setRemote(
            ICERemoteDescription(
                credentials: ICECredentials(userFragment: remote.userFragment, password: remote.password),
                candidates: isMultiplexed ? candidates.filter { $0.component == ICEComponentID.rtp } : candidates,
                isLite: remote.isLite, isComplete: remote.isComplete),
            for: stream, at: core.now, actions: &actions)
        take(core: &core)
    }

    /// Looks at what the far end offers for a transport before it is answered: credentials other than those of before restart ICE,
    /// and the answer has new ones of ours (RFC 8839 §4.4.2.1).
    func prepareAnswer(to offered: ICEDescription, on ports: MediaPorts, core: inout EngineCore) {
        guard let stream = streams[ports.rtp], let known = agent.remoteCredentials(of: stream),
            known != ICECredentials(userFragment: offered.userFragment, password: offered.password)
        else { return }
        agent.restart(stream, at: core.now, actions: &actions)
        connected.remove(stream)
        take(core: &core)
    }

    /// Takes candidates that came after the description; those of before a restart are passed over (RFC 8840 §4.4).
    func add(_ candidates: TrickleFragment.Stream, to ports: MediaPorts, core: inout EngineCore) {
        guard let stream = streams[ports.rtp],
            agent.remoteCredentials(of: stream)
                == ICECredentials(userFragment: candidates.userFragment, password: candidates.password)
        else { return }
        for candidate in candidates.candidates.lazy.compactMap(ICECandidate.init) {
            agent.addRemoteCandidate(candidate, for: stream, at: core.now, actions: &actions)
        }
        if candidates.isComplete { agent.endRemoteCandidates(for: stream, at: core.now, actions: &actions) }
        take(core: &core)
    }

    func restart(core: inout EngineCore) {
        for stream in Set(streams.values) { agent.restart(stream, at: core.now, actions: &actions) }
        connected = []
        take(core: &core)
    }

    /// The far end refused an offer of ours: a restart that was in it did not happen.
    func abandonRestart(core: inout EngineCore) {
        for stream in Set(streams.values) { agent.abandonRestart(stream, at: core.now, actions: &actions) }
        take(core: &core)
    }

    /// A transport that is used no more, such as that of a line that joined a bundle.
    func remove(_ ports: MediaPorts, core: inout EngineCore) {
        guard let stream = streams.removeValue(forKey: ports.rtp) else { return }
        agent.removeStream(stream, at: core.now, actions: &actions)
        connected.remove(stream)
        take(core: &core)
        relays.close(core: &core) { $0.stream == stream }
    }

    // MARK: Connections to TURN servers

    func relayConnected(_ id: RelayConnectionID, local: Endpoint, core: inout EngineCore) {
        guard let connection = relays.opened(id) else { return }
        agent.addTURNStream(
            TURNServer(connection.server), localEndpoint: local, socket: SocketID(id.number),
            component: connection.component, at: core.now, actions: &actions)
        take(core: &core)
    }

    func relayReceived(_ id: RelayConnectionID, _ bytes: [UInt8], core: inout EngineCore) {
        bytes.withUnsafeBytes {
            agent.receiveStream($0.bytes, on: SocketID(id.number), at: core.now, actions: &actions)
        }
        take(core: &core)
    }

    func relayClosed(_ id: RelayConnectionID, core: inout EngineCore) {
        guard let wasOpen = relays.closed(id, core: &core) else { return }
        if wasOpen { agent.networkChanged(lost: [SocketID(id.number)], at: core.now, actions: &actions) }
        take(core: &core)
        if isGathered { news.append(.gathered) }
    }

    /// Media that connections to TURN servers have brought, with the sockets that it would have come to without them.
    func takeRelayedMedia() -> [(packet: PacketBuffer, socket: MediaSocketID, source: Endpoint)] {
        guard !relayedMedia.isEmpty else { return [] }
        defer { relayedMedia = [] }
        return relayedMedia
    }

    // MARK: Packets

    /// What a datagram is to ICE.
    enum Receipt {
        /// ICE's own, and dealt with.
        case handled
        /// Somebody's packet, which came by one of our relays or straight.
        case packet(isRelayed: Bool)
    }

    /// Shows a datagram to ICE; a relayed packet is cut out of its wrapping.
    func receive(_ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint, core: inout EngineCore)
        -> Receipt
    {
        let receipt = agent.receive(
            packet.bytes, on: SocketID(socket.number), from: source, at: core.now, actions: &actions)
        take(core: &core)
        switch receipt {
        case .handled: return .handled
        case .notSTUN: return .packet(isRelayed: false)
        case .relayedMedia(let range, _):
            let payload = packet.bytes.extracting(range).withUnsafeBytes { Array($0) }
            packet.assign(payload)
            return .packet(isRelayed: true)
        }
    }

    /// Whether the far end told of a candidate with this port, or has sent an authenticated check from one.
    func knowsPort(of source: Endpoint, on socket: MediaSocketID) -> Bool {
        agent.knowsPort(of: source, on: SocketID(socket.number))
    }

    /// Sends a packet of a transport by whatever way there is; false where there is none yet, or none any more.
    func send(_ packet: PacketBuffer, _ ports: MediaPorts, isControl: Bool, core: inout EngineCore) -> Bool {
        guard let stream = streams[ports.rtp] else { return false }
        let component = ICEComponentID(stream, isControl ? ICEComponentID.rtcp : ICEComponentID.rtp)
        switch agent.route(for: component) {
        case .direct(let socket, let destination):
            core.output(.sendMedia(packet, from: MediaSocketID(number: socket.rawValue), to: destination))
            return true
        case .relayed:
            let isSent = agent.sendMedia(packet.bytes, for: component, at: core.now, actions: &actions)
            if isSent { core.pool.give(packet) }
            take(core: &core)
            return isSent
        case nil:
            return false
        }
    }

    /// How long a check and its answer take on a transport's way; nil where there is none.
    func roundTrip(of ports: MediaPorts) -> Duration? {
        streams[ports.rtp].flatMap { agent.roundTrip(for: ICEComponentID($0)) }
    }

    /// Where a transport's packets go, and whether a relay is in between.
    func remote(of ports: MediaPorts) -> (endpoint: Endpoint, isRelayed: Bool)? {
        guard let stream = streams[ports.rtp] else { return nil }
        switch agent.route(for: ICEComponentID(stream)) {
        case .direct(_, let destination): return (destination, false)
        case .relayed(_, _, let peer): return (peer, true)
        case nil: return nil
        }
    }

    // MARK: Time

    var nextDeadline: Instant? { agent.nextDeadline }

    func handleTimeout(core: inout EngineCore) {
        guard let deadline = agent.nextDeadline, deadline <= core.now else { return }
        agent.handle(timeoutAt: core.now, actions: &actions)
        take(core: &core)
    }

    func close(core: inout EngineCore) {
        agent.close(at: core.now, actions: &actions)
        take(core: &core)
        relays.close(core: &core) { _ in true }
        for media in takeRelayedMedia() { core.pool.give(media.packet) }
    }

    func takeNews() -> [News] {
        guard !news.isEmpty else { return [] }
        defer { news = [] }
        return news
    }

    private func take(core: inout EngineCore) {
        for action in actions {
            switch action {
            case .send(let bytes, let socket, let destination):
                let relay = RelayConnectionID(number: socket.rawValue)
                if relays.isOpen(relay) {
                    core.output(.sendRelay(relay, bytes))
                    continue
                }
                guard bytes.count <= PacketBuffer.capacity else { continue }
                let packet = core.pool.take()
                packet.assign(bytes)
                core.output(.sendMedia(packet, from: MediaSocketID(number: socket.rawValue), to: destination))
            case .gatheringComplete:
                if isGathered { news.append(.gathered) }
            case .connected(let stream):
                connected.insert(stream)
                if connected.isSuperset(of: streams.values) { news.append(.connected) }
            case .failed(let stream):
                if streams.values.contains(stream) { news.append(.lost) }
            case .consentLost(let component):
                if streams.values.contains(component.stream) { news.append(.lost) }
            case .relayedMedia(let bytes, let component):
                guard let connection = relays.connection(of: component), bytes.count <= PacketBuffer.capacity else {
                    continue
                }
                let packet = core.pool.take()
                packet.assign(bytes)
                relayedMedia.append((packet, connection.socket, connection.server.endpoint))
            case .gathered:
                if news.last != .candidateFound { news.append(.candidateFound) }
            case .selected, .disconnected, .roleChanged, .restarted:
                break
            }
        }
        actions.removeAll(keepingCapacity: true)
    }
}

/// The hashes of STUN, by OpenSSL.
private struct OpenSSLAuthenticator: MessageAuthenticator {
    func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] {
        MessageAuthentication.hmacSHA1(key: key, message: message)
    }
    func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        MessageAuthentication.hmacSHA256(key: key, message: message)
    }
    func md5(_ message: [UInt8]) -> [UInt8] { MessageAuthentication.md5(message) }
    func sha256(_ message: [UInt8]) -> [UInt8] { MessageAuthentication.sha256(message) }
}

extension ICECandidateAttribute {
    fileprivate init(_ candidate: ICECandidate) {
        self.init(
            foundation: candidate.foundation, component: candidate.component, priority: candidate.priority,
            address: candidate.endpoint.address.description, port: candidate.endpoint.port,
            kind: candidate.kind.rawValue,
            relatedAddress: candidate.related?.address.description, relatedPort: candidate.related?.port)
    }
}

extension ICECandidate {
    fileprivate init?(_ line: ICECandidateAttribute) {
        self.init(
            foundation: line.foundation, component: line.component, transport: line.transport, priority: line.priority,
            address: line.address, port: line.port, kind: line.kind, relatedAddress: line.relatedAddress,
            relatedPort: line.relatedPort)
    }
}
