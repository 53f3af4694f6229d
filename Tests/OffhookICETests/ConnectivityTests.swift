import OffhookBasics
import OffhookICE
import Testing

@Suite struct `ICE connectivity` {
    typealias Kind = NetworkAddressTranslator.Kind

    static let pairs: [(Kind?, Kind?)] = {
        let kinds: [Kind?] = [nil] + Kind.allCases.map(Optional.init)
        return kinds.flatMap { first in kinds.map { (first, $0) } }
    }()

    @Test(arguments: pairs) func `connects through every pair of NATs, by a relay where it must`(
        first: Kind?, second: Kind?
    ) throws {
        var simulation = Simulation.behind(first, second, relay: true)

        simulation.connect()

        #expect(simulation.isConnected)
        let isRelayed = try (0...1).map { try #require(simulation.selected($0)) }.contains { pair in
            pair.local.kind == .relayed || pair.remote.kind == .relayed
        }
        let isHard = { (one: Kind?, other: Kind?) in
            one == .symmetric && (other == .symmetric || other == .portRestricted)
        }
        #expect(isRelayed == (isHard(first, second) || isHard(second, first)))
        try simulation.checkMedia()
    }

    @Test func `fails without a relay between two symmetric NATs`() {
        var simulation = Simulation.behind(.symmetric, .symmetric)

        simulation.connect(for: .seconds(120))

        for side in simulation.sides {
            #expect(side.actions.contains(.failed(side.streams[0])))
            #expect(side.agent.route(for: ICEComponentID(side.streams[0])) == nil)
        }
    }

    @Test func `connects whichever datagram gets lost`() throws {
        var whole = Simulation.behind(.portRestricted, .addressRestricted, relay: true)
        whole.connect()
        let count = whole.sentCount
        #expect(whole.isConnected)

        for number in 1...count {
            var simulation = Simulation.behind(.portRestricted, .addressRestricted, relay: true)
            simulation.lostNumber = number

            simulation.connect()

            #expect(simulation.isConnected, "without datagram \(number)")
            try simulation.checkMedia()
        }
    }

    @Test func `connects by a relay whichever datagram gets lost`() throws {
        var whole = Simulation.behind(.symmetric, .symmetric, relay: true)
        whole.connect()
        #expect(whole.isConnected)

        for number in 1...whole.sentCount {
            var simulation = Simulation.behind(.symmetric, .symmetric, relay: true)
            simulation.lostNumber = number

            simulation.connect()

            #expect(simulation.isConnected, "without datagram \(number)")
            try simulation.checkMedia()
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `connects over a path that loses every fourth datagram`(
        seed: UInt64
    ) {
        var simulation = Simulation.behind(.portRestricted, .fullCone, relay: true, seed: seed)
        simulation.lossPerThousand = 250

        simulation.connect()

        #expect(simulation.isConnected, "seed \(seed)")
    }

    @Test func `connects within seconds over a path that loses every fourth datagram`() {
        let times = (1...60 as ClosedRange<UInt64>).map { seed in
            var simulation = Simulation(seed: seed)
            simulation.lossPerThousand = 250
            simulation.addStream()
            simulation.gather()
            simulation.exchange()
            let start = simulation.now
            simulation.run(for: .seconds(60)) { $0.isConnected }
            return simulation.now - start
        }.sorted()

        #expect(times[30] < .milliseconds(1200), "\(times)")
        #expect(times[54] < .milliseconds(2500), "\(times)")
        #expect(times[59] < .milliseconds(5000), "\(times)")
    }

    @Test func `a request is repeated so often more before the time between two of them doubles`() {
        var retransmission = STUNRetransmission(requestCount: 6, steadyCount: 3, at: .zero)
        var times: [Int64] = []
        while case .resend = retransmission.step(at: retransmission.deadline) {
            times.append(retransmission.lastSentAt.nanoseconds / 1_000_000)
        }
        #expect(times == [500, 1000, 1500, 2000, 3000])
        #expect(retransmission.deadline == .zero + .milliseconds(3000 + 8000))
    }

    @Test func `both sides select the same pair`() throws {
        var simulation = Simulation.behind(.fullCone, .portRestricted)

        simulation.connect()

        let first = try #require(simulation.selected(0))
        let second = try #require(simulation.selected(1))
        #expect(first.local.endpoint == second.remote.endpoint)
        #expect(first.remote.endpoint == second.local.endpoint)
    }

    @Test func `connects both components where RTCP has a port of its own`() {
        var simulation = Simulation.behind(nil, .fullCone)
        simulation.addStream(components: [1, 2])
        simulation.gather()
        simulation.exchange()

        simulation.run(for: .seconds(20)) { $0.isConnected }

        #expect(simulation.isConnected)
        for side in simulation.sides {
            #expect(side.agent.route(for: ICEComponentID(side.streams[0], 1)) != nil)
            #expect(side.agent.route(for: ICEComponentID(side.streams[0], 2)) != nil)
        }
    }

    @Test func `connects several streams of a session, no two new transactions closer than the pacing`() {
        var simulation = Simulation.behind(.fullCone, nil)
        for _ in 0..<3 { simulation.addStream() }
        simulation.gather()
        simulation.exchange()

        simulation.run(for: .seconds(20)) { $0.isConnected }

        #expect(simulation.isConnected)
    }

    @Test func `starts no more than one check each 50 milliseconds`() throws {
        var simulation = Simulation(ICEConfiguration())
        simulation.addStream()
        let stream = simulation.sides[0].streams[0]
        simulation.step(0) { agent, now, actions in agent.gather(at: now, actions: &actions) }
        let description = ICERemoteDescription(
            credentials: ICECredentials(userFragment: "abcd", password: "abcdefghijklmnopqrstuvwx"),
            candidates: (1...20).map { .host("192.0.2.200", UInt16($0), foundation: "\($0)") })
        simulation.step(0) { agent, now, actions in
            agent.setRemote(description, for: stream, at: now, actions: &actions)
        }

        simulation.run(for: .milliseconds(420))

        #expect(simulation.sides[0].actions.count { if case .send = $0 { true } else { false } } == 9)
    }

    @Test(arguments: [ICERole.controlling, .controlled]) func `sides that both claim a role settle who has it`(
        role: ICERole
    ) throws {
        var simulation = Simulation(roles: (role, role), seed: 5)

        simulation.connect()

        #expect(simulation.isConnected)
        #expect(simulation.sides[0].agent.role == simulation.sides[1].agent.role.opposite)
        #expect(simulation.sides.flatMap(\.actions).contains(.roleChanged(role.opposite)))
    }

    @Test func `a lite side only answers, and is selected by its full peer`() throws {
        var lite = ICEConfiguration()
        lite.isLite = true
        var simulation = Simulation(ICEConfiguration(), lite, roles: (.controlled, .controlling))
        simulation.sides[0].translator = NetworkAddressTranslator(
            .symmetric, address: Endpoint("198.51.100.1:1").address)
        simulation.addStream()
        simulation.gather()
        simulation.describe(0, to: 1)
        simulation.describe(1, to: 0, isLite: true)

        simulation.run(for: .seconds(20)) { $0.isConnected }

        #expect(simulation.isConnected)
        #expect(simulation.sides[0].agent.role == .controlling)
        #expect(simulation.sides[1].agent.role == .controlled)
        let requests = simulation.sides[1].actions.count { action in
            guard case .send(let bytes, _, _) = action else { return false }
            return (try? STUNMessage(bytes))?.messageClass == .request
        }
        #expect(requests == 0)
        try simulation.checkMedia()
    }

    @Test func `two lite sides use their best pair unchecked`() throws {
        var lite = ICEConfiguration()
        lite.isLite = true
        var simulation = Simulation(lite, lite)
        simulation.addStream()
        simulation.gather()
        simulation.describe(0, to: 1, isLite: true)
        simulation.describe(1, to: 0, isLite: true)

        #expect(simulation.isConnected)
        try simulation.checkMedia()
    }

    @Test func `checks that come before the answer are answered, and count once it is here`() throws {
        var simulation = Simulation()
        simulation.addStream()
        simulation.gather()
        simulation.describe(0, to: 1)
        simulation.run(for: .milliseconds(300))
        let answers = simulation.sides[0].actions.count { action in
            guard case .send(let bytes, _, _) = action else { return false }
            return (try? STUNMessage(bytes))?.messageClass == .success
        }

        // No candidates in the answer: only the early check tells where the far side is.
        simulation.describe(1, to: 0, candidates: false)
        simulation.run(for: .seconds(5)) { $0.isConnected }

        #expect(answers >= 1)
        #expect(simulation.isConnected)
        #expect(simulation.selected(0)?.remote.kind == .peerReflexive)
    }

    @Test(arguments: 0..<12) func `connects in every order of trickled candidates and descriptions`(order: Int) {
        var simulation = Simulation.behind(.portRestricted, .addressRestricted, relay: true, seed: UInt64(order))
        simulation.addStream()
        let sendsFirst = order % 2
        simulation.describe(sendsFirst, to: 1 - sendsFirst, isComplete: false)
        if order % 3 == 0 { simulation.describe(1 - sendsFirst, to: sendsFirst, isComplete: false) }
        for side in 0...1 {
            simulation.step(side) { agent, now, actions in agent.gather(at: now, actions: &actions) }
        }
        if order % 3 == 1 { simulation.describe(1 - sendsFirst, to: sendsFirst, isComplete: false) }

        // Some orders tell everything backwards and twice, once all is gathered.
        if order >= 6 { simulation.run(for: .seconds(2)) }
        var told = [0, 0]
        var random = SeededRandom(seed: UInt64(order))
        for _ in 0..<100 {
            let side = Int.random(in: 0...1, using: &random)
            let gathered = simulation.gathered(side)
            if told[side] < gathered.count {
                let candidate = order >= 6 ? gathered.reversed()[told[side]] : gathered[told[side]]
                simulation.trickle(candidate, to: 1 - side)
                if order >= 9 { simulation.trickle(candidate, to: 1 - side) }
                told[side] += 1
            }
            simulation.run(for: .milliseconds(30))
        }
        if order % 3 == 2 { simulation.describe(1 - sendsFirst, to: sendsFirst, isComplete: false) }
        simulation.run(for: .seconds(30)) { $0.isConnected }

        #expect(simulation.isConnected)
    }

    @Test func `only relayed candidates are told and used where addresses are to stay unknown`() throws {
        var simulation = Simulation.behind(.fullCone, .fullCone, relay: true) { $0.relayOnly = true }

        simulation.connect()

        #expect(simulation.isConnected)
        for side in 0...1 {
            #expect(simulation.gathered(side).map(\.kind) == [.relayed])
            #expect(simulation.gathered(side)[0].related?.address.isUnspecified == true)
            let pair = try #require(simulation.selected(side))
            #expect(pair.local.kind == .relayed)
        }
        try simulation.checkMedia()
    }

    @Test func `a sleeping STUN server holds gathering up for five seconds at most`() {
        var configuration = ICEConfiguration()
        configuration.stunServers = [Simulation.server]
        var simulation = Simulation(configuration)
        simulation.addStream()
        simulation.step(0) { agent, now, actions in agent.gather(at: now, actions: &actions) }

        simulation.run(for: .milliseconds(4_900))
        let isEarly = simulation.sides[0].agent.isGatheringComplete
        simulation.run(for: .milliseconds(200))

        #expect(!isEarly)
        #expect(simulation.sides[0].actions.count { $0 == .gatheringComplete } == 1)
    }

    @Test func `connects by TURN over connections where UDP does not get out`() throws {
        var configuration = ICEConfiguration()
        configuration.relayOnly = true
        var simulation = Simulation(configuration, configuration)
        simulation.server = RelayServer(endpoint: Simulation.server)
        simulation.addStream()
        for side in 0...1 { simulation.addTURNStream(side: side) }
        simulation.gather()
        simulation.exchange()

        simulation.run(for: .seconds(20)) { $0.isConnected }

        #expect(simulation.isConnected)
        #expect(try #require(simulation.selected(0)).local.kind == .relayed)
        try simulation.checkMedia()
        simulation.run(for: .seconds(5))
        try simulation.checkMedia()
    }

    @Test func `prefers IPv6, and falls back to IPv4 where it does not get through`() throws {
        for isBroken in [false, true] {
            var simulation = Simulation()
            let ends = [Endpoint("[2001:db8::1]:6000"), Endpoint("[2001:db8::2]:6001")]
            simulation.addStream()
            for side in 0...1 {
                simulation.addSocket(ends[side], side: side, ICEComponentID(simulation.sides[side].streams[0]))
            }
            if isBroken { simulation.blocked = (ends[0], ends[1]) }
            simulation.gather()
            simulation.exchange()

            simulation.run(for: .seconds(20)) { $0.isConnected }

            #expect(simulation.isConnected)
            #expect(simulation.selected(0)?.remote.endpoint.address.isVersion4 == isBroken)
            try simulation.checkMedia()
        }
    }

    @Test func `link-local candidates are checked by the scope of our own`() throws {
        var actions: [ICEAction] = []
        var agent = ICEAgent(
            configuration: ICEConfiguration(), role: .controlling, seed: 3, authenticator: Authenticator())
        let stream = agent.addStream()
        let scoped = IPAddress(version6High: 0xFE80 << 48, low: 1, scope: 3)
        agent.addLocalHost(
            Endpoint(scoped, 4000), socket: SocketID(1), component: ICEComponentID(stream), at: .zero, actions: &actions
        )
        let description = ICERemoteDescription(
            credentials: ICECredentials(userFragment: "abcd", password: "abcdefghijklmnopqrstuvwx"),
            candidates: [.host("[fe80::2]", 5000), .host("[2001:db8::2]", 5000)])

        agent.setRemote(description, for: stream, at: .zero, actions: &actions)
        agent.handle(timeoutAt: .zero + .milliseconds(60), actions: &actions)

        let destinations = actions.compactMap { action in
            if case .send(_, _, let destination) = action { destination } else { nil }
        }
        let expected = Endpoint(IPAddress(version6High: 0xFE80 << 48, low: 2, scope: 3), 5000)
        #expect(destinations == [expected])
    }
}
