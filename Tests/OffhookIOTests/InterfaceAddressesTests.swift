import Foundation
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

/// A network of its own for the loop's thread, where addresses can come and go without touching the machine's.
private enum OwnNetwork {
    /// Whether this process may make one (root outside of most sandboxes).
    static let isAllowed: Bool = {
        let inbox = Lock<Bool?>(nil)
        let thread = Thread { inbox.withLock { $0 = enter() } }
        thread.start()
        while inbox.withLock({ $0 == nil }) { sched_yield() }
        return inbox.withLock { $0 ?? false }
    }()

    /// Moves the calling thread there for the rest of its life.
    static func enter() -> Bool {
        // Glibc's module has no unshare(2).
        guard let symbol = dlsym(nil, "unshare") else { return false }
        let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
        let newNetwork: Int32 = 0x4000_0000
        return unshare(newNetwork) == 0
    }

    /// Turns the loopback interface on or off, which makes its addresses come or go.
    static func setLoopback(up: Bool) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var request = ifreq()
        withUnsafeMutableBytes(of: &request) { bytes in
            bytes.storeBytes(of: UInt8(ascii: "l"), toByteOffset: 0, as: UInt8.self)
            bytes.storeBytes(of: UInt8(ascii: "o"), toByteOffset: 1, as: UInt8.self)
            bytes.storeBytes(of: Int16(up ? IFF_UP : 0), toByteOffset: 16, as: Int16.self)
        }
        return ioctl(descriptor, UInt(SIOCSIFFLAGS), &request) == 0
    }
}

@Suite(.timeLimit(.minutes(1))) struct `Interface monitor` {
    @Test(.enabled(if: OwnNetwork.isAllowed, "needs the right to make a network namespace"))
    func `tells when addresses come and go, once for each change`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<[InterfaceAddress]>()

            _ = try await loop.run {
                #expect(OwnNetwork.enter())
                _ = try InterfaceMonitor(on: loop) { inbox.put($0) }
                #expect(OwnNetwork.setLoopback(up: true))
            }
            let up = try await inbox.first { $0.contains { $0.address == loopback4 } }
            _ = try await loop.run { #expect(OwnNetwork.setLoopback(up: false)) }
            _ = try await inbox.first { $0.isEmpty }

            let isAllLoopback = up.allSatisfy { $0.isLoopback }
            #expect(isAllLoopback)
            let lists = inbox.all.map { Set($0) }
            let isNewEachTime = zip(lists, lists.dropFirst()).allSatisfy { $0 != $1 }
            #expect(isNewEachTime)
        }
    }
}
