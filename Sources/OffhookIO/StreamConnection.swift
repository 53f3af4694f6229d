internal import CLinux
internal import Glibc
package import OffhookBasics

/// A TCP connection on an event loop, with or without TLS.
///
/// It belongs to the loop's thread: every call is made there and the handler is called there, never from inside a call
/// of ours. The loop keeps it alive until it is closed, from either side.
package final class StreamConnection: @unchecked Sendable {
    package enum Event: Equatable {
        /// Both ways are open; with TLS, the handshake is done and the peer's certificate accepted.
        case connected
        case received([UInt8])
        /// Everything that was queued has gone to the kernel.
        case drained
        /// The peer sends no more; what we send still reaches it until we ``StreamConnection/close()``.
        case peerFinished
        /// The connection is gone and no event follows: both sides had finished (nil), or for a cause.
        case closed(IOError?)
    }

    package enum SendOutcome: Hashable, Sendable {
        /// It is sent, or waits its turn.
        case accepted
        /// The queue has no room for it; nothing of it was taken.
        case full
        /// The connection is not open, or our way out finished.
        case closed
    }

    package enum Security: Sendable {
        case none
        /// TLS; the client checks that the certificate is for `peerName`, without which only a context that trusts
        /// anybody connects. A server leaves it nil.
        case tls(TLSContext, peerName: TLSContext.PeerName?)
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

    private enum State {
        case connecting
        case handshaking
        case open
        case closed
    }

    /// Which connection this is, unique on its loop.
    package let id: UInt64
    package let remoteEndpoint: Endpoint
    /// Our end; known once connected.
    package private(set) var localEndpoint: Endpoint?
    /// When bytes last came or went, for idle checks.
    package private(set) var lastActivity: Instant
    /// Called for each event; whoever accepts a connection sets it in the accept handler.
    package var handler: ((Event) -> Void)?

    // Everything below is the loop thread's alone.
    private let loop: EventLoop
    private let options: Options
    private var state: State
    private var descriptor: Int32?
    private var source: SourceID?
    private var interest: Interest = []
    private var queue = SendQueue()
    private var tls: TLSSession?
    private var deadline: LoopTimer?
    private var hasFinished = false
    private var hasShutDown = false
    private var hasPeerFinished = false

    /// Connects to a peer; the outcome is the first event: `connected` or `closed`.
    package init(
        on loop: EventLoop, connectingTo remote: Endpoint, options: Options = Options(),
        handler: @escaping (Event) -> Void
    ) {
        loop.assertOnLoop()
        self.loop = loop
        self.options = options
        self.handler = handler
        id = loop.nextIdentifier()
        remoteEndpoint = remote
        lastActivity = loop.now
        state = .connecting
        startDeadline()
        do {
            try connect()
        } catch {
            failSoon(error)
        }
    }

    /// Takes over a connection that a listener accepted.
    init(on loop: EventLoop, accepted descriptor: Int32, from remote: Endpoint, options: Options) throws(IOError) {
        loop.assertOnLoop()
        self.loop = loop
        self.options = options
        self.descriptor = descriptor
        id = loop.nextIdentifier()
        remoteEndpoint = remote
        lastActivity = loop.now
        state = .handshaking
        // Where this fails, the listener sees it before anybody has the connection.
        if case .tls(let context, _) = options.security { tls = try TLSSession(server: context) }
        clinux_set_stream_options(descriptor, options.keepsAlive ? 1 : 0)
        source = try loop.add(self, descriptor: descriptor, interest: .read)
        interest = .read
        startDeadline()
    }

    /// How many bytes wait to be sent.
    package var queuedByteCount: Int { queue.count }

    /// Whether `connected` came and neither side has closed since.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Sends bytes after all that were sent before; only once connected.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> SendOutcome {
        loop.assertOnLoop()
        guard case .open = state, !hasFinished else { return .closed }
        guard !bytes.isEmpty else { return .accepted }
        guard bytes.count <= options.queueLimit - queue.count else { return .full }
        if let tls {
            guard tls.send(bytes) else { return .closed }
            queue.append(tls.takeOutput())
        } else {
            queue.append(bytes)
        }
        flush()
        return .accepted
    }

    /// Says that nothing more will be sent once the queue has gone, and keeps on receiving.
    package func finish() {
        loop.assertOnLoop()
        guard case .open = state, !hasFinished else { return }
        hasFinished = true
        if let tls {
            tls.finish()
            queue.append(tls.takeOutput())
        }
        flush()
    }

    /// Closes at once, dropping what is queued; no event follows. Doing it twice is harmless.
    package func close() {
        loop.assertOnLoop()
        guard state != .closed else { return }
        if let tls, case .open = state, !hasFinished, let descriptor {
            // The peer learns that this end is no cut; if the kernel has no room for it, it does not.
            tls.finish()
            if queue.isEmpty {
                _ = tls.takeOutput().withUnsafeBytes { clinux_stream_send(descriptor, $0.baseAddress, $0.count) }
            }
        }
        release()
    }

    // MARK: Connecting

    private func startDeadline() {
        deadline = loop.schedule(at: loop.now + options.connectTimeout) { [weak self] in
            guard let self else { return }
            self.end(.timedOut(reaching: self.remoteEndpoint))
        }
    }

    private func connect() throws(IOError) {
        if case .tls(let context, let peerName) = options.security {
            tls = try TLSSession(client: context, peerName: peerName)
        }
        let version = remoteEndpoint.address.socketVersion
        let descriptor = clinux_socket(version, 1, 0)
        guard descriptor >= 0 else { throw IOError(errno: errno, doing: "connect to \(remoteEndpoint)") }
        self.descriptor = descriptor
        clinux_set_stream_options(descriptor, options.keepsAlive ? 1 : 0)
        if let localAddress = options.localAddress {
            var local = clinux_endpoint(localAddress)
            guard clinux_bind(descriptor, version, &local) == 0 else {
                throw IOError(errno: errno, binding: Endpoint(localAddress, 0), as: "TCP")
            }
        }
        var remote = clinux_endpoint(remoteEndpoint)
        guard clinux_connect(descriptor, version, &remote) == 0 || errno == EINPROGRESS else {
            throw IOError(errno: errno, reaching: remoteEndpoint)
        }
        source = try loop.add(self, descriptor: descriptor, interest: .write)
        interest = .write
    }

    private func connectionDidOpen() {
        guard let descriptor else { return }
        let code = clinux_pending_error(descriptor)
        guard code == 0 else { return end(IOError(errno: code, reaching: remoteEndpoint)) }
        state = .handshaking
        setInterest(.read)
        begin()
    }

    /// The TCP connection stands: shake hands where there is TLS, else say so.
    func begin() {
        guard case .handshaking = state, let descriptor else { return }
        var local = clinux_endpoint()
        if clinux_local(descriptor, &local) == 0 { localEndpoint = local.endpoint }
        lastActivity = loop.now
        if let tls {
            var events: [TLSSession.Event] = []
            tls.start(events: &events)
            handle(events)
        } else {
            becomeOpen()
        }
    }

    private func becomeOpen() {
        state = .open
        deadline?.disarm()
        deadline = nil
        handler?(.connected)
    }

    // MARK: Receiving

    private func readAvailable() {
        // A few reads, then others get their turn; what is left makes the socket readable again.
        for _ in 0..<4 {
            guard let descriptor, !hasPeerFinished else { return }
            let count = loop.withStreamRoom { room in
                let count = read(descriptor, room.baseAddress, room.count)
                if count > 0 { received(UnsafeRawBufferPointer(rebasing: room[..<count])) }
                return (count, errno, room.count)
            }
            if count.0 == 0 { return peerDidFinish() }
            if count.0 < 0 {
                if count.1 != EAGAIN && count.1 != EINTR { end(IOError(errno: count.1, reaching: remoteEndpoint)) }
                return
            }
            if count.0 < count.2 { return }
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        lastActivity = loop.now
        guard let tls else {
            handler?(.received(Array(bytes)))
            return
        }
        var events: [TLSSession.Event] = []
        tls.receive(bytes, events: &events)
        handle(events)
    }

    private func handle(_ events: [TLSSession.Event]) {
        if let tls { queue.append(tls.takeOutput()) }
        flush()
        for event in events {
            guard state != .closed else { return }
            switch event {
            case .established: becomeOpen()
            case .plaintext(let bytes): handler?(.received(bytes))
            case .peerFinished: peerDidFinish()
            case .failed(let error): end(error)
            }
        }
    }

    private func peerDidFinish() {
        guard !hasPeerFinished, state != .closed else { return }
        guard case .open = state else {
            return end(
                IOError(
                    .handshake,
                    reason:
                        "\(remoteEndpoint) closed the connection during the TLS handshake; check that it speaks TLS on this port."
                ))
        }
        hasPeerFinished = true
        if hasShutDown { return end(nil) }
        updateInterest()
        handler?(.peerFinished)
    }

    // MARK: Sending

    private func flush() {
        guard let descriptor, state == .open || state == .handshaking else { return }
        guard !queue.isEmpty || hasFinished else { return }
        var code: Int32 = 0
        queue.drain { bytes in
            let count = clinux_stream_send(descriptor, bytes.baseAddress, bytes.count)
            if count < 0 { code = errno }
            return count
        }
        lastActivity = loop.now
        if code != 0 && code != EAGAIN && code != EINTR {
            return failSoon(IOError(errno: code, reaching: remoteEndpoint))
        }
        if queue.isEmpty && hasFinished && !hasShutDown {
            hasShutDown = true
            clinux_finish(descriptor)
            if hasPeerFinished { closeSoon() }
        }
        updateInterest()
    }

    private func updateInterest() {
        var wanted: Interest = []
        if !hasPeerFinished { wanted.insert(.read) }
        if !queue.isEmpty { wanted.insert(.write) }
        setInterest(wanted)
    }

    private func setInterest(_ wanted: Interest) {
        guard wanted != interest, let descriptor, let source else { return }
        interest = wanted
        loop.update(source, descriptor: descriptor, interest: wanted)
    }

    // MARK: Ending

    /// Ends after the current call has returned, so that no handler is called from inside it.
    private func failSoon(_ error: IOError) {
        loop.schedule(at: .zero) { [self] in end(error) }
    }

    private func closeSoon() {
        loop.schedule(at: .zero) { [self] in end(nil) }
    }

    private func end(_ error: IOError?) {
        guard state != .closed else { return }
        let handler = handler
        release()
        handler?(.closed(error))
    }

    private func release() {
        deadline?.disarm()
        if let descriptor, let source { loop.remove(source, descriptor: descriptor) }
        loopDidEnd()
    }
}

extension StreamConnection: LoopSource {
    func loopDidSignal(_ events: Interest) {
        if state == .connecting { return connectionDidOpen() }
        // What the peer sent before it broke off is read first.
        if events.contains(.read) { readAvailable() }
        if events.contains(.write) && !queue.isEmpty {
            flush()
            if queue.isEmpty && isOpen { handler?(.drained) }
        }
        guard let descriptor, !events.isDisjoint(with: [.error, .hangUp]), !events.contains(.read) else { return }
        let code = clinux_pending_error(descriptor)
        // Hung up without an error once both sides had finished: the good end.
        if code == 0 && hasShutDown && hasPeerFinished { return end(nil) }
        end(IOError(errno: code == 0 ? ECONNRESET : code, reaching: remoteEndpoint))
    }

    func loopDidEnd() {
        if let descriptor { Glibc.close(descriptor) }
        descriptor = nil
        source = nil
        deadline = nil
        tls = nil
        handler = nil
        queue.removeAll()
        state = .closed
    }
}
