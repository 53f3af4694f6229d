package import OffhookBasics

/// A TCP connection on an event loop, with or without TLS.
///
/// It belongs to the loop's thread: every call is made there and the handler is called there. The loop keeps it alive
/// until it is closed, from either side.
package final class StreamConnection: @unchecked Sendable {
    package enum Event {
        /// Both ways are open; with TLS, the handshake is done and the peer's certificate accepted.
        case connected
        case received([UInt8])
        /// Everything that was queued has gone to the kernel.
        case drained
        /// The peer sends no more; what we send still reaches it until we ``StreamConnection/close()``.
        case peerFinished
        /// The connection is gone and no event follows: by our own doing (nil), or for a cause.
        case closed(IOError?)
    }

    package enum SendOutcome: Hashable, Sendable {
        /// It is sent, or waits its turn.
        case accepted
        /// The queue has no room for it; nothing of it was taken.
        case full
        /// The connection is closed or the way out finished.
        case closed
    }

    package enum Security: Sendable {
        case none
        /// TLS; the client checks that the certificate is for `peerName` (RFC 5922).
        case tls(TLSContext, peerName: String?)
    }

    package struct Options: Sendable {
        package var security = Security.none
        /// How long the TCP connection and the TLS handshake may take together.
        package var connectTimeout = Duration.seconds(10)
        /// The most bytes that wait to be sent.
        package var queueLimit = 1 << 20
        /// Whether the kernel probes a silent connection.
        package var keepsAlive = true
        /// The local address to connect from; nil leaves it to the routes.
        package var localAddress: IPAddress?

        package init() {}
    }

    /// Which connection this is, unique in the process.
    package let id: UInt64
    package let remoteEndpoint: Endpoint
    /// Our end; known once connected.
    package private(set) var localEndpoint: Endpoint?
    /// When bytes last came or went, for idle checks.
    package private(set) var lastActivity: Instant
    /// Called for each event; whoever accepts a connection sets it in the accept handler.
    package var handler: ((Event) -> Void)?
    /// How many bytes wait to be sent.
    package var queuedByteCount: Int { 0 }

    /// Connects to a peer; the outcome is the first event: `connected` or `closed`.
    package init(
        on loop: EventLoop, connectingTo remote: Endpoint, options: Options = Options(),
        handler: @escaping (Event) -> Void
    ) {
        id = 0
        remoteEndpoint = remote
        lastActivity = .zero
    }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> SendOutcome {
        .closed
    }

    /// Says that nothing more will be sent once the queue has gone, and keeps on receiving.
    package func finish() {}

    /// Closes at once, dropping what is queued; `closed(nil)` is not sent for it. Doing it twice is harmless.
    package func close() {}
}
