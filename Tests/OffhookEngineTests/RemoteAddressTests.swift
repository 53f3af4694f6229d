import OffhookBasics
import Testing

@testable import OffhookEngine

/// Where plain RTP goes when packets come from elsewhere than signalling said (RFC 4961).
@Suite struct `The far end's address` {
    private let signalled = Endpoint(IPAddress(version4: 0xC000_0201), 4000)
    private let other = Endpoint(IPAddress(version4: 0xCB00_7142), 666)

    private func address(afterPackets count: Int, from source: Endpoint) -> (RemoteAddress, Instant) {
        var address = RemoteAddress()
        address.signal(signalled)
        var now = Instant.zero
        for _ in 0..<count {
            now = now + .milliseconds(20)
            address.note(source, isAuthenticated: false, at: now)
        }
        return (address, now)
    }

    @Test func `becomes the one behind a NAT where the signalled one is silent`() {
        #expect(address(afterPackets: 3, from: other).0.current == signalled)
        #expect(address(afterPackets: 4, from: other).0.current == other)
    }

    @Test func `is the signalled one again as soon as that one speaks`() {
        var (address, now) = address(afterPackets: 50, from: other)
        address.note(signalled, isAuthenticated: false, at: now + .milliseconds(1))
        #expect(address.current == signalled)
        for step in 1...40 {
            now = now + .milliseconds(20)
            address.note(other, isAuthenticated: false, at: now)
            if step % 2 == 0 { address.note(signalled, isAuthenticated: false, at: now) }
        }
        #expect(address.current == signalled)
    }

    @Test(arguments: [false, true])
    func `is the newest that was signalled, whatever is still under way from the one before`(isAuthenticated: Bool) {
        var (address, now) = address(afterPackets: 50, from: signalled)

        address.signal(other)
        for _ in 0..<40 {
            now = now + .milliseconds(20)
            address.note(signalled, isAuthenticated: isAuthenticated, at: now)
            #expect(address.current == other)
        }
        address.note(other, isAuthenticated: isAuthenticated, at: now)

        #expect(address.current == other)
    }

    @Test(arguments: [false, true])
    func `is the one before where the far end goes on from there`(isAuthenticated: Bool) {
        var (address, now) = address(afterPackets: 50, from: signalled)

        address.signal(other)
        for _ in 0..<60 {
            now = now + .milliseconds(20)
            address.note(signalled, isAuthenticated: isAuthenticated, at: now)
        }

        #expect(address.current == signalled)
    }
}
