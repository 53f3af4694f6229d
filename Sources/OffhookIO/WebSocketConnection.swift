package import OffhookBasics

/// A WebSocket (RFC 6455) over TCP or TLS on an event loop.
///
/// It belongs to the loop's thread: every call is made there and the handler is called there, never from inside a call
/// of ours. The loop keeps it alive until it is closed, from either side.
package final class WebSocketConnection: @unchecked Sendable {
    package enum Event: Equatable {
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
        /// How often a ping is sent, and how long an answer to it may take; nil sends none.
        package var pingInterval: Duration? = .seconds(30)

        package init() {}
    }

    private enum State {
        /// A client before it is connected, and a server before the request.
        case opening
        case open
        /// Our close frame is out, or the peer's came: what remains is for the stream to end.
        case closing
        case closed
    }

    /// Which connection this is, unique on its loop among all connections.
    package var id: UInt64 { stream.id }
    package let remoteEndpoint: Endpoint
    package var localEndpoint: Endpoint? { stream.localEndpoint }
    package var handler: ((Event) -> Void)?
    /// Whether `connected` came and neither side has closed since.
    package var isOpen: Bool { state == .open }

    // Everything below is the loop thread's alone.
    private let loop: EventLoop
    private let options: Options
    private let role: WebSocketFrames.Role
    private let stream: StreamConnection
    private let request: WebSocketUpgrade.Request
    private var reader = HTTPHeadReader()
    private var frames: WebSocketFrames?
    private var state = State.opening
    private var timer: LoopTimer?
    /// Whether anything came since the last ping, so that its peer is there.
    private(set) var hasHeardSincePing = true
    /// Of a server: gets the connection once it is upgraded.
    private var accept: ((WebSocketConnection) -> Void)?

    /// Connects and upgrades; the outcome is the first event: `connected` or `closed`.
    package init(
        on loop: EventLoop, connectingTo remote: Endpoint, options: Options = Options(),
        handler: @escaping (Event) -> Void
    ) {
        self.loop = loop
        self.options = options
        self.handler = handler
        role = .client
        remoteEndpoint = remote
        request = WebSocketUpgrade.Request(
            host: options.host ?? "\(remote)", path: options.path, subprotocol: options.subprotocol,
            key: WebSocketUpgrade.makeKey())
        stream = StreamConnection(on: loop, connectingTo: remote, options: options.stream) { _ in }
        // The loop holds the stream until it is closed, and so this.
        stream.handler = { self.handle($0) }
    }

    /// Takes over a connection that a listener accepted.
    init(
        on loop: EventLoop, accepted stream: StreamConnection, options: Options,
        accept: @escaping (WebSocketConnection) -> Void
    ) {
        self.loop = loop
        self.options = options
        self.stream = stream
        self.accept = accept
        role = .server
        remoteEndpoint = stream.remoteEndpoint
        request = WebSocketUpgrade.Request(host: "", path: "", subprotocol: options.subprotocol, key: "")
        stream.handler = { self.handle($0) }
    }

    @discardableResult
    package func send(text: String) -> StreamConnection.SendOutcome {
        send(byteCount: text.utf8.count) { $0.send(text: text) }
    }

    @discardableResult
    package func send(binary: [UInt8]) -> StreamConnection.SendOutcome {
        send(byteCount: binary.count) { $0.send(binary: binary) }
    }

    /// Closes in good order: a close frame, then the stream. No event follows. Doing it twice is harmless.
    package func close() {
        loop.assertOnLoop()
        handler = nil
        switch state {
        case .opening: release()
        case .open:
            frames?.close()
            flush()
            startClosing()
        case .closing, .closed: break
        }
    }

    private func send(byteCount: Int, _ queue: (WebSocketFrames) -> Bool) -> StreamConnection.SendOutcome {
        loop.assertOnLoop()
        guard state == .open, let frames else { return .closed }
        // 14 is the longest head of a frame; what is queued in the frames' machine cannot be taken back.
        guard byteCount + 14 <= options.stream.queueLimit - stream.queuedByteCount else { return .full }
        guard queue(frames) else { return .closed }
        return stream.send(frames.takeOutput())
    }

    // MARK: The stream's events

    private func handle(_ event: StreamConnection.Event) {
        switch event {
        case .connected: streamDidConnect()
        case .received(let bytes): received(bytes)
        case .drained: break
        case .peerFinished:
            // Without a close frame before it, the end came from elsewhere than the peer's WebSocket.
            if state == .closing { release() } else { end(lostConnection) }
        case .closed(let error):
            if state == .closing { release() } else { end(error ?? lostConnection) }
        }
    }

    private var lostConnection: IOError {
        IOError(.closed, reason: "\(remoteEndpoint) closed the connection without closing the WebSocket.")
    }

    private func streamDidConnect() {
        startTimer(after: options.stream.connectTimeout) { [weak self] in
            guard let self else { return }
            self.end(.timedOut(reaching: self.remoteEndpoint))
        }
        guard role == .client else { return }
        guard let bytes = request.bytes else {
            return end(
                IOError(
                    .configuration,
                    reason: "The host, path or subprotocol of the WebSocket has characters that none may have."))
        }
        stream.send(bytes)
    }

    private func received(_ bytes: [UInt8]) {
        hasHeardSincePing = true
        guard state == .opening else { return receivedFrames(bytes) }
        do throws(HTTPHead.Failure) {
            guard let (head, rest) = try reader.receive(bytes) else { return }
            reader = HTTPHeadReader()
            switch role {
            case .client: receivedAnswer(head, rest)
            case .server: receivedRequest(head, rest)
            }
        } catch {
            if role == .server { stream.send(WebSocketUpgrade.badRequest) }
            end(
                IOError(
                    .protocolViolation,
                    reason: "\(remoteEndpoint) does not speak WebSocket on this port; check the port and the transport."
                ))
        }
    }

    private func receivedAnswer(_ head: HTTPHead, _ rest: [UInt8]) {
        if let fault = WebSocketUpgrade.fault(inAnswer: head, to: request) { return end(fault) }
        becomeOpen(rest)
    }

    private func receivedRequest(_ head: HTTPHead, _ rest: [UInt8]) {
        let answer = WebSocketUpgrade.answer(to: head, subprotocol: options.subprotocol)
        stream.send(answer.bytes)
        guard answer.isAccepted else {
            state = .closing
            return startClosing()
        }
        let accept = accept
        self.accept = nil
        accept?(self)
        guard handler != nil else { return release() }
        becomeOpen(rest)
    }

    private func becomeOpen(_ rest: [UInt8]) {
        do throws(IOError) {
            frames = try WebSocketFrames(role: role, messageLimit: options.messageLimit)
        } catch {
            return end(error)
        }
        state = .open
        timer?.disarm()
        timer = nil
        startPinging()
        handler?(.connected)
        if !rest.isEmpty { receivedFrames(rest) }
    }

    private func receivedFrames(_ bytes: [UInt8]) {
        guard let frames, state == .open || state == .closing else { return }
        var events: [WebSocketFrames.Event] = []
        frames.receive(bytes, events: &events)
        flush()
        for event in events {
            guard state == .open || state == .closing else { return }
            switch event {
            case .text(let text): handler?(.text(text))
            case .binary(let bytes): handler?(.binary(bytes))
            case .pong: break
            case .closed(let status): peerDidClose(status)
            case .failed(let status): peerDidBreak(status)
            }
        }
    }

    /// Sends what the frames' machine has answered by itself: pongs, and the other half of a close.
    private func flush() {
        guard let frames, stream.isOpen else { return }
        let bytes = frames.takeOutput()
        if stream.send(bytes) == .full {
            end(IOError(.protocolViolation, reason: "\(remoteEndpoint) sends more pings than it takes answers to."))
        }
    }

    // MARK: Pings

    private func startPinging() {
        guard let interval = options.pingInterval else { return }
        startTimer(after: interval) { [weak self] in self?.pingIsDue() }
    }

    func pingIsDue() {
        guard state == .open, let frames, let interval = options.pingInterval else { return }
        guard hasHeardSincePing else { return end(.timedOut(reaching: remoteEndpoint)) }
        hasHeardSincePing = false
        if frames.ping() { flush() }
        timer?.arm(at: loop.now + interval)
    }

    private func startTimer(after delay: Duration, _ body: @escaping () -> Void) {
        timer?.disarm()
        timer = loop.schedule(at: loop.now + delay, body)
    }

    // MARK: Ending

    private func peerDidClose(_ status: UInt16?) {
        guard state == .open else { return startClosing() }
        let isGood = status == nil || status == 1000 || status == 1001
        let error = IOError(
            .closed, reason: "\(remoteEndpoint) closed the WebSocket with status \(status ?? 0); its log may say why.")
        let handler = handler
        self.handler = nil
        startClosing()
        handler?(.closed(isGood ? nil : error))
    }

    private func peerDidBreak(_ status: UInt16) {
        let isTooLarge = status == 1009
        let reason =
            isTooLarge
            ? "\(remoteEndpoint) sent a message larger than \(options.messageLimit) bytes."
            : "\(remoteEndpoint) broke the WebSocket protocol (status \(status))."
        let handler = handler
        self.handler = nil
        startClosing()
        handler?(.closed(IOError(.protocolViolation, reason: reason)))
    }

    /// Nothing more is sent; the stream ends when the peer ends it too, or soon.
    private func startClosing() {
        guard state != .closed else { return }
        state = .closing
        stream.finish()
        startTimer(after: .seconds(2)) { [weak self] in self?.release() }
    }

    private func end(_ error: IOError?) {
        guard state != .closed else { return }
        let handler = handler
        release()
        handler?(.closed(error))
    }

    private func release() {
        guard state != .closed else { return }
        state = .closed
        timer?.disarm()
        timer = nil
        handler = nil
        accept = nil
        frames = nil
        stream.close()
    }
}
