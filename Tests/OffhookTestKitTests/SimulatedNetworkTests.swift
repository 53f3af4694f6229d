import Offhook
import OffhookTestKit
import Testing

@Suite struct `A simulated network` {
    @Test func `carries a whole call`() async throws {
        let receptionist = Answering()

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

        #expect(
            receptionist.news == [
                "didReceiveIncomingCall", "didEstablish", "didUpdateVideoChannels []", "didEnd ended(by: remote)",
                "didRemove",
            ])
        #expect(network.signalingDatagramCount == 6)
        #expect(network.mediaDatagramCount > 900)
        await network.shutdown()
    }
}
