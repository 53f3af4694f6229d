internal import OffhookBasics
internal import OffhookSIP

/// One account's registration, from the first REGISTER to the one that takes it back.
///
/// RFC 3261 §10.2, with RFC 3327 (Path), 3581 (where the server sees us), 3608 (Service-Route), 5626 (outbound) and 5627
/// (GRUU). One REGISTER is out at a time.
struct RegistrationMachine: Sendable {
    enum Action: Sendable {
        case resolve(ResolveQuery)
        /// Send a REGISTER; the response or the failure comes back here.
        case send(SIPRequest, TransportRoute)
        /// Whatever comes of the REGISTER that is out concerns nobody.
        case abandon
        case changed(RegistrationStatus)
        /// The binding is new, or goes along another flow, or is seen at another address.
        case moved
        /// Send a sign of life along the flow.
        case ping(TransportTarget, KeepAlive)
        /// The registration is taken back, or nobody cares any more.
        case stopped
    }

    /// A sign of life along a flow (RFC 5626 §3.5).
    enum KeepAlive: Hashable, Sendable {
        /// A double line end: on a stream the server answers with a single one.
        case lineEnds
        /// A STUN binding request.
        case stun
    }

    enum State: Sendable {
        case idle
        case resolving
        /// A REGISTER is out.
        case registering
        case registered(refreshAt: Instant)
        /// The last try failed; another follows.
        case waiting(until: Instant)
        /// The last try failed, and another would fail too.
        case failed
        /// A REGISTER that takes the binding back is out.
        case unregistering(until: Instant)
        case stopped
    }

    let identity: NameAddress
    let server: ResolveQuery
    let routes: [NameAddress]
    let settings: RegistrationSettings
    var state = State.idle
    var binding: RegistrationBinding?
    var status = RegistrationStatus(.unregistered)

    let callID: String
    var sequence: UInt32 = 0
    var random: SeededRandom
    /// Seconds to ask for; a registrar may have asked for more (423).
    var interval: UInt32
    var tooBriefCount = 0
    var failureCount = 0
    var isRecovering = false
    /// When the flow in use came to be.
    var boundAt: Instant?
    /// How many flows one after another broke soon after they came to be.
    var shortLivedCount = 0
    /// Where to try next.
    var candidates: [TransportRoute] = []
    /// All that the server was found at, best first.
    var found: [TransportRoute] = []
    var route: TransportRoute?
    var contact: SIPURI?
    /// A contact to take back, for it named an address that nobody reaches.
    var formerContact: SIPURI?
    /// Where the server sees us, in place of our own address.
    var learned: Endpoint?
    var hasMoved = false
    /// Something changed while a REGISTER was out.
    var isStale = false

    var pingAt: Instant?
    var pongDeadline: Instant?
    /// Whether the server answers signs of life, so that silence says something.
    var answersPings = false

    init(
        identity: NameAddress, server: ResolveQuery, routes: [NameAddress], settings: RegistrationSettings,
        seed: UInt64
    ) {
        self.identity = identity
        self.server = server
        self.routes = routes
        self.settings = settings
        interval = settings.interval
        random = SeededRandom(seed: seed)
        callID = random.token(length: 24)
    }

    var isRegistered: Bool {
        if case .registered = state { true } else { status.state == .registered }
    }

    /// Where calls go: along the flow, and where that fails to what else the server was found at.
    var ways: [TransportRoute] {
        guard let flow = binding?.flow else { return [] }
        return [flow]
            + found.filter { $0.target.remote != flow.target.remote || $0.target.transport != flow.target.transport }
    }

    // MARK: From the app

    mutating func start(actions: inout [Action]) {
        switch state {
        case .idle, .failed, .waiting, .stopped: resolve(actions: &actions)
        case .resolving, .registering, .registered, .unregistering: break
        }
    }

    /// Takes the registration back, as far as there is one.
    mutating func stop(at now: Instant, actions: inout [Action]) {
        pingAt = nil
        pongDeadline = nil
        let way: TransportRoute?
        switch state {
        case .registering, .registered: way = binding?.flow ?? route
        case .idle, .resolving, .waiting, .failed: way = binding?.flow
        case .unregistering, .stopped: return
        }
        actions.append(.abandon)
        guard let way else { return finish(actions: &actions) }
        state = .unregistering(until: now + Self.patience)
        tell(RegistrationStatus(.unregistering), actions: &actions)
        send(along: way, expires: 0, actions: &actions)
    }

    // MARK: From the network

    mutating func resolved(_ routes: [TransportRoute], at now: Instant, actions: inout [Action]) {
        guard case .resolving = state else { return }
        candidates = routes
        found = routes
        guard !candidates.isEmpty else {
            let reason = "No way to the server \(server.host) was found: check its name and the network."
            return fail(CallFailure(.unreachable, reason), at: now, actions: &actions)
        }
        tryNext(actions: &actions)
    }

    /// Credentials are being found for the REGISTER; it goes out again with the next number.
    mutating func receiveChallenge(_ response: SIPResponse) {
        if let number = response.headers.cseq?.number { sequence = max(sequence, number &+ 1) }
    }

    mutating func receive(
        _ response: SIPResponse, from source: TransportTarget, at now: Instant, actions: inout [Action]
    ) {
        if let number = response.headers.cseq?.number { sequence = max(sequence, number) }
        if case .unregistering = state { return finish(actions: &actions) }
        guard case .registering = state, let route else { return }
        switch response.status {
        case 200..<300:
            accept(response, along: TransportRoute(target: source, local: route.local), at: now, actions: &actions)
        case 423:
            register(longerThan: response, at: now, actions: &actions)
        case 503 where !candidates.isEmpty:
            tryNext(actions: &actions)
        default:
            fail(RegistrationRefusal(response), at: now, actions: &actions)
        }
    }

    /// The REGISTER got no answer.
    mutating func requestFailed(
        _ failure: RequestFailure, reason: String?, at now: Instant, actions: inout [Action]
    ) {
        if case .unregistering = state { return finish(actions: &actions) }
        guard case .registering = state else { return }
        guard candidates.isEmpty else { return tryNext(actions: &actions) }
        let target = route.map { " at \($0.target.remote)" } ?? ""
        switch failure {
        case .timedOut:
            let told = "The server \(server.host)\(target) does not answer: check its address, port and transport."
            fail(CallFailure(.timedOut, told, sipStatus: 408), at: now, actions: &actions)
        case .transportFailed, .unresolved:
            let told = reason ?? "The server \(server.host)\(target) cannot be reached."
            fail(CallFailure(.unreachable, told), at: now, actions: &actions)
        }
    }

    /// A connection closed.
    mutating func connectionClosed(
        _ target: TransportTarget, reason: String?, at now: Instant, actions: inout [Action]
    ) {
        guard let flow = binding?.flow.target, flow.connection != nil, flow.connection == target.connection else {
            return
        }
        flowFailed(reason ?? "The connection to the server was closed.", at: now, actions: &actions)
    }

    /// The addresses of this machine changed: what the registrar knows may lead nowhere now.
    mutating func networkChanged(at now: Instant, actions: inout [Action]) {
        learned = nil
        failureCount = 0
        switch state {
        case .registered, .waiting: resolve(actions: &actions)
        case .registering: isStale = true
        case .idle, .resolving, .failed, .unregistering, .stopped: break
        }
    }

    /// An answer to a sign of life came along this flow; a STUN answer tells where the server sees us.
    mutating func receivePong(
        from source: TransportTarget, seen: Endpoint?, at now: Instant, actions: inout [Action]
    ) {
        guard let flow = binding?.flow.target, flow.remote == source.remote, flow.connection == source.connection
        else { return }
        answersPings = true
        pongDeadline = nil
        guard let seen, case .registered = state, let known = binding?.seen, known != seen else { return }
        // The address translator on the way has given us another port (RFC 5626 §4.4.2).
        learn(seen)
        resolve(actions: &actions)
    }

    // MARK: Time

    var nextDeadline: Instant? {
        let own: Instant? =
            switch state {
            case .registered(let refreshAt): refreshAt
            case .waiting(let until), .unregistering(let until): until
            case .idle, .resolving, .registering, .failed, .stopped: nil
            }
        return [own, pingAt, pongDeadline].compactMap(\.self).min()
    }

    mutating func handle(timeoutAt now: Instant, actions: inout [Action]) {
        if let deadline = pongDeadline, now >= deadline {
            pongDeadline = nil
            flowFailed("The server does not answer signs of life any more.", at: now, actions: &actions)
        }
        if let due = pingAt, now >= due { ping(at: now, actions: &actions) }
        switch state {
        case .registered(let refreshAt) where now >= refreshAt:
            guard let flow = binding?.flow else { return resolve(actions: &actions) }
            candidates = []
            register(along: flow, actions: &actions)
        case .waiting(let until) where now >= until:
            resolve(actions: &actions)
        case .unregistering(let until) where now >= until:
            actions.append(.abandon)
            finish(actions: &actions)
        case .idle, .resolving, .registering, .registered, .waiting, .failed, .unregistering, .stopped:
            break
        }
    }

    mutating func ping(at now: Instant, actions: inout [Action]) {
        guard let binding else {
            pingAt = nil
            return
        }
        let isStream = binding.flow.target.transport.isReliable
        actions.append(.ping(binding.flow.target, isStream || !binding.hasOutbound ? .lineEnds : .stun))
        if pongDeadline == nil, isStream ? answersPings || binding.hasOutbound : answersPings {
            pongDeadline = now + Self.pongPatience
        }
        pingAt = now + pingDelay(binding)
    }

    /// Between 80 and 100 % of the longest time, so that not all clients ping at once (RFC 5626 §4.4).
    mutating func pingDelay(_ binding: RegistrationBinding) -> Duration {
        binding.pingInterval * random.fraction(0.8, 1)
    }

    /// How long a server may take to take a registration back.
    static var patience: Duration { .seconds(4) }
    /// How long an answer to a sign of life may take (RFC 5626 §4.4.1).
    static var pongPatience: Duration { .seconds(10) }
}
