package import OffhookBasics

/// One side of ICE for all data streams of a session (RFC 8445), with trickle (RFC 8838), consent (RFC 7675) and TURN.
///
/// Order of calls: `addStream`, `addLocalHost` for each socket, `gather`; `setRemote` whenever the far side's description
/// comes; `receive` for every datagram; `handle(timeoutAt:)` at `nextDeadline`. A full agent that talks to a lite one
/// becomes controlling whatever it was told.
package struct ICEAgent: Sendable {
    /// How long a consent check may be unanswered before another pair that works is preferred.
    static let doubt = Duration.milliseconds(1_500)
    /// Tr: the least that keeps a NAT's binding open (RFC 8445 §11).
    static let keepAliveInterval = Duration.seconds(15)
    /// Remote candidates of a stream, and checks that come early: more than any honest peer has.
    static let candidateLimit = 100
    static let earlyCheckLimit = 32

    package internal(set) var role: ICERole
    let configuration: ICEConfiguration
    let authenticator: any MessageAuthenticator
    var random: SeededRandom
    var tieBreaker: UInt64
    var streams: [ICEStream] = []
    var sockets: [LocalSocket] = []
    var relays: [Relay] = []
    var transactions: [ICETransaction] = []
    var reflexiveBindings: [ReflexiveBinding] = []
    var gatherQueue: [GatherTask] = []
    var hasStartedGathering = false
    var gatheringDeadline: Instant?
    /// Whether no more local candidates are expected.
    package internal(set) var isGatheringComplete = false
    var foundationNumbers: [String: Int] = [:]
    /// When the next new transaction may start.
    var nextPaceAt = Instant.zero
    /// Whose turn it is (RFC 8445 §6.1.4.2).
    var nextStreamIndex = 0
    var lastNumber = 0

    /// `seed` must come from the system's random source: credentials and transaction numbers follow from it.
    package init(
        configuration: ICEConfiguration, role: ICERole, seed: UInt64, authenticator: any MessageAuthenticator
    ) {
        self.configuration = configuration
        self.role = configuration.isLite ? .controlled : role
        self.authenticator = authenticator
        random = SeededRandom(seed: seed)
        tieBreaker = random.next()
    }

    // MARK: What is used

    /// Adds a data stream; `components` is `[1]` with rtcp-mux, `[1, 2]` without.
    ///
    /// All streams have the same credentials: streams that are offered as a bundle become one, and Janus, which knows
    /// nothing but bundles, takes what the last line says for all.
    package mutating func addStream(components: [UInt16] = [ICEComponentID.rtp]) -> ICEStreamID {
        let id = ICEStreamID(number())
        let local = streams.last?.local ?? ICECredentials(random: &random)
        streams.append(ICEStream(id: id, components: components, local: local))
        return id
    }

    /// Stops everything of a stream that is used no more; its sockets may be closed.
    package mutating func removeStream(_ stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]) {
        let unused = Set(sockets.filter { $0.component.stream == stream }.map(\.id))
        closeRelays(at: now, actions: &actions) { $0.component.stream == stream }
        forget(unused)
        streams.removeAll { $0.id == stream }
        transactions.removeAll { transaction in
            switch transaction.purpose {
            case .check(let id, _), .consent(let id, _): id == stream
            case .reflexive: false
            }
        }
        settle(at: now, actions: &actions)
    }

    /// Both sides agreed to carry RTCP with RTP (RFC 5761): the second component is given up.
    package mutating func multiplex(_ stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]) {
        guard let index = index(of: stream), streams[index].components.count > 1 else { return }
        let isControl = { (component: ICEComponentID) in
            component.stream == stream && component.component != ICEComponentID.rtp
        }
        let unused = Set(sockets.filter { isControl($0.component) }.map(\.id))
        closeRelays(at: now, actions: &actions) { isControl($0.component) }
        streams[index].multiplex()
        networkChanged(lost: unused, at: now, actions: &actions)
    }

    /// The sockets given are gone (an interface went down): their candidates, pairs and allocations go too.
    ///
    /// New sockets are added with `addLocalHost`; a peer that does not trickle needs a `restart` to learn of them.
    package mutating func networkChanged(
        lost lostSockets: Set<SocketID>, at now: Instant, actions: inout [ICEAction]
    ) {
        let lostRelays = relays.filter { lostSockets.contains($0.socket) }.map(\.id)
        relays.removeAll { lostSockets.contains($0.socket) }
        forget(lostSockets)
        let bases = Set(lostSockets.map(ICEBase.socket) + lostRelays.map(ICEBase.relay))
        drop(bases, at: now, actions: &actions)
        settle(at: now, actions: &actions)
    }

    /// Gives back TURN allocations and stops.
    package mutating func close(at now: Instant, actions: inout [ICEAction]) {
        closeRelays(at: now, actions: &actions) { _ in true }
        streams = []
        sockets = []
        transactions = []
        gatherQueue = []
        reflexiveBindings = []
    }

    // MARK: What is said to the far side

    package func localCredentials(of stream: ICEStreamID) -> ICECredentials? {
        index(of: stream).map { streams[$0].local }
    }

    /// Nil before the far side's description has come.
    package func remoteCredentials(of stream: ICEStreamID) -> ICECredentials? {
        index(of: stream).flatMap { streams[$0].remote }
    }

    /// Those gathered so far, most preferred first. After a restart the same ones hold.
    package func localCandidates(of stream: ICEStreamID) -> [ICECandidate] {
        guard let index = index(of: stream) else { return [] }
        return streams[index].localCandidates.map(\.candidate).filter(isTold)
            .sorted { ($0.component, $1.priority) < ($1.component, $0.priority) }
    }

    // MARK: Media

    /// Whether a port is that of one of the far side's candidates, told of or found by an authenticated check. A host with several
    /// addresses may send what is not STUN from another of them than its candidate's.
    package func knowsPort(of source: Endpoint, on socket: SocketID) -> Bool {
        guard let component = sockets.first(where: { $0.id == socket })?.component,
            let index = index(of: component.stream)
        else { return false }
        return streams[index].remoteCandidates.contains { $0.endpoint.port == source.port }
    }

    /// How media goes out now: by the selected pair, during a restart by the former one, before nomination by the best
    /// valid one. Nil where nothing may be sent.
    package func route(for component: ICEComponentID) -> ICERoute? {
        guard let index = index(of: component.stream) else { return nil }
        let stream = streams[index]
        if let selection = stream.selection(of: component.component) { return selection.pair.route }
        if let former = stream.former?.selections.first(where: { $0.component == component.component }) {
            return former.pair.route
        }
        guard let pair = stream.checkList.bestValid(component.component) else { return nil }
        return route(by: stream.checkList[pair].base, to: stream.checkList[pair].destination)
    }

    /// How long a check and its answer took on the way that media takes now; nil where there is none.
    package func roundTrip(for component: ICEComponentID) -> Duration? {
        guard let index = index(of: component.stream) else { return nil }
        let list = streams[index].checkList
        let selected = streams[index].selection(of: component.component).flatMap { list.index(of: $0.pairID) }
        return (selected ?? list.bestValid(component.component)).flatMap { list[$0].roundTrip }
    }

    /// Sends media by whatever route there is; false where there is none.
    package mutating func sendMedia(
        _ payload: RawSpan, for component: ICEComponentID, at now: Instant, actions: inout [ICEAction]
    ) -> Bool {
        switch route(for: component) {
        case .direct(let socket, let destination):
            actions.append(.send(payload.array, from: socket, to: destination))
            return true
        case .relayed(let socket, let server, let peer):
            guard
                let index = relays.firstIndex(where: {
                    $0.socket == socket && $0.client.server.endpoint == server && $0.component == component
                })
            else { return false }
            var turnActions: [TURNAction] = []
            relays[index].client.send(payload, to: peer, at: now, actions: &turnActions)
            perform(turnActions, of: relays[index].id, at: now, actions: &actions)
            return true
        case nil:
            return false
        }
    }

    func route(by base: ICEBase, to destination: Endpoint) -> ICERoute? {
        switch base {
        case .socket(let socket): return .direct(socket, to: destination)
        case .relay(let id):
            guard let relay = relays.first(where: { $0.id == id }) else { return nil }
            return .relayed(relay.socket, server: relay.client.server.endpoint, peer: destination)
        }
    }

    // MARK: Common ground

    func index(of stream: ICEStreamID) -> Int? {
        streams.firstIndex { $0.id == stream }
    }

    mutating func number() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Sends STUN from a base.
    mutating func send(
        _ bytes: [UInt8], by base: ICEBase, to destination: Endpoint, at now: Instant, actions: inout [ICEAction]
    ) {
        switch base {
        case .socket(let socket):
            actions.append(.send(bytes, from: socket, to: destination))
        case .relay(let id):
            guard let index = relays.firstIndex(where: { $0.id == id }) else { return }
            var turnActions: [TURNAction] = []
            bytes.withUnsafeBytes {
                relays[index].client.send($0.bytes, to: destination, at: now, actions: &turnActions)
            }
            perform(turnActions, of: id, at: now, actions: &actions)
        }
    }

    /// Goes on with whatever a change made possible. Every public method that changes something ends with it.
    mutating func settle(at now: Instant, actions: inout [ICEAction]) {
        nominate(at: now)
        pace(at: now, actions: &actions)
        completeGathering(at: now, actions: &actions)
        judge(at: now, actions: &actions)
    }

    private mutating func forget(_ unused: Set<SocketID>) {
        sockets.removeAll { unused.contains($0.id) }
        reflexiveBindings.removeAll { unused.contains($0.socket) }
        let lostRelays = Set(relays.filter { unused.contains($0.socket) }.map(\.id))
        gatherQueue.removeAll { task in
            switch task {
            case .reflexive(let socket, _): unused.contains(socket)
            case .relay(let id): lostRelays.contains(id)
            }
        }
        transactions.removeAll { transaction in
            if case .reflexive(let socket) = transaction.purpose { unused.contains(socket) } else { false }
        }
    }

    /// Candidates and pairs of these bases are no more.
    mutating func drop(_ bases: Set<ICEBase>, at now: Instant, actions: inout [ICEAction]) {
        transactions.removeAll { bases.contains($0.base) }
        for index in streams.indices {
            streams[index].localCandidates.removeAll { bases.contains($0.base) }
            streams[index].checkList.removeAll { bases.contains($0.base) }
            streams[index].paired = streams[index].paired.filter { !bases.contains($0.base) }
            streams[index].former?.selections.removeAll { bases.contains($0.base) }
            streams[index].former?.checkList.removeAll { bases.contains($0.base) }
            guard streams[index].selections.contains(where: { bases.contains($0.base) }) else { continue }
            streams[index].selections.removeAll { bases.contains($0.base) }
            streams[index].lastProgressAt = now
            if streams[index].status == .connected {
                streams[index].status = .disconnected
                actions.append(.disconnected(streams[index].id))
            }
        }
    }

    private mutating func closeRelays(
        at now: Instant, actions: inout [ICEAction], where isUnwanted: (Relay) -> Bool
    ) {
        for index in relays.indices where isUnwanted(relays[index]) {
            var turnActions: [TURNAction] = []
            relays[index].client.close(at: now, actions: &turnActions)
            // The release is sent once; if it is lost, the allocation ends by itself.
            for case .send(let bytes) in turnActions {
                actions.append(.send(bytes, from: relays[index].socket, to: relays[index].client.server.endpoint))
            }
        }
        relays.removeAll(where: isUnwanted)
    }
}
