internal import Glibc
package import OffhookBasics

/// What an event loop has in place of the kernel where time and network are a test's: a clock that is set by hand, and
/// datagrams that are handed to the test.
///
/// UDP sockets and timers of such a loop look like any others to what uses them. There are no streams.
package final class SimulatedKernel: @unchecked Sendable {
    // `clock` and `activity` are locked; the rest is touched by the loop's thread alone.
    private let clock: Lock<Instant>
    private let activity = Lock(0)
    private var sockets: [Endpoint: UDPSocket] = [:]

    /// Takes each datagram that is sent, on the loop's thread; ``deliver(_:from:to:)`` brings it to its socket.
    package var transmit: ((_ bytes: [UInt8], _ source: Endpoint, _ destination: Endpoint) -> Void)?
    /// Answers for the name service, on the loop's thread.
    package var addresses: ((_ host: String) -> [IPAddress])?

    package init(startingAt start: Instant) {
        clock = Lock(start)
    }

    /// The time it is, from any thread.
    package var now: Instant { clock.withLock { $0 } }

    /// How much work the loop has done so far, from any thread: while it stays the same, nothing happens.
    package var activityCount: Int { activity.withLock { $0 } }

    /// Brings a datagram to the socket that is bound there; without one it is lost.
    package func deliver(_ bytes: [UInt8], from source: Endpoint, to destination: Endpoint) {
        sockets[destination]?.receive(bytes, from: source)
    }

    func setNow(_ instant: Instant) {
        clock.withLock { $0 = max($0, instant) }
    }

    func countActivity() {
        activity.withLock { $0 += 1 }
    }

    // MARK: Sockets

    /// Binds a socket to what ``freeEndpoint(for:)`` gave.
    func bind(_ socket: UDPSocket, to endpoint: Endpoint) {
        sockets[endpoint] = socket
    }

    /// Where a socket can be bound; for port 0 the lowest free one of the dynamic ports (RFC 6335 §6).
    func freeEndpoint(for wanted: Endpoint) throws(IOError) -> Endpoint {
        guard !wanted.address.isUnspecified else {
            throw IOError(
                .configuration, reason: "A socket of a simulated network needs an address of its own to bind to.")
        }
        let candidates = wanted.port == 0 ? 49152...65535 : wanted.port...wanted.port
        guard let port = candidates.first(where: { sockets[Endpoint(wanted.address, $0)] == nil }) else {
            throw IOError(errno: EADDRINUSE, binding: wanted, as: "UDP")
        }
        return Endpoint(wanted.address, port)
    }

    func release(_ endpoint: Endpoint) {
        sockets[endpoint] = nil
    }

    /// Ends all sockets, when the loop ends.
    func end() {
        for socket in sockets.values { socket.loopDidEnd() }
        sockets = [:]
        transmit = nil
        addresses = nil
    }
}
