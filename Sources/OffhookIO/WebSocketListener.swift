package import OffhookBasics

/// Accepts WebSockets on an event loop. It belongs to the loop's thread.
package final class WebSocketListener: @unchecked Sendable {
    package var localEndpoint: Endpoint { listener.localEndpoint }

    private let listener: StreamListener

    /// The handler gets each connection once its upgrade is agreed, sets its `handler`, and sees `connected` there. A
    /// connection that gets no handler is closed.
    package init(
        on loop: EventLoop, boundTo endpoint: Endpoint, options: WebSocketConnection.Options = .init(),
        accept: @escaping (WebSocketConnection) -> Void
    ) throws(IOError) {
        listener = try StreamListener(on: loop, boundTo: endpoint, options: options.stream) { stream in
            _ = WebSocketConnection(on: loop, accepted: stream, options: options, accept: accept)
        }
    }

    /// Stops accepting; connections stay. Doing it twice is harmless.
    package func close() {
        listener.close()
    }
}
