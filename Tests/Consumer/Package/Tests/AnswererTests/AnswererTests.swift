import Offhook
import OffhookTestKit
import Testing

@testable import Answerer

@Suite struct AnswererTests {
    @Test(arguments: VideoSinkConformance.checks(for: CountingSink.self))
    func conforms(_ check: ConformanceCheck<CountingSink>) async throws { try await check(CountingSink()) }

    @Test func answersInVirtualTime() async throws {
        let network = SimulatedNetwork(seed: 1)
        let alice = try network.makeClient(named: "alice")
        let bob = try network.makeClient(named: "bob")
        let caller = try alice.createUser(UserConfiguration(address: "sip:alice@alice.test"))
        let callee = try bob.createUser(UserConfiguration(address: "sip:bob@bob.test"))
        let receptionist = Receptionist(user: callee, screen: CountingSink())
        try await network.run {
            try await caller.start()
            try await callee.start()
        }

        let call = try caller.callService.createCall(to: "sip:bob@bob.test")
        try await network.run { try await call.start() }
        #expect(call.state == .established)
        call.end()
        await network.advance(by: .seconds(1))

        #expect(callee.callService.calls.isEmpty)
        withExtendedLifetime(receptionist) {}
        await network.shutdown()
    }
}
