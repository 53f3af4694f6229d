import Offhook
import OffhookTestKit
import Testing

// Code that the documentation prints; `DocumentationTests` looks for it here.

typealias MySink = BrightnessMeter
typealias MyCapturer = FaultyCapturer

extension FaultyCapturer {
    convenience init() { self.init(.none) }
}

@Suite struct `The documented use` {
    @Test(arguments: VideoSinkConformance.checks(for: MySink.self))
    func conforms(_ check: ConformanceCheck<MySink>) async throws { try await check(MySink()) }

    @Test func `in a loop, as XCTest needs it`() async {
        func report(_ failure: String) { Issue.record("\(failure)") }

        for check in VideoCapturerConformance.checks(for: MyCapturer.self) {
            do { try await check(MyCapturer()) } catch { report("\(error)") }
        }
    }
}

func makeWholeCall(receptionist: any CallServiceDelegate) async throws {
    let network = SimulatedNetwork(seed: 1)
    let alice = try network.makeClient(named: "alice")
    let bob = try network.makeClient(named: "bob")
    let caller = try alice.createUser(UserConfiguration(address: "sip:alice@alice.test"))
    let callee = try bob.createUser(UserConfiguration(address: "sip:bob@bob.test"))
    callee.callService.delegate = receptionist
    try await network.run {
        try await caller.start()
        try await callee.start()
    }

    let call = try caller.callService.createCall(to: "sip:bob@bob.test")
    try await network.run { try await call.start() }
    await network.advance(by: .seconds(10))
    call.end()
    await network.advance(by: .seconds(1))
    await network.shutdown()
}

func makeBad(_ network: SimulatedNetwork, losing index: Int) {
    network.conditions.loss = 0.2
    network.conditions.jitter = .milliseconds(80)
    network.conditions.reordering = 0.1
    network.conditions.bandwidth = 300_000
    network.setConnected(false, clientNamed: "bob")

    network.lose { $0.isSignaling && $0.index == index }
}

func register(on network: SimulatedNetwork) async throws -> UserConfiguration {
    let exchange = try await LocalExchange(on: network, accounts: ["alice": "secret", "bob": nil])
    let settings = UserConfiguration(
        address: exchange.address(of: "alice"), credentials: .init(authenticationName: "alice", password: "secret"),
        server: exchange.server)
    return settings
}

func checkOrder(of client: Client, _ user: User, _ receptionist: any CallServiceDelegate) {
    let conformance = CallDelegateConformance(callbackQueue: client.callbackQueue, forwardingTo: receptionist)
    user.callService.delegate = conformance
    // … calls come and go …
    for result in conformance.results { #expect(result.isMet, "\(result)") }
}
