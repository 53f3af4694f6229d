import OffhookBasics
import OffhookICE
import Testing

@Suite struct `ICE in mid-session` {
    // MARK: Consent (RFC 7675)

    @Test func `asks for consent every four to six seconds, and stays connected while it is given`() {
        var simulation = Simulation()
        simulation.connect()
        let before = simulation.sides[0].actions.count

        simulation.run(for: .seconds(60))

        let checks = simulation.sides[0].actions.dropFirst(before).count { action in
            guard case .send(let bytes, _, _) = action else { return false }
            return (try? STUNMessage(bytes))?.messageClass == .request
        }
        #expect((10...15).contains(checks))
        #expect(!simulation.sides[0].actions.contains(.disconnected(simulation.sides[0].streams[0])))
    }

    @Test func `stops sending 30 seconds after the last consent, and says so`() {
        var simulation = Simulation()
        simulation.connect()
        simulation.run(for: .seconds(20))
        simulation.sides[1].isCut = true
        let stream = simulation.sides[0].streams[0]

        simulation.run(for: .seconds(23))
        let wasDisconnected = simulation.sides[0].actions.contains(.disconnected(stream))
        let wasLost = simulation.sides[0].actions.contains(.consentLost(ICEComponentID(stream)))
        simulation.run(for: .seconds(8))

        #expect(wasDisconnected)
        #expect(!wasLost)
        #expect(simulation.sides[0].actions.contains(.consentLost(ICEComponentID(stream))))
        #expect(simulation.sides[0].agent.route(for: ICEComponentID(stream)) == nil)
        let isSent = simulation.sendMedia([0x80], from: 0)
        #expect(!isSent)

        simulation.run(for: .seconds(60))
        #expect(simulation.sides[0].actions.contains(.failed(stream)))
    }

    @Test func `a path that comes back within 30 seconds is connected again`() throws {
        var simulation = Simulation()
        simulation.connect()
        let stream = simulation.sides[0].streams[0]
        simulation.sides[1].isCut = true
        simulation.run(for: .seconds(20)) { $0.sides[0].actions.contains(.disconnected(stream)) }

        simulation.sides[1].isCut = false
        simulation.run(for: .seconds(10))

        #expect(
            simulation.sides[0].actions.last { $0 == .connected(stream) || $0 == .disconnected(stream) }
                == .connected(stream))
        try simulation.checkMedia()
    }

    @Test func `a nomination after consent was lost brings the media back`() throws {
        var simulation = Simulation()
        simulation.connect()
        let streams = simulation.sides.map { $0.streams[0] }
        simulation.sides[0].isCut = true
        simulation.run(for: .seconds(45)) {
            $0.sides[1].actions.contains(.consentLost(ICEComponentID(streams[1])))
                && $0.sides[0].actions.contains(.consentLost(ICEComponentID(streams[0])))
        }
        #expect(simulation.sides[1].agent.route(for: ICEComponentID(streams[1])) == nil)

        // The controlling side starts over; the controlled one keeps its credentials, and only answers.
        simulation.sides[0].isCut = false
        let pair = ICECandidate.host("192.0.2.2", 4_999)
        simulation.addSocket(Endpoint("192.0.2.2:4999"), side: 1, ICEComponentID(streams[1]))
        simulation.trickle(pair, to: 0)
        simulation.run(for: .seconds(10))

        #expect(simulation.selected(1)?.local.endpoint == pair.endpoint)
        try simulation.checkMedia()
    }

    @Test func `one lost consent check is no news`() {
        var simulation = Simulation()
        simulation.connect()
        simulation.lostNumber = simulation.sentCount + 1

        simulation.run(for: .seconds(30))

        #expect(!simulation.sides.contains { $0.actions.contains(.disconnected($0.streams[0])) })
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>) func `a path that loses every fourth datagram keeps consent`(
        seed: UInt64
    ) {
        var simulation = Simulation(seed: seed)
        simulation.connect()
        simulation.lossPerThousand = 250

        simulation.run(for: .seconds(1800))

        for side in simulation.sides {
            #expect(!side.actions.contains(.consentLost(ICEComponentID(side.streams[0]))), "seed \(seed)")
        }
    }

    // MARK: Changed paths

    @Test(arguments: [0, 1]) func `follows the far side when its NAT gives it a new address in mid-call`(
        rebound: Int
    ) throws {
        var simulation = Simulation.behind(.addressRestricted, .addressRestricted)
        simulation.connect()
        simulation.run(for: .seconds(10))
        let before = try #require(simulation.selected(1 - rebound))

        simulation.sides[rebound].translator?.forget()
        simulation.run(for: .seconds(20))

        let after = try #require(simulation.selected(1 - rebound))
        #expect(after.remote.kind == .peerReflexive)
        #expect(after.remote.endpoint != before.remote.endpoint)
        #expect(!simulation.sides.flatMap(\.actions).contains { if case .consentLost = $0 { true } else { false } })
        try simulation.checkMedia()
    }

    @Test func `the controlled side follows a nomination of the relay pair 20 seconds after the direct one died`()
        throws
    {
        var simulation = Simulation.behind(nil, nil, relay: true)
        simulation.connect()
        let host = try #require(simulation.selected(0))
        #expect(host.local.kind == .host)

        // The controlling side loses its direct path for good; only its way to the server is left.
        simulation.blocked = (host.local.endpoint, host.remote.endpoint)
        simulation.run(for: .seconds(28))

        let selected = try #require(simulation.selected(1))
        #expect(selected.local.kind == .relayed || selected.remote.kind == .relayed)
        #expect(!simulation.sides[1].actions.contains(.consentLost(ICEComponentID(simulation.sides[1].streams[0]))))
        try simulation.checkMedia()
    }

    @Test func `a socket that is lost takes its pairs along, and a new one connects after a restart`() throws {
        var simulation = Simulation()
        simulation.connect()
        let component = ICEComponentID(simulation.sides[0].streams[0])
        let stream = component.stream

        simulation.step(0) { agent, now, actions in
            agent.networkChanged(lost: [SocketID(1)], at: now, actions: &actions)
        }
        #expect(simulation.sides[0].agent.route(for: component) == nil)
        #expect(simulation.sides[0].actions.contains(.disconnected(stream)))
        simulation.addSocket(Endpoint("192.0.2.77:4077"), side: 0, component)
        simulation.step(0) { agent, now, actions in agent.restart(stream, at: now, actions: &actions) }
        simulation.exchange()
        simulation.run(for: .seconds(5))

        #expect(simulation.selected(0)?.local.endpoint == Endpoint("192.0.2.77:4077"))
        #expect(simulation.selected(1)?.remote.endpoint == Endpoint("192.0.2.77:4077"))
        try simulation.checkMedia()
    }

    @Test func `all streams have the same credentials, as what is offered as a bundle becomes one`() {
        var simulation = Simulation()
        simulation.step(0) { agent, _, _ in
            let first = agent.addStream()
            let second = agent.addStream()
            #expect(agent.localCredentials(of: first) == agent.localCredentials(of: second))
        }
    }

    // MARK: Restart (RFC 8445 §9)

    @Test func `a description with the same credentials restarts nothing`() throws {
        var simulation = Simulation()
        simulation.connect()
        let credentials = simulation.sides[1].agent.localCredentials(of: simulation.sides[1].streams[0])

        simulation.exchange()

        #expect(simulation.sides[1].agent.localCredentials(of: simulation.sides[1].streams[0]) == credentials)
        #expect(!simulation.sides[1].actions.contains(.restarted(simulation.sides[1].streams[0])))
    }

    @Test func `new credentials are answered with new ones, and media goes on meanwhile`() throws {
        var simulation = Simulation.behind(.portRestricted, .fullCone)
        simulation.connect()
        let streams = simulation.sides.map { $0.streams[0] }
        let old = simulation.sides.map { $0.agent.localCredentials(of: $0.streams[0]) }
        let selections = simulation.sides.map { $0.actions.count { if case .selected = $0 { true } else { false } } }

        simulation.step(0) { agent, now, actions in agent.restart(streams[0], at: now, actions: &actions) }
        try simulation.checkMedia()
        simulation.describe(0, to: 1)
        try simulation.checkMedia()
        let isRestarted = simulation.sides[1].actions.contains(.restarted(streams[1]))
        simulation.describe(1, to: 0)
        try simulation.checkMedia()
        simulation.run(for: .seconds(3))

        #expect(isRestarted)
        for side in 0...1 {
            let new = simulation.sides[side].agent.localCredentials(of: streams[side])
            #expect(new?.userFragment != old[side]?.userFragment)
            #expect(new?.password != old[side]?.password)
            let count = simulation.sides[side].actions.count { if case .selected = $0 { true } else { false } }
            #expect(count > selections[side])
            #expect(!simulation.sides[side].actions.contains(.disconnected(streams[side])))
        }
        try simulation.checkMedia()
        simulation.run(for: .seconds(60))
        try simulation.checkMedia()
    }

    @Test func `a second restart before the first is through keeps the pair that carries media`() throws {
        var simulation = Simulation()
        simulation.connect()
        let streams = simulation.sides.map { $0.streams[0] }
        var fragments: Set<String> = []

        for _ in 0..<3 {
            simulation.step(0) { agent, now, actions in agent.restart(streams[0], at: now, actions: &actions) }
            simulation.describe(0, to: 1)
            let credentials = try #require(simulation.sides[1].agent.localCredentials(of: streams[1]))
            fragments.insert(credentials.userFragment)
            try simulation.checkMedia()
        }
        simulation.describe(1, to: 0)
        simulation.run(for: .seconds(5))

        #expect(fragments.count == 3)
        try simulation.checkMedia()
    }

    @Test func `a restart that nobody answers leaves the old pair at work, with its consent`() throws {
        var simulation = Simulation()
        simulation.connect()
        let stream = simulation.sides[0].streams[0]

        simulation.step(0) { agent, now, actions in agent.restart(stream, at: now, actions: &actions) }
        simulation.run(for: .seconds(90))

        try simulation.checkMedia()
        #expect(!simulation.sides[0].actions.contains(.consentLost(ICEComponentID(stream))))
    }

    @Test func `a restart that the far side refused is taken back`() throws {
        var simulation = Simulation()
        simulation.connect()
        let stream = simulation.sides[0].streams[0]
        let credentials = simulation.sides[0].agent.localCredentials(of: stream)

        simulation.step(0) { agent, now, actions in agent.restart(stream, at: now, actions: &actions) }
        let restarted = simulation.sides[0].agent.localCredentials(of: stream)
        simulation.run(for: .seconds(1))
        simulation.step(0) { agent, now, actions in agent.abandonRestart(stream, at: now, actions: &actions) }
        simulation.exchange()
        simulation.run(for: .seconds(60))

        #expect(restarted != credentials)
        #expect(simulation.sides[0].agent.localCredentials(of: stream) == credentials)
        #expect(!simulation.sides[1].actions.contains(.restarted(simulation.sides[1].streams[0])))
        #expect(!simulation.sides.contains { $0.actions.contains(.disconnected($0.streams[0])) })
        try simulation.checkMedia()
    }

    // MARK: Peers of other kinds

    @Test func `of an aggressive peer's many nominations the best pair wins`() throws {
        var agent = ICEAgent(
            configuration: ICEConfiguration(), role: .controlled, seed: 3, authenticator: Authenticator())
        var actions: [ICEAction] = []
        let stream = agent.addStream()
        let socket = SocketID(1)
        agent.addLocalHost(
            Endpoint("192.0.2.1:4000"), socket: socket, component: ICEComponentID(stream), at: .zero, actions: &actions)
        let peer = ScriptedPeer(of: agent, stream: stream)
        let worse = Endpoint("192.0.2.9:5001")
        let better = Endpoint("192.0.2.9:5000")
        let candidates = [better, worse].enumerated().map { index, endpoint in
            ICECandidate(
                foundation: "\(index)", component: 1, priority: UInt32(2_000_000 - index), endpoint: endpoint,
                kind: .host)
        }
        agent.setRemote(
            ICERemoteDescription(credentials: peer.credentials, candidates: candidates), for: stream, at: .zero,
            actions: &actions)

        var now = Instant.zero + .milliseconds(10)
        for source in [worse, better, worse] {
            peer.check(&agent, from: source, on: socket, nominating: true, at: now, actions: &actions)
            for _ in 0..<4 {
                now = now + .milliseconds(60)
                agent.handle(timeoutAt: now, actions: &actions)
                peer.answer(&agent, on: socket, at: now, actions: &actions)
            }
        }

        #expect(agent.route(for: ICEComponentID(stream)) == .direct(socket, to: better))

        // Seconds later a pair that was never nominated before is a change of mind.
        now = now + .seconds(4)
        let third = Endpoint("192.0.2.9:5002")
        peer.check(&agent, from: third, on: socket, nominating: true, at: now, actions: &actions)
        now = now + .milliseconds(60)
        agent.handle(timeoutAt: now, actions: &actions)
        peer.answer(&agent, on: socket, at: now, actions: &actions)

        #expect(agent.route(for: ICEComponentID(stream)) == .direct(socket, to: third))
    }

    @Test func `names that nobody resolves, TCP and useless addresses are passed over`() {
        let name = ICECandidate(
            foundation: "1", component: 1, transport: "udp", priority: 2_113_937_151,
            address: "2f1c9d6e-0000-4000-8000-000000000001.local", port: 52_743, kind: "host")
        let reflexive = ICECandidate(
            foundation: "2", component: 1, transport: "udp", priority: 1_677_729_535, address: "198.51.100.20",
            port: 40_000,
            kind: "srflx", relatedAddress: "0.0.0.0", relatedPort: 0)
        let tcp = ICECandidate(
            foundation: "1", component: 1, transport: "tcp", priority: 1, address: "192.0.2.1", port: 9, kind: "host")
        let zero = ICECandidate(
            foundation: "1", component: 1, transport: "udp", priority: 1, address: "0.0.0.0", port: 9, kind: "host")

        #expect(name == nil)
        #expect(tcp == nil)
        #expect(zero == nil)
        #expect(reflexive?.endpoint == Endpoint("198.51.100.20:40000"))
    }

    @Test func `priorities are those of RFC 8445 §5.1.2.1`() {
        #expect(ICECandidate.priority(kind: .host, localPreference: 65_535, component: 1) == 2_130_706_431)
        #expect(ICECandidate.priority(kind: .serverReflexive, localPreference: 65_535, component: 1) == 1_694_498_815)
        #expect(ICECandidate.priority(kind: .relayed, localPreference: 65_535, component: 2) == 16_777_214)
    }
}
