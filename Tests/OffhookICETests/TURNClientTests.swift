import OffhookBasics
import OffhookICE
import Testing

/// A TURN client and a server that answers at once.
struct TURNBench {
    var client: TURNClient
    var servers: [RelayServer]
    var now = Instant.zero
    var actions: [TURNAction] = []
    /// What came out of the client's allocation.
    var relayed: [RelayServer.Datagram] = []
    var local = Endpoint("192.0.2.1:4000")
    private var framed: [UInt8] = []

    init(
        password: String = "secret", transport: TURNServer.Transport = .udp,
        endpoint: Endpoint = Endpoint("203.0.113.5:3478"), _ adjust: (inout RelayServer) -> Void = { _ in }
    ) {
        var server = RelayServer(endpoint: endpoint)
        adjust(&server)
        servers = [server]
        client = TURNClient(
            server: TURNServer(endpoint: endpoint, transport: transport, username: "user", password: password),
            seed: 4, authenticator: Authenticator())
        if !endpoint.address.isVersion4 { local = Endpoint("[2001:db8::1]:4000") }
    }

    mutating func step(_ body: (inout TURNClient, Instant, inout [TURNAction]) -> Void) {
        var actions: [TURNAction] = []
        body(&client, now, &actions)
        while !actions.isEmpty {
            let action = actions.removeFirst()
            self.actions.append(action)
            guard case .send(let bytes) = action,
                let index = servers.firstIndex(where: { $0.endpoint == client.server.endpoint })
            else { continue }
            for datagram in servers[index].receive(bytes, from: local, to: client.server.endpoint) {
                if datagram.destination == local {
                    deliver(datagram.bytes, actions: &actions)
                } else {
                    relayed.append(datagram)
                }
            }
        }
    }

    private mutating func deliver(_ bytes: [UInt8], actions: inout [TURNAction]) {
        if client.server.transport == .stream {
            // Byte by byte, as a stream may come.
            for byte in bytes + [UInt8](repeating: 0, count: bytes[0] < 4 ? 0 : -bytes.count & 3) {
                [byte].withUnsafeBytes { client.receiveStream($0.bytes, at: now, actions: &actions) }
            }
        } else {
            let receipt = bytes.withUnsafeBytes { client.receive($0.bytes, at: now, actions: &actions) }
            if case .data(let range, let peer) = receipt {
                actions.append(.received(Array(bytes[range]), from: peer))
            }
        }
    }

    mutating func allocate() {
        step { client, now, actions in client.allocate(at: now, actions: &actions) }
    }

    mutating func send(_ payload: [UInt8], to peer: Endpoint) {
        step { client, now, actions in
            payload.withUnsafeBytes { client.send($0.bytes, to: peer, at: now, actions: &actions) }
        }
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let deadline = client.nextDeadline, deadline <= end {
            now = max(now, deadline)
            step { client, now, actions in client.handle(timeoutAt: now, actions: &actions) }
        }
        now = end
    }

    mutating func fromPeer(_ payload: [UInt8], _ peer: Endpoint) {
        guard let relayed = client.relayed else { return }
        let datagrams = servers[0].receive(payload, from: peer, to: relayed)
        var actions: [TURNAction] = []
        for datagram in datagrams { deliver(datagram.bytes, actions: &actions) }
        self.actions += actions
    }

    var failures: [TURNFailure] {
        actions.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }
}

@Suite struct `TURN client` {
    private let peer = Endpoint("198.51.100.7:6000")

    @Test(arguments: [false, true]) func `allocates with the name and password it was given`(isModern: Bool) {
        var bench = TURNBench { $0.isModern = isModern }

        bench.allocate()

        #expect(bench.client.relayed == Endpoint("203.0.113.5:50000"))
        #expect(bench.actions.contains(.allocated(relayed: Endpoint("203.0.113.5:50000"), mapped: bench.local)))
        #expect(bench.servers[0].receivedMethods == [.allocate, .allocate])
    }

    @Test func `allocates IPv6 at an IPv6 server`() {
        var bench = TURNBench(endpoint: Endpoint("[2001:db8::5]:3478"))

        bench.allocate()

        #expect(bench.client.relayed == Endpoint("[2001:db8::5]:50000"))
    }

    @Test func `gives up at once with a wrong password`() {
        var bench = TURNBench(password: "wrong")

        bench.allocate()

        #expect(bench.failures == [.unauthorized])
        #expect(bench.client.nextDeadline == nil)
    }

    @Test func `asks again with the new nonce when the old one is stale, but not for ever`() {
        var once = TURNBench { $0.staleNonces = 2 }
        once.allocate()
        var always = TURNBench { $0.staleNonces = 1000 }
        always.allocate()

        #expect(once.client.relayed != nil)
        #expect(always.client.relayed == nil)
        #expect(always.failures == [.refused(438)])
    }

    @Test(arguments: [
        (441, TURNFailure.unauthorized), (442, .refused(442)), (486, .noCapacity), (508, .noCapacity),
        (403, .refused(403)),
    ]) func `says why it was refused`(code: Int, failure: TURNFailure) {
        var bench = TURNBench { $0.refusals = [code] }

        bench.allocate()

        #expect(bench.failures == [failure])
    }

    @Test func `gives an older allocation on the same port back and asks anew`() {
        var bench = TURNBench { $0.refusals = [437] }

        bench.allocate()

        #expect(bench.client.relayed != nil)
        #expect(bench.servers[0].receivedMethods.contains(.refresh))
    }

    @Test func `fails where an allocation stays in the way`() {
        var bench = TURNBench { $0.refusals = [437, 437] }

        bench.allocate()

        #expect(bench.failures == [.allocationMismatch])
    }

    @Test func `goes on to the alternate server`() {
        var bench = TURNBench { $0.alternate = Endpoint("203.0.113.6:3478") }
        bench.servers.append(RelayServer(endpoint: Endpoint("203.0.113.6:3478")))

        bench.allocate()

        #expect(bench.client.relayed == Endpoint("203.0.113.6:50000"))
    }

    @Test func `is not led in a circle`() {
        var bench = TURNBench { $0.alternate = Endpoint("203.0.113.6:3478") }
        var second = RelayServer(endpoint: Endpoint("203.0.113.6:3478"))
        second.alternate = Endpoint("203.0.113.5:3478")
        bench.servers.append(second)

        bench.allocate()

        #expect(bench.failures == [.redirectionLoop])
    }

    @Test func `a server that never answers is given up after 39,5 seconds`() {
        var bench = TURNBench()
        bench.servers = []

        bench.allocate()
        bench.run(for: .milliseconds(39_400))
        let early = bench.failures
        bench.run(for: .milliseconds(200))

        #expect(early.isEmpty)
        #expect(bench.failures == [.timedOut])
    }

    @Test func `keeps allocation, permission and channel for an hour`() {
        var bench = TURNBench()
        bench.allocate()
        bench.step { [peer] client, now, actions in client.bindChannel(to: peer, at: now, actions: &actions) }
        bench.run(for: .seconds(3600))

        let methods = bench.servers[0].receivedMethods
        #expect(bench.failures.isEmpty)
        #expect(methods.count { $0 == .refresh } == 6)
        #expect(methods.count { $0 == .createPermission } == 16)
        #expect(methods.count { $0 == .channelBind } == 7)
        bench.send([1, 2, 3], to: peer)
        #expect(bench.relayed.last?.bytes == [1, 2, 3])
    }

    @Test func `what is sent before the permission waits for it`() {
        var bench = TURNBench()
        bench.allocate()

        bench.send([9, 8, 7], to: peer)

        #expect(
            bench.relayed == [
                RelayServer.Datagram(bytes: [9, 8, 7], source: Endpoint("203.0.113.5:50000"), destination: peer)
            ])
    }

    @Test func `a peer that the server will not reach is told, and does not end the allocation`() {
        var bench = TURNBench { [peer] in $0.forbiddenPeers = [peer.address] }
        bench.allocate()

        bench.send([1], to: peer)

        #expect(bench.actions.contains(.permissionRefused(peer.address)))
        #expect(bench.relayed.isEmpty)
        #expect(bench.client.relayed != nil)
    }

    @Test(arguments: [TURNServer.Transport.udp, .stream], 0...9)
    func `carries payloads of every length both ways, by indication and by channel`(
        transport: TURNServer.Transport, length: Int
    ) {
        var bench = TURNBench(transport: transport)
        bench.allocate()
        let payload = (0..<length).map { UInt8(0x80 + $0) }

        bench.send(payload, to: peer)
        bench.fromPeer(payload, peer)
        bench.step { [peer] client, now, actions in client.bindChannel(to: peer, at: now, actions: &actions) }
        bench.send(payload, to: peer)
        bench.fromPeer(payload, peer)

        #expect(bench.relayed.map(\.bytes) == [payload, payload])
        #expect(bench.servers[0].receivedChannelData == 1)
        #expect(bench.actions.filter { $0 == .received(payload, from: peer) }.count == 2)
        if transport == .stream {
            let sizes = bench.actions.compactMap { if case .send(let bytes) = $0 { bytes.count % 4 } else { nil } }
            #expect(sizes.allSatisfy { $0 == 0 })
        }
    }

    @Test func `gives the allocation back with lifetime 0`() {
        var bench = TURNBench()
        bench.allocate()

        bench.step { client, now, actions in client.close(at: now, actions: &actions) }

        #expect(bench.servers[0].allocations.isEmpty)
        #expect(bench.client.nextDeadline == nil)
    }

    @Test func `a stream that brings something else is broken, not guessed at`() {
        var bench = TURNBench(transport: .stream)
        bench.allocate()

        bench.step { client, now, actions in
            [0x15 as UInt8, 0x03, 0x03, 0x00].withUnsafeBytes {
                client.receiveStream($0.bytes, at: now, actions: &actions)
            }
        }

        #expect(bench.failures == [.brokenStream])
    }

    @Test func `an unsigned success to a signed request counts for nothing`() throws {
        var client = TURNClient(
            server: TURNServer(endpoint: Endpoint("203.0.113.5:3478"), username: "user", password: "secret"), seed: 4,
            authenticator: Authenticator())
        var actions: [TURNAction] = []
        client.allocate(at: .zero, actions: &actions)
        func answer(_ messageClass: STUNClass, _ attributes: [STUNAttribute]) throws {
            guard case .send(let request) = actions.last else { return }
            let message = try STUNMessage(request)
            let bytes = STUNMessage(
                messageClass, .allocate, transactionID: message.transactionID, attributes: attributes
            ).bytes(authenticator: Authenticator())
            _ = bytes.withUnsafeBytes { client.receive($0.bytes, at: .zero, actions: &actions) }
        }

        try answer(.error, [.errorCode(401, reason: ""), .realm([65]), .nonce([66])])
        try answer(.success, [.xorRelayedAddress(Endpoint("192.0.2.66:1"))])

        #expect(client.relayed == nil)
    }

    @Test func `a challenge whose algorithms were taken out on the way is not answered`() throws {
        var client = TURNClient(
            server: TURNServer(endpoint: Endpoint("203.0.113.5:3478"), username: "user", password: "secret"), seed: 4,
            authenticator: Authenticator())
        var actions: [TURNAction] = []
        client.allocate(at: .zero, actions: &actions)
        guard case .send(let request) = actions.last else { return }
        let bytes = STUNMessage(
            .error, .allocate, transactionID: try STUNMessage(request).transactionID,
            attributes: [.errorCode(401, reason: ""), .realm([65]), .nonce(Array("obMatJos2AAABxyz".utf8))]
        ).bytes(authenticator: Authenticator())

        _ = bytes.withUnsafeBytes { client.receive($0.bytes, at: .zero, actions: &actions) }

        #expect(actions.last == .failed(.untrustworthyChallenge))
    }
}
