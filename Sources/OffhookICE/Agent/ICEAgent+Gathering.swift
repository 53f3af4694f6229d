package import OffhookBasics

// Local candidates (RFC 8445 §5.1).
extension ICEAgent {
    /// Names a UDP socket of the caller's and its local address. One socket serves one component.
    package mutating func addLocalHost(
        _ endpoint: Endpoint, socket: SocketID, component: ICEComponentID, at now: Instant, actions: inout [ICEAction]
    ) {
        guard let index = index(of: component.stream), streams[index].components.contains(component.component),
            !sockets.contains(where: { $0.id == socket })
        else { return }
        let local = LocalSocket(id: socket, endpoint: endpoint, component: component)
        sockets.append(local)
        let earlier = streams[index].localCandidates.count {
            $0.candidate.kind == .host && $0.candidate.component == component.component
                && $0.candidate.endpoint.address.isVersion4 == endpoint.address.isVersion4
        }
        // The families take turns, IPv6 first, so that one broken family costs little (RFC 8421 §4).
        let preference = UInt16(max(65_535 - 2 * earlier - (endpoint.address.isVersion4 ? 1 : 0), 0))
        let candidate = ICECandidate(
            foundation: foundation(.host, base: endpoint.address), component: component.component,
            priority: ICECandidate.priority(
                kind: .host, localPreference: preference, component: component.component),
            endpoint: endpoint, kind: .host)
        add(LocalCandidate(candidate: candidate, base: .socket(socket)), to: index, at: now, actions: &actions)
        if hasStartedGathering { queueServers(for: local, at: now) }
        settle(at: now, actions: &actions)
    }

    /// Names a connection to a TURN server over TCP or TLS, to allocate by. Its bytes come to `receiveStream`.
    package mutating func addTURNStream(
        _ server: TURNServer, localEndpoint: Endpoint, socket: SocketID, component: ICEComponentID, at now: Instant,
        actions: inout [ICEAction]
    ) {
        guard let index = index(of: component.stream), streams[index].components.contains(component.component),
            !relays.contains(where: { $0.socket == socket })
        else { return }
        let local = LocalSocket(id: socket, endpoint: localEndpoint, component: component)
        var server = server
        server.transport = .stream
        queueRelay(server, for: local)
        openGathering(at: now)
        settle(at: now, actions: &actions)
    }

    /// Asks the servers, once all sockets have been added; `gatheringComplete` follows.
    package mutating func gather(at now: Instant, actions: inout [ICEAction]) {
        guard !hasStartedGathering else { return }
        hasStartedGathering = true
        openGathering(at: now)
        for socket in sockets { queueServers(for: socket, at: now) }
        settle(at: now, actions: &actions)
    }

    /// Whether a candidate is one that the far side may know of and check.
    func isTold(_ candidate: ICECandidate) -> Bool {
        candidate.kind == .relayed || !configuration.relayOnly
    }

    private mutating func openGathering(at now: Instant) {
        isGatheringComplete = false
        gatheringDeadline = now + configuration.gatheringTimeout
    }

    private mutating func queueServers(for socket: LocalSocket, at now: Instant) {
        // A lite agent has host candidates only (RFC 8445 §5.2).
        guard !configuration.isLite else { return }
        let isVersion4 = socket.endpoint.address.isVersion4
        if !configuration.relayOnly {
            for server in configuration.stunServers where server.address.isVersion4 == isVersion4 {
                gatherQueue.append(.reflexive(socket.id, server))
            }
        }
        var asked: Set<Endpoint> = []
        for server in configuration.turnServers
        where server.transport == .udp && server.endpoint.address.isVersion4 == isVersion4 {
            // One allocation fits between a socket and a server (RFC 8656 §2.2).
            if asked.insert(server.endpoint).inserted { queueRelay(server, for: socket) }
        }
        if !gatherQueue.isEmpty { openGathering(at: now) }
    }

    private mutating func queueRelay(_ server: TURNServer, for socket: LocalSocket) {
        let id = number()
        relays.append(
            Relay(
                id: id, socket: socket.id, component: socket.component, localEndpoint: socket.endpoint,
                client: TURNClient(
                    server: server, seed: random.next(), authenticator: authenticator,
                    initialTimeout: configuration.initialTimeout)))
        gatherQueue.append(.relay(id))
    }

    /// Starts one transaction with a server.
    mutating func start(_ task: GatherTask, at now: Instant, actions: inout [ICEAction]) {
        switch task {
        case .reflexive(let socket, let server):
            let id = STUNTransactionID(random: &random)
            let bytes = STUNMessage(.request, .binding, transactionID: id).bytes(authenticator: authenticator)
            transactions.append(
                ICETransaction(
                    id: id, purpose: .reflexive(socket), bytes: bytes, base: .socket(socket), destination: server,
                    key: nil, role: role, usesCandidate: false,
                    retransmission: STUNRetransmission(
                        initialTimeout: configuration.initialTimeout, requestCount: configuration.requestCount,
                        at: now)))
            actions.append(.send(bytes, from: socket, to: server))
        case .relay(let id):
            guard let index = relays.firstIndex(where: { $0.id == id }) else { return }
            var turnActions: [TURNAction] = []
            relays[index].client.allocate(at: now, actions: &turnActions)
            perform(turnActions, of: id, at: now, actions: &actions)
        }
    }

    /// A STUN or TURN server told how it sees a socket.
    mutating func learnReflexive(
        _ mapped: Endpoint, of socket: SocketID, from server: Endpoint, at now: Instant, actions: inout [ICEAction]
    ) {
        guard let local = sockets.first(where: { $0.id == socket }), let index = index(of: local.component.stream),
            let host = streams[index].localCandidates.first(where: {
                $0.base == .socket(socket) && $0.candidate.kind == .host
            })
        else { return }
        // The same address again tells the far side nothing (RFC 8445 §5.1.3).
        guard
            !streams[index].localCandidates.contains(where: {
                $0.base == .socket(socket) && $0.candidate.endpoint.withoutScope == mapped
            })
        else { return }
        let candidate = ICECandidate(
            foundation: foundation(.serverReflexive, base: local.endpoint.address, server: server.address),
            component: local.component.component,
            priority: ICECandidate.priority(
                kind: .serverReflexive, localPreference: host.candidate.localPreference,
                component: local.component.component),
            endpoint: mapped, kind: .serverReflexive, related: local.endpoint.withoutScope)
        add(LocalCandidate(candidate: candidate, base: .socket(socket)), to: index, at: now, actions: &actions)
        reflexiveBindings.append(
            ReflexiveBinding(
                socket: socket, server: server, component: local.component,
                refreshAt: now + Self.keepAliveInterval))
    }

    private mutating func learnRelayed(
        _ relayed: Endpoint, mapped: Endpoint?, of relay: Relay, at now: Instant, actions: inout [ICEAction]
    ) {
        guard let index = index(of: relay.component.stream) else { return }
        let host = streams[index].localCandidates.first {
            $0.base == .socket(relay.socket) && $0.candidate.kind == .host
        }
        // Of two relays the one reached by UDP is better: no line blocks what is behind a lost packet.
        let preference = host?.candidate.localPreference ?? 0x3FFF
        let server = relay.client.server
        let candidate = ICECandidate(
            foundation: foundation(.relayed, base: relayed.address, server: server.endpoint.address),
            component: relay.component.component,
            priority: ICECandidate.priority(
                kind: .relayed, localPreference: preference, component: relay.component.component),
            endpoint: relayed, kind: .relayed,
            // Where our addresses are to stay unknown, so is this one (RFC 8445 §5.1.1.4, RFC 8828 §3).
            related: configuration.relayOnly
                ? Endpoint(Self.unspecified(like: relayed.address), 0) : mapped ?? relay.localEndpoint.withoutScope)
        if let mapped, server.transport == .udp, !configuration.relayOnly {
            learnReflexive(mapped, of: relay.socket, from: server.endpoint, at: now, actions: &actions)
        }
        add(LocalCandidate(candidate: candidate, base: .relay(relay.id)), to: index, at: now, actions: &actions)
    }

    private static func unspecified(like address: IPAddress) -> IPAddress {
        address.isVersion4 ? IPAddress(version4: 0) : IPAddress(version6High: 0, low: 0)
    }

    private mutating func add(
        _ local: LocalCandidate, to index: Int, at now: Instant, actions: inout [ICEAction]
    ) {
        streams[index].localCandidates.append(local)
        if isTold(local.candidate) { actions.append(.gathered(local.candidate, streams[index].id)) }
        if local.formsPairs { formPairs(of: index, at: now, actions: &actions) }
    }

    /// Equal for candidates that are likely to fare alike (RFC 8445 §5.1.1.3).
    private mutating func foundation(
        _ kind: ICECandidate.Kind, base: IPAddress, server: IPAddress? = nil
    ) -> String {
        let key = "\(kind.rawValue) \(base) \(server.map(\.description) ?? "")"
        let number = foundationNumbers[key] ?? foundationNumbers.count + 1
        foundationNumbers[key] = number
        return String(number)
    }

    mutating func completeGathering(at now: Instant, actions: inout [ICEAction]) {
        guard let gatheringDeadline, !isGatheringComplete else { return }
        let isWaiting =
            !gatherQueue.isEmpty || relays.contains { $0.client.isAllocating }
            || transactions.contains { if case .reflexive = $0.purpose { true } else { false } }
        guard !isWaiting || now >= gatheringDeadline else { return }
        isGatheringComplete = true
        self.gatheringDeadline = nil
        actions.append(.gatheringComplete)
    }

    // MARK: Relays

    mutating func perform(
        _ turnActions: [TURNAction], of id: Int, at now: Instant, actions: inout [ICEAction]
    ) {
        for action in turnActions {
            guard let relay = relays.first(where: { $0.id == id }) else { return }
            switch action {
            case .send(let bytes):
                actions.append(.send(bytes, from: relay.socket, to: relay.client.server.endpoint))
            case .allocated(let relayed, let mapped):
                learnRelayed(relayed, mapped: mapped, of: relay, at: now, actions: &actions)
            case .failed:
                relays.removeAll { $0.id == id }
                drop([.relay(id)], at: now, actions: &actions)
            case .permissionRefused(let address):
                refuse(address, by: id)
            case .received(let bytes, let peer):
                let isSTUN = bytes.withUnsafeBytes { STUNMessage.isSTUN($0.bytes) }
                if isSTUN {
                    bytes.withUnsafeBytes {
                        receiveSTUN($0.bytes, by: .relay(id), from: peer, at: now, actions: &actions)
                    }
                } else {
                    actions.append(.relayedMedia(bytes, relay.component))
                }
            }
        }
    }

    /// The server will not reach this address, so no pair with it can work.
    private mutating func refuse(_ address: IPAddress, by id: Int) {
        for index in streams.indices {
            for pair in streams[index].checkList.pairs.indices
            where streams[index].checkList[pair].base == .relay(id)
                && streams[index].checkList[pair].destination.address == address
            {
                streams[index].checkList[pair].state = .failed
                streams[index].checkList[pair].isNominating = false
            }
        }
    }
}

extension ICECandidate {
    /// The middle part of a priority (RFC 8445 §5.1.2.1).
    var localPreference: UInt16 {
        UInt16(truncatingIfNeeded: priority >> 8)
    }
}
