import OffhookBasics
import OffhookICE
import Testing

@Suite struct `ICE and hostile input` {
    private let socket = SocketID(1)
    private let source = Endpoint("192.0.2.9:5000")

    private func makeAgent(
        remote: Bool = true, actions: inout [ICEAction]
    ) -> (agent: ICEAgent, stream: ICEStreamID, peer: ScriptedPeer) {
        var agent = ICEAgent(
            configuration: ICEConfiguration(), role: .controlled, seed: 8, authenticator: Authenticator())
        let stream = agent.addStream()
        agent.addLocalHost(
            Endpoint("192.0.2.1:4000"), socket: socket, component: ICEComponentID(stream), at: .zero, actions: &actions)
        let peer = ScriptedPeer(of: agent, stream: stream)
        if remote {
            agent.setRemote(
                ICERemoteDescription(credentials: peer.credentials), for: stream, at: .zero, actions: &actions)
        }
        actions = []
        return (agent, stream, peer)
    }

    private func errorCode(_ actions: [ICEAction]) throws -> Int? {
        guard case .send(let bytes, _, _) = actions.first else { return nil }
        return try STUNMessage(bytes).errorCode
    }

    private func receive(_ agent: inout ICEAgent, _ bytes: [UInt8], actions: inout [ICEAction]) -> ICEReceipt {
        bytes.withUnsafeBytes { agent.receive($0.bytes, on: socket, from: source, at: .zero, actions: &actions) }
    }

    @Test func `a keep-alive without attributes is taken and not answered`() {
        var actions: [ICEAction] = []
        var (agent, _, _) = makeAgent(actions: &actions)

        let receipt = receive(
            &agent, bytes(hexadecimal: "000100002112a442000102030405060708090a0b"), actions: &actions)

        #expect(receipt == .handled)
        #expect(actions.isEmpty)
    }

    @Test func `media and RTCP are left to the caller`() {
        var actions: [ICEAction] = []
        var (agent, _, _) = makeAgent(actions: &actions)

        #expect(receive(&agent, [0x80, 0, 0, 1] + [UInt8](repeating: 0, count: 160), actions: &actions) == .notSTUN)
        #expect(receive(&agent, [20, 254, 253, 0] + [UInt8](repeating: 0, count: 40), actions: &actions) == .notSTUN)
        #expect(receive(&agent, [], actions: &actions) == .notSTUN)
    }

    @Test func `a wrong password or name is refused with 401 and teaches nothing`() throws {
        var actions: [ICEAction] = []
        var (agent, stream, peer) = makeAgent(actions: &actions)
        let message = peer.request(number: 1, nominating: true)
        let forged = message.bytes(
            key: STUNKey(shortTerm: "wrongwrongwrongwrongwrong"), authenticator: Authenticator())

        _ = receive(&agent, forged, actions: &actions)

        #expect(try errorCode(actions) == 401)
        #expect(actions.count == 1)
        #expect(agent.route(for: ICEComponentID(stream)) == nil)
        #expect(agent.nextDeadline.map { $0 > .zero + .seconds(30) } ?? true)
    }

    @Test func `half a credential is refused with 400`() throws {
        var actions: [ICEAction] = []
        var (agent, _, peer) = makeAgent(actions: &actions)

        _ = receive(
            &agent, peer.request(number: 1).bytes(authenticator: Authenticator()), actions: &actions)

        #expect(try errorCode(actions) == 400)
    }

    @Test func `an attribute that must be understood and is not is named in a 420`() throws {
        var actions: [ICEAction] = []
        var (agent, _, peer) = makeAgent(actions: &actions)

        let request = peer.request(number: 1, adding: [.other(type: 0x7ABC, value: [])])
        _ = receive(&agent, peer.signed(request), actions: &actions)

        guard case .send(let bytes, _, _) = actions.first else {
            Issue.record("no answer")
            return
        }
        #expect(try STUNMessage(bytes).errorCode == 420)
        #expect(try STUNMessage(bytes).attributes.contains(.unknownAttributes([0x7ABC])))
    }

    @Test func `an answer that is not signed by the far side changes nothing`() throws {
        var actions: [ICEAction] = []
        var (agent, stream, _) = makeAgent(actions: &actions)
        agent.addRemoteCandidate(.host("192.0.2.9", 5000), for: stream, at: .zero, actions: &actions)
        guard case .send(let request, _, _) = actions.first else {
            Issue.record("no check")
            return
        }
        let id = try STUNMessage(request).transactionID

        for messageClass in [STUNClass.success, .error] {
            let attributes: [STUNAttribute] =
                messageClass == .success
                ? [.xorMappedAddress(Endpoint("192.0.2.1:4000"))] : [.errorCode(487, reason: "Role Conflict")]
            let forged = STUNMessage(messageClass, .binding, transactionID: id, attributes: attributes)
            _ = receive(&agent, forged.bytes(authenticator: Authenticator()), actions: &actions)
        }

        #expect(agent.route(for: ICEComponentID(stream)) == nil)
        #expect(agent.role == .controlled)
    }

    @Test func `thousands of candidates and checks leave a bounded number of pairs`() throws {
        var actions: [ICEAction] = []
        var (agent, stream, peer) = makeAgent(actions: &actions)

        for number in 1...2000 as ClosedRange<UInt64> {
            let port = UInt16(10_000 + number)
            agent.addRemoteCandidate(
                .host("198.51.100.1", port, foundation: "\(number)"), for: stream, at: .zero, actions: &actions)
            let bytes = peer.signed(peer.request(number: number))
            _ = bytes.withUnsafeBytes {
                agent.receive(
                    $0.bytes, on: socket, from: Endpoint(source.address, port &+ 20_000), at: .zero, actions: &actions)
            }
        }
        var now = Instant.zero
        actions = []
        var checked: Set<Endpoint> = []
        while let deadline = agent.nextDeadline, deadline < .zero + .seconds(300) {
            now = max(now, deadline)
            agent.handle(timeoutAt: now, actions: &actions)
            for case .send(_, _, let destination) in actions { checked.insert(destination) }
            actions = []
        }

        #expect(checked.count <= 201)
        #expect(now < .zero + .seconds(300))
    }

    @Test func `early checks beyond any honest number are answered and forgotten`() {
        var actions: [ICEAction] = []
        var (agent, stream, peer) = makeAgent(remote: false, actions: &actions)

        for number in 1...500 as ClosedRange<UInt64> {
            let bytes = peer.signed(peer.request(number: number))
            _ = bytes.withUnsafeBytes {
                agent.receive(
                    $0.bytes, on: socket, from: Endpoint(source.address, UInt16(number)), at: .zero, actions: &actions)
            }
        }
        #expect(actions.count == 500)
        agent.setRemote(ICERemoteDescription(credentials: peer.credentials), for: stream, at: .zero, actions: &actions)
        var destinations: Set<Endpoint> = []
        actions = []
        for step in 1...100 {
            agent.handle(timeoutAt: .zero + .milliseconds(50 * step), actions: &actions)
        }
        for case .send(_, _, let destination) in actions { destinations.insert(destination) }

        #expect(destinations.count <= 32)
    }

    @Test func `priorities beyond 31 bits overflow nothing`() {
        var actions: [ICEAction] = []
        var (agent, stream, _) = makeAgent(actions: &actions)
        let candidate = ICECandidate(
            foundation: "x", component: 1, priority: .max, endpoint: Endpoint("192.0.2.9:5000"), kind: .host)

        agent.addRemoteCandidate(candidate, for: stream, at: .zero, actions: &actions)

        #expect(!actions.isEmpty)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func `survives mutated datagrams in mid-session`(seed: UInt64) throws
    {
        var random = SeededRandom(seed: seed)
        var simulation = Simulation.behind(.portRestricted, .symmetric, relay: true, seed: seed)
        simulation.mutationsPerThousand = 300

        simulation.connect(for: .seconds(30))
        for folder in ["libwebrtc", "pion-fuzz"] {
            for bytes in try fixtures(in: folder) {
                let side = Int.random(in: 0...1, using: &random)
                simulation.step(side) { agent, now, actions in
                    for source in [Simulation.server, Endpoint("198.51.100.2:20000")] {
                        _ = bytes.withUnsafeBytes {
                            agent.receive(
                                $0.bytes, on: SocketID(UInt64(side + 1)), from: source, at: now, actions: &actions)
                        }
                    }
                }
            }
        }
        simulation.mutationsPerThousand = 0
        simulation.run(for: .seconds(60)) { $0.isConnected }

        #expect(simulation.isConnected, "seed \(seed)")
    }
}
