import OffhookBasics
import OffhookIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Interface addresses` {
    @Test func `include the loopback address, marked as such`() throws {
        let loopback = try #require(try InterfaceAddress.all().first { $0.address == loopback4 })

        #expect(loopback.isLoopback)
        #expect(loopback.interface == "lo")
    }

    @Test(arguments: [loopback4, loopback6]) func `toward a loopback address are the loopback address`(
        address: IPAddress
    ) {
        #expect(InterfaceAddress.toward(Endpoint(address, 0)) == address)
    }

    @Test func `toward a place without a route are none`() {
        // The discard-only prefix of RFC 6666.
        let nowhere = IPAddress(version6High: 0x0100_0000_0000_0000, low: 1, scope: 4_000_000)

        let address = InterfaceAddress.toward(Endpoint(nowhere, 5060))

        #expect(address == nil || address?.isUnspecified == false)
    }
}
