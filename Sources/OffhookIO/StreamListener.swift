package import OffhookBasics

/// Accepts TCP connections on an event loop, with or without TLS.
package final class StreamListener: @unchecked Sendable {
    package let localEndpoint: Endpoint

    /// Listens on an address and port; port 0 takes any free one, and `::` takes IPv4 too.
    ///
    /// The handler gets each connection at once, sets its `handler`, and sees `connected` there (after the handshake
    /// where the security is TLS). A connection that gets no handler is closed.
    package init(
        on loop: EventLoop, boundTo endpoint: Endpoint, options: StreamConnection.Options = .init(),
        accept: @escaping (StreamConnection) -> Void
    ) throws(IOError) {
        throw IOError(.configuration, reason: "TCP is not there yet.")
    }

    /// Stops accepting; connections stay. Doing it twice is harmless.
    package func close() {}
}
