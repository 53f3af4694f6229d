import Offhook
import OffhookBasics
import OffhookTestKit
import Testing

@Suite struct `A local exchange` {
    /// Who is on the network.
    private struct World {
        let network: SimulatedNetwork
        let exchange: LocalExchange

        init(seed: UInt64 = 1) async throws {
            network = SimulatedNetwork(seed: seed)
            exchange = try await LocalExchange(
                on: network, accounts: ["alice": "secret", "bob": "hidden", "open": nil])
        }

        func device(_ host: String, of name: String, password: String, delegate: Answering? = nil) throws -> User {
            let client = try network.makeClient(named: host)
            let user = try client.createUser(
                UserConfiguration(
                    address: exchange.address(of: name),
                    credentials: Credentials(authenticationName: name, password: password), server: exchange.server))
            user.callService.delegate = delegate
            return user
        }
    }

    @Test func `lets a device register with its password alone`() async throws {
        let world = try await World()
        let alice = try world.device("alice", of: "alice", password: "secret")
        let thief = try world.device("thief", of: "bob", password: "guessed")

        try await world.network.run { try await alice.start() }
        let refused = await #expect(throws: CallError.self) { try await world.network.run { try await thief.start() } }

        #expect(alice.registration.state == .registered)
        #expect(refused?.code == .authenticationFailed)
        #expect(await world.exchange.deviceCount(of: "alice") == 1)
        #expect(await world.exchange.deviceCount(of: "bob") == 0)
        await world.network.shutdown()
    }

    @Test func `forgets a device that stops`() async throws {
        let world = try await World()
        let alice = try world.device("alice", of: "alice", password: "secret")
        try await world.network.run { try await alice.start() }

        try await world.network.run { await alice.stop() }

        #expect(await world.exchange.deviceCount(of: "alice") == 0)
        await world.network.shutdown()
    }

    @Test func `tells once that calls can be made, and once that they cannot any more`() async throws {
        let world = try await World()
        let alice = try world.device("alice", of: "alice", password: "secret")
        let availability = Availability()
        alice.callService.delegate = availability

        try await world.network.run { try await alice.start() }
        try await world.network.run { await alice.stop() }

        #expect(availability.news == [true, false])
        await world.network.shutdown()
    }

    @Test func `that has fallen silent does not hold the end of its devices up for more than four seconds`()
        async throws
    {
        let world = try await World()
        let alice = try world.device("alice", of: "alice", password: "secret")
        let client = try world.network.makeClient(named: "pair")
        let users = try ["alice", "bob"].map { name in
            try client.createUser(
                UserConfiguration(
                    address: world.exchange.address(of: name),
                    credentials: Credentials(authenticationName: name, password: name == "bob" ? "hidden" : "secret"),
                    server: world.exchange.server))
        }
        try await world.network.run { for user in users { try await user.start() } }
        world.network.lose { _ in true }

        let start = Task { try await alice.start() }
        await world.network.advance(by: .seconds(1))
        try await world.network.run(upTo: .milliseconds(4100)) { await alice.stop() }
        try await world.network.run(upTo: .milliseconds(4100)) { await client.shutdown() }

        let stopped = await #expect(throws: CallError.self) { try await start.value }
        #expect(stopped?.code == .cancelled)
        await world.network.shutdown()
    }

    @Test func `rings every device, and one answers`() async throws {
        let world = try await World()
        let desk = Answering { _ in }
        let pocket = Answering { try await $0.accept() }
        let alice = try world.device("alice", of: "alice", password: "secret")
        let bobs = [
            try world.device("desk", of: "bob", password: "hidden", delegate: desk),
            try world.device("pocket", of: "bob", password: "hidden", delegate: pocket),
        ]
        try await world.network.run {
            try await alice.start()
            for bob in bobs { try await bob.start() }
        }

        let call = try alice.callService.createCall(to: world.exchange.address(of: "bob"))
        try await world.network.run { try await call.start() }
        await world.network.advance(by: .seconds(2))
        #expect(call.state == .established)
        call.end()
        await world.network.advance(by: .seconds(2))

        #expect(desk.news == ["didReceiveIncomingCall", "didEnd answeredElsewhere", "didRemove"])
        #expect(pocket.news.contains("didEstablish"))
        #expect(pocket.news.suffix(2) == ["didEnd ended(by: remote)", "didRemove"])
        await world.network.shutdown()
    }

    @Test func `tells the caller that everybody declined`() async throws {
        let world = try await World()
        let bob = Answering { try await $0.deny(.busy) }
        let alice = try world.device("alice", of: "alice", password: "secret")
        let callee = try world.device("bob", of: "bob", password: "hidden", delegate: bob)
        try await world.network.run {
            try await alice.start()
            try await callee.start()
        }

        let call = try alice.callService.createCall(to: world.exchange.address(of: "bob"))
        let refused = await #expect(throws: CallError.self) { try await world.network.run { try await call.start() } }

        #expect(refused?.code == .busy)
        await world.network.shutdown()
    }

    @Test func `ends the ringing when the caller gives up`() async throws {
        let world = try await World()
        let bob = Answering { _ in }
        let alice = try world.device("alice", of: "alice", password: "secret")
        let callee = try world.device("bob", of: "bob", password: "hidden", delegate: bob)
        try await world.network.run {
            try await alice.start()
            try await callee.start()
        }

        let call = try alice.callService.createCall(to: world.exchange.address(of: "bob"))
        let start = Task { try await call.start() }
        await world.network.advance(by: .seconds(3))
        call.end()
        await world.network.advance(by: .seconds(3))

        await #expect(throws: CallError.self) { try await start.value }
        #expect(bob.news == ["didReceiveIncomingCall", "didEnd cancelled", "didRemove"])
        await world.network.shutdown()
    }

    @Test(arguments: ["nobody": 404, "open": 480])
    func `refuses calls to those who are not there`(name: String, status: Int) async throws {
        let world = try await World()
        let alice = try world.device("alice", of: "alice", password: "secret")
        try await world.network.run { try await alice.start() }

        let call = try alice.callService.createCall(to: world.exchange.address(of: name))
        let refused = await #expect(throws: CallError.self) { try await world.network.run { try await call.start() } }

        #expect(refused?.sipStatus == status)
        await world.network.shutdown()
    }

    /// Registers both sides and makes a call, losing one message; gives how many there were.
    private func callLosing(_ index: Int?) async throws -> Int {
        let world = try await World()
        let bob = Answering()
        let alice = try world.device("alice", of: "alice", password: "secret")
        let callee = try world.device("bob", of: "bob", password: "hidden", delegate: bob)
        world.network.lose { $0.isSignaling && $0.index == index }
        try await world.network.run {
            try await alice.start()
            try await callee.start()
        }

        let call = try alice.callService.createCall(to: world.exchange.address(of: "bob"))
        try await world.network.run { try await call.start() }
        #expect(call.state == .established)
        call.end()
        await world.network.advance(by: .seconds(40))

        #expect(bob.news.contains("didRemove"))
        #expect(alice.callService.calls.isEmpty && callee.callService.calls.isEmpty)
        let count = world.network.signalingDatagramCount
        await world.network.shutdown()
        return count
    }

    /// REGISTER 401 REGISTER 200 for each side; INVITE 407 ACK, INVITE 100 180 200 over two hops, ACK; BYE 200.
    @Test(arguments: 0..<26) func `sets a call up whichever message is lost`(index: Int) async throws {
        _ = try await callLosing(index)
    }

    @Test func `needs no more messages than are lost above`() async throws {
        let count = try await callLosing(nil)

        #expect(count > 16 && count <= 26)
    }
}

/// Notes whether calls can be made.
private final class Availability: CallServiceDelegate, Sendable {
    private let log = Lock<[Bool]>([])

    var news: [Bool] { log.withLock { $0 } }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {}
    func callService(_ callService: CallService, didRemove call: Call) {}
    func callServiceDidBecomeAvailable(_ callService: CallService) { log.withLock { $0.append(true) } }
    func callServiceDidBecomeUnavailable(_ callService: CallService) { log.withLock { $0.append(false) } }
}
