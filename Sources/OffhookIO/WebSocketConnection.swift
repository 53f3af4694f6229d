package import OffhookBasics

/// A WebSocket (RFC 6455) over TCP or TLS on an event loop.
///
/// It belongs to the loop's thread: every call is made there and the handler is called there.
package final class WebSocketConnection: @unchecked Sendable {
    package enum Event {
        /// The upgrade is done and the subprotocol agreed.
        case connected
        case text(String)
        case binary([UInt8])
        /// The connection is gone and no event follows: in good order (nil), or for a cause.
        case closed(IOError?)
    }

    package struct Options: Sendable {
        package var stream = StreamConnection.Options()
        /// What the `Host` header names; nil takes the address and port.
        package var host: String?
        package var path = "/"
        /// `sip` by RFC 7118; Janus wants `janus-protocol`.
        package var subprotocol = "sip"
        /// The largest message taken from the peer.
        package var messageLimit = 1 << 18
        /// How often a ping is sent, and how long its pong may take; nil sends none.
        package var pingInterval: Duration? = .seconds(30)

        package init() {}
    }

    package let id: UInt64
    package let remoteEndpoint: Endpoint
    package private(set) var localEndpoint: Endpoint?
    package var handler: ((Event) -> Void)?

    /// Connects and upgrades; the outcome is the first event: `connected` or `closed`.
    package init(
        on loop: EventLoop, connectingTo remote: Endpoint, options: Options = Options(),
        handler: @escaping (Event) -> Void
    ) {
        id = 0
        remoteEndpoint = remote
    }

    @discardableResult
    package func send(text: String) -> StreamConnection.SendOutcome {
        .closed
    }

    @discardableResult
    package func send(binary: [UInt8]) -> StreamConnection.SendOutcome {
        .closed
    }

    /// Closes in good order: a close frame, then the stream. No event follows.
    package func close() {}
}

/// Accepts WebSockets on an event loop.
package final class WebSocketListener: @unchecked Sendable {
    package let localEndpoint: Endpoint

    /// The handler gets each connection once its upgrade is done, and sets its `handler`.
    package init(
        on loop: EventLoop, boundTo endpoint: Endpoint, options: WebSocketConnection.Options = .init(),
        accept: @escaping (WebSocketConnection) -> Void
    ) throws(IOError) {
        throw IOError(.configuration, reason: "WebSocket is not there yet.")
    }

    package func close() {}
}
