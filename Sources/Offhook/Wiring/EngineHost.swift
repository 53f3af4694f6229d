internal import Glibc
internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookCrypto
internal import OffhookEngine
internal import OffhookIO
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSDP
internal import OffhookSIP

/// Where engine and edge meet: an actor on the event loop's thread that owns the engine, the sockets and the codecs.
///
/// Everything that comes in, from sockets, timers, codecs and the app, is one step: the engine is changed once, and then
/// all that it wants is done, before anything else comes in.
actor EngineHost {
    nonisolated let loop: EventLoop
    let ownsLoop: Bool
    nonisolated let configuration: ClientConfiguration
    nonisolated let front: ClientFront
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    struct Account {
        var configuration: UserConfiguration
        var media: MediaServices
        var isStarted = false
    }

    /// What the host knows of a call.
    struct HostedCall {
        var isOutgoing: Bool
        var media: CallMediaWiring
    }

    var engine: CallEngine
    var accounts: [User.ID: Account] = [:]
    var calls: [CallHandle: HostedCall] = [:]
    var waiting: [CommandToken: CheckedContinuation<CallFailure?, Never>] = [:]
    var signaling: SignalingSockets?
    var relaySockets: RelaySockets?
    var resolver: NameResolver?
    /// Names of servers that accounts have, and addresses they were found to have.
    var serverHosts: Set<SIPHost> = []
    var serverAddresses: Set<IPAddress> = []
    private var interfaceMonitor: InterfaceMonitor?
    private var networkTimer: LoopTimer?
    private var ownAddresses: Set<IPAddress> = []
    private var mediaSockets: MediaSockets?
    private var timer: LoopTimer?
    private var ticker: LoopTimer?
    private var nextTick: Instant?
    private var tickCount = 0
    private var lastToken: UInt64 = 0
    /// Shutdowns that wait for the answers to the last requests.
    private var farewells: [CheckedContinuation<Void, Never>] = []
    var isShutDown = false

    /// Makes a host on a loop of its own.
    init(configuration: ClientConfiguration, front: ClientFront) throws(IOError) {
        self.init(
            configuration: configuration, front: front, loop: try EventLoop(), ownsLoop: true,
            seed: SecureRandom.seed())
    }

    /// A simulation gives the loop, which then is not the host's to shut down, and what the engine's dice follow from.
    init(configuration: ClientConfiguration, front: ClientFront, loop: EventLoop, ownsLoop: Bool, seed: UInt64) {
        self.loop = loop
        self.ownsLoop = ownsLoop
        self.configuration = configuration
        self.front = front
        var settings = EngineConfiguration()
        settings.userAgent.product = configuration.userAgent
        settings.userAgent.ringingLimit = configuration.timeouts.ringing
        settings.userAgent.sessionTimer = SessionTimerConfiguration(
            isEnabled: configuration.sessionInterval != nil,
            interval: UInt32(
                clamping: (configuration.sessionInterval?.inNanoseconds ?? 1_800_000_000_000) / 1_000_000_000))
        // Without TCP a long request has no other way to go.
        if !configuration.transports.contains(.tcp) { settings.userAgent.datagramLimit = nil }
        settings.callLimit = max(1, configuration.maximumCalls)
        settings.videoAddLimit = configuration.timeouts.videoAdd
        settings.noAnswerLimit = configuration.timeouts.noAnswer
        settings.failedCallLinger = configuration.timeouts.failedCallLinger
        settings.videoStartBitrate = configuration.videoLimits.startBitrate
        settings.videoMaximumBitrate = configuration.videoLimits.maximumBitrate
        settings.mediaSilence = configuration.timeouts.mediaSilence
        settings.mediaLoss = configuration.timeouts.mediaLoss
        engine = CallEngine(
            configuration: settings, clock: NTPClock(SystemClock.wallTime, at: loop.now),
            seed: seed,
            firstHandle: ProcessCounter.next() << 32, at: loop.now)
    }

    // MARK: Steps

    /// Changes the engine once, then does all that it wants.
    func step(_ change: (inout CallEngine) -> Void) {
        change(&engine)
        while let output = engine.nextOutput() { perform(output) }
        refillPorts()
        timer?.arm(at: engine.nextDeadline() ?? .distantFuture)
        if !farewells.isEmpty, !engine.hasUnansweredRequests { endFarewell() }
    }

    /// Waits until nothing that was sent is unanswered: what has not gone out would be lost with the sockets.
    func answersToRequests(until deadline: Instant) async {
        guard engine.hasUnansweredRequests, loop.now < deadline else { return }
        let timer = loop.schedule(at: deadline) { [unowned self] in assumeIsolated { $0.endFarewell() } }
        await withCheckedContinuation { farewells.append($0) }
        timer.disarm()
    }

    private func endFarewell() {
        for farewell in farewells { farewell.resume() }
        farewells = []
    }

    /// The same for an event of another thread.
    nonisolated func submit(_ change: @escaping @Sendable (inout CallEngine, Instant) -> Void) {
        loop.submit { [self] in
            assumeIsolated { host in
                let now = host.loop.now
                host.step { change(&$0, now) }
            }
        }
    }

    func nextToken() -> CommandToken {
        lastToken += 1
        return CommandToken(number: lastToken)
    }

    private func refillPorts() {
        guard let mediaSockets, !isShutDown else { return }
        while engine.sparePortCount < CallEngine.sparePortsWanted {
            do throws(IOError) {
                engine.addSparePorts(try mediaSockets.open())
            } catch {
                // The call that needs them will fail and say so; the next step tries again.
                log(.warning, error.reason)
                return
            }
        }
    }

    // MARK: Opening and closing

    /// Opens the sockets, once.
    func open() throws(CallError) {
        guard signaling == nil else { return }
        guard !isShutDown else { throw CallError(.stopped, "The client was shut down.") }
        do throws(IOError) {
            try open(on: configuration.bindAddress ?? IPAddress(version6High: 0, low: 0))
        } catch {
            // A machine without IPv6 has no address that stands for both.
            guard configuration.bindAddress == nil, error.code != EADDRINUSE else { throw CallError(opening: error) }
            do throws(IOError) {
                try open(on: IPAddress(version4: 0))
            } catch {
                throw CallError(opening: error)
            }
        }
        timer = loop.makeTimer { [unowned self] in
            assumeIsolated { host in
                let now = host.loop.now
                host.step { $0.handle(timeoutAt: now) }
            }
        }
        ticker = loop.makeTimer { [unowned self] in assumeIsolated { $0.tick() } }
        watchNetwork()
        step { _ in }
    }

    /// What servers of accounts are reached by, as far as that needs a socket of its own.
    private var accountTransports: Set<SignalingTransport> {
        Set(accounts.values.compactMap { $0.configuration.server?.transport }.filter { $0 == .udp })
    }

    /// Hears of addresses that come and go, where we are bound to no certain one.
    private func watchNetwork() {
        guard configuration.bindAddress?.isUnspecified != false else { return }
        networkTimer = loop.makeTimer { [unowned self] in
            assumeIsolated { host in
                // The name servers may be others now.
                host.resolver?.close()
                host.resolver = nil
                host.signaling?.closeConnections(exceptFrom: host.ownAddresses)
                let now = host.loop.now
                host.step { $0.networkChanged(at: now) }
            }
        }
        do throws(IOError) {
            interfaceMonitor = try InterfaceMonitor(on: loop) { [unowned self] addresses in
                assumeIsolated { host in
                    host.ownAddresses = Set(addresses.map(\.address))
                    // Changes come in bursts; half a second later all is settled.
                    host.networkTimer?.arm(at: host.loop.now + .milliseconds(500))
                }
            }
        } catch {
            log(.warning, error.reason)
        }
    }

    private func open(on address: IPAddress) throws(IOError) {
        let handlers = SignalingSockets.Handlers(
            message: { [unowned self] bytes, source, local in
                assumeIsolated { $0.receive(bytes, from: source, local: local) }
            },
            parsed: { [unowned self] message, source, local in
                assumeIsolated { $0.receive(message, from: source, local: local) }
            },
            malformed: { [unowned self] error, source in
                assumeIsolated { host in
                    guard host.isAllowed(source.remote) else { return }
                    let now = host.loop.now
                    host.step { $0.receiveMalformed(error, from: source, at: now) }
                }
            },
            signOfLife: { [unowned self] source, seen in
                assumeIsolated { host in
                    let now = host.loop.now
                    host.step { $0.receiveSignOfLife(from: source, seen: seen, at: now) }
                }
            },
            failure: { [unowned self] target, reason in
                assumeIsolated { host in
                    let now = host.loop.now
                    host.step { $0.transportFailed(target, reason: reason, at: now) }
                }
            },
            closed: { [unowned self] target, reason in
                assumeIsolated { host in
                    let now = host.loop.now
                    host.step { $0.connectionClosed(target, reason: reason, at: now) }
                }
            },
            accepts: { [unowned self] remote in assumeIsolated { $0.isAllowed(remote) } },
            isInUse: { [unowned self] connection in assumeIsolated { $0.engine.usesConnection(connection) } })
        let security = SignalingSecurity(configuration.tls)
        let sockets = SignalingSockets(
            loop: loop, bindAddress: address, security: security, handlers: handlers)
        do throws(IOError) {
            try sockets.open(configuration.transports.union(accountTransports), port: configuration.port)
        } catch {
            sockets.close()
            throw error
        }
        signaling = sockets
        engine.setListeningPorts(sockets.ports)
        mediaSockets = MediaSockets(loop: loop, bindAddress: address, range: configuration.mediaPorts) {
            [unowned self] packet, socket, source in
            assumeIsolated { $0.receive(packet, on: socket, from: source) }
        }
        relaySockets = makeRelaySockets(address, security)
    }

    func close() {
        isShutDown = true
        timer?.disarm()
        ticker?.disarm()
        networkTimer?.disarm()
        interfaceMonitor?.close()
        signaling?.close()
        mediaSockets?.closeAll()
        relaySockets?.closeAll()
        resolver?.close()
        for call in calls.values { call.media.end() }
        calls = [:]
        let failure = CallFailure(.cancelled, "The client was shut down.")
        for continuation in waiting.values { continuation.resume(returning: failure) }
        waiting = [:]
    }

    // MARK: From the sockets

    private func receive(_ bytes: [UInt8], from source: TransportTarget, local: Endpoint) {
        guard isAllowed(source.remote) else { return }
        trace(.received, bytes, source)
        let now = loop.now
        step { $0.receiveSignaling(bytes, from: source, local: local, at: now) }
    }

    private func receive(_ message: SIPMessage, from source: TransportTarget, local: Endpoint) {
        guard isAllowed(source.remote) else { return }
        if configuration.traceHandler != nil { trace(.received, message.write(), source) }
        let now = loop.now
        step { $0.receiveSignaling(message, from: source, local: local, at: now) }
    }

    /// Whether anybody there may talk to us: strangers get silence, so that a scanner learns nothing.
    private func isAllowed(_ remote: Endpoint) -> Bool {
        switch configuration.allowedPeers {
        case .anyone: true
        case .serversOnly: serverAddresses.contains(remote.address)
        case .addresses(let addresses): addresses.contains(remote.address)
        }
    }

    private func receive(_ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint) {
        let now = loop.now
        step { $0.receiveMedia(packet, on: socket, from: source, at: now) }
        // One buffer went in, one goes back to the sockets.
        if let idle = engine.takeIdleBuffer() { loop.give(idle) }
    }

    func sendMedia(_ packet: PacketBuffer, from socket: MediaSocketID, to destination: Endpoint) {
        mediaSockets?.send(packet, from: socket, to: destination)
        engine.giveBack(packet)
    }

    func closePorts(_ ports: MediaPorts) {
        mediaSockets?.close(ports)
    }

    // MARK: Sound

    /// Keeps the 20 ms tick going while a call has sound.
    func armTicker() {
        guard nextTick == nil, calls.values.contains(where: { $0.media.plan.audio != nil }) else { return }
        let next = loop.now + .milliseconds(20)
        nextTick = next
        ticker?.arm(at: next)
    }

    private func tick() {
        let now = loop.now
        tickCount += 1
        for (handle, call) in calls where call.media.plan.audio != nil {
            // More than this is not fetched at once, however far the player is behind.
            for _ in 0..<4 where call.media.isAudioDue { step { $0.playAudio(of: handle, at: now) } }
            call.media.tick(at: now)
        }
        if tickCount % 50 == 0 { sampleRates(at: now) }
        guard let due = nextTick, calls.values.contains(where: { $0.media.plan.audio != nil }) else {
            nextTick = nil
            return
        }
        // Ticks keep their distance on average; after a long stall they begin anew instead of running to catch up.
        let next = now - due > .milliseconds(200) ? now + .milliseconds(20) : due + .milliseconds(20)
        nextTick = next
        ticker?.arm(at: next)
    }

    // MARK: Telling

    nonisolated func log(_ level: LogEntry.Level, _ message: @autoclosure () -> String, call: Call.ID? = nil) {
        guard let handler = configuration.logHandler else { return }
        handler(LogEntry(level: level, message: message(), call: call))
    }

    func trace(_ direction: SignalingTrace.Direction, _ bytes: [UInt8], _ target: TransportTarget) {
        guard let handler = configuration.traceHandler else { return }
        handler(
            SignalingTrace(
                direction: direction, time: loop.now, transport: SignalingTransport(target.transport),
                remote: target.remote, message: TraceRedaction.withoutCredentials(bytes)))
    }
}

extension SignalingTransport {
    init(_ transport: SIPTransport) {
        self =
            switch transport {
            case .udp: .udp
            case .tcp: .tcp
            case .tls: .tls
            case .webSocket: .webSocket
            case .secureWebSocket: .secureWebSocket
            }
    }
}

extension CallError {
    /// Sockets could not be opened.
    init(opening error: IOError) {
        self.init(.portUnavailable, error.reason)
    }
}
