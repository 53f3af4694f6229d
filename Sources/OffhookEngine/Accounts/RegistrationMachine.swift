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

    private enum State: Sendable {
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
    private var state = State.idle
    private(set) var binding: RegistrationBinding?
    private(set) var status = RegistrationStatus(.unregistered)

    private let callID: String
    private var sequence: UInt32 = 0
    private var random: SeededRandom
    /// Seconds to ask for; a registrar may have asked for more (423).
    private var interval: UInt32
    private var tooBriefCount = 0
    private var failureCount = 0
    private var isRecovering = false
    /// Where to try next.
    private var candidates: [TransportRoute] = []
    /// All that the server was found at, best first.
    private var found: [TransportRoute] = []
    private var route: TransportRoute?
    private var contact: SIPURI?
    /// A contact to take back, for it named an address that nobody reaches.
    private var formerContact: SIPURI?
    /// Where the server sees us, in place of our own address.
    private var learned: Endpoint?
    private var hasMoved = false
    /// Something changed while a REGISTER was out.
    private var isStale = false

    private var pingAt: Instant?
    private var pongDeadline: Instant?
    /// Whether the server answers signs of life, so that silence says something.
    private var answersPings = false

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

    private mutating func ping(at now: Instant, actions: inout [Action]) {
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
    private mutating func pingDelay(_ binding: RegistrationBinding) -> Duration {
        binding.pingInterval * random.fraction(0.8, 1)
    }

    // MARK: Registering

    private mutating func resolve(actions: inout [Action]) {
        state = .resolving
        isStale = false
        if status.state != .registered { tell(RegistrationStatus(.registering), actions: &actions) }
        actions.append(.resolve(server))
    }

    private mutating func tryNext(actions: inout [Action]) {
        register(along: candidates.removeFirst(), actions: &actions)
    }

    private mutating func register(along route: TransportRoute, actions: inout [Action]) {
        self.route = route
        let fresh = makeContact(for: route)
        if let contact, contact.description != fresh.description, binding != nil { formerContact = contact }
        contact = fresh
        state = .registering
        if status.state != .registered { tell(RegistrationStatus(.registering), actions: &actions) }
        send(along: route, expires: interval, actions: &actions)
    }

    private func makeContact(for route: TransportRoute) -> SIPURI {
        let transport = route.target.transport
        let local = learned ?? route.local
        var uri = SIPURI(
            user: identity.uri.sip?.user, host: SIPHost(local.address), port: local.port == 0 ? nil : local.port)
        if transport != .udp { uri.transport = transport.rawValue }
        return uri
    }

    private mutating func send(along route: TransportRoute, expires: UInt32, actions: inout [Action]) {
        guard let address = identity.uri.sip, let contact else { return }
        sequence &+= 1
        let domain = SIPURI(isSecure: address.isSecure, host: address.host, port: address.port)
        var request = SIPRequest(method: .register, uri: .sip(domain))
        var own = address
        own.parameters = SIPParameters()
        own.headers = []
        request.headers.from = NameAddress(displayName: identity.displayName, uri: .sip(own))
        request.headers.to = NameAddress(uri: .sip(own))
        request.headers.callID = callID
        request.headers.cseq = CSeq(sequence, .register)
        if !routes.isEmpty { request.headers.route = routes }
        var contacts = [NameAddress(uri: .sip(contact))]
        contacts[0].parameters["reg-id"] = "1"
        contacts[0].parameters.set("+sip.instance", raw: "\"<\(settings.instance)>\"")
        contacts[0].parameters["expires"] = "\(expires)"
        if let formerContact, expires > 0 {
            var former = NameAddress(uri: .sip(formerContact))
            former.parameters["expires"] = "0"
            contacts.append(former)
        }
        request.headers.contacts = contacts
        request.headers.expires = expires
        request.headers.supported = ["path", "outbound", "gruu"]
        actions.append(.send(request, route))
    }

    private mutating func accept(
        _ response: SIPResponse, along flow: TransportRoute, at now: Instant, actions: inout [Action]
    ) {
        guard let contact else { return }
        let answer = RegistrationAnswer(response, contact: contact, instance: settings.instance, asked: interval)
        guard answer.seconds > 0 else {
            let told = "The registrar took the address back at once."
            return fail(CallFailure(.registrationFailed, told, sipStatus: response.status), at: now, actions: &actions)
        }
        failureCount = 0
        isRecovering = false
        tooBriefCount = 0
        formerContact = nil
        let former = binding
        let interval = Duration.seconds(Int64(answer.seconds))
        var binding = RegistrationBinding(
            flow: flow, contact: .sip(contact), interval: interval, expiresAt: now + interval,
            pingInterval: answer.flowTimer.map { .seconds(Int64($0)) }
                ?? (flow.target.transport.isReliable ? .seconds(120) : .seconds(29)))
        binding.publicGRUU = answer.publicGRUU
        binding.serviceRoute = response.headers.serviceRoute
        binding.hasOutbound = answer.hasOutbound
        binding.seen = answer.seen
        self.binding = binding
        // A WebSocket has pings of its own.
        pingAt = flow.target.transport.isWebSocket ? nil : now + pingDelay(binding)
        pongDeadline = nil
        if isStale { return resolve(actions: &actions) }
        if let seen = answer.seen, isHidden(seen, binding), !hasMoved {
            // Nobody can reach the address we gave: give the one that the server sees (RFC 3581, RFC 5626 §4.4).
            hasMoved = true
            learn(seen)
            return register(along: flow, actions: &actions)
        }
        hasMoved = false
        state = .registered(refreshAt: now + Self.refreshDelay(interval))
        if former?.flow != flow || former?.contact != binding.contact || former?.callContact != binding.callContact {
            actions.append(.moved)
        }
        tell(RegistrationStatus(.registered, interval: interval), actions: &actions)
    }

    /// Whether the server sees us elsewhere than our contact says, and would send requests there in vain.
    private func isHidden(_ seen: Endpoint, _ binding: RegistrationBinding) -> Bool {
        guard let contact, !binding.hasOutbound else { return false }
        let transport = binding.flow.target.transport
        guard contact.host.address == seen.address else { return !transport.isWebSocket }
        // The port of a connection that we opened is never that which we listen on.
        return transport == .udp && (contact.port ?? transport.defaultPort) != seen.port
    }

    private mutating func learn(_ seen: Endpoint) {
        learned = seen
    }

    /// Nine tenths of the time, and never less than leaves a REGISTER time to be repeated.
    private static func refreshDelay(_ interval: Duration) -> Duration {
        let margin = min(max(interval / 10, .seconds(5)), .seconds(60))
        return max(interval - margin, interval / 2)
    }

    private mutating func register(longerThan response: SIPResponse, at now: Instant, actions: inout [Action]) {
        guard let least = response.headers.minExpires, least > interval, tooBriefCount < 3, let route else {
            return fail(RegistrationRefusal(response), at: now, actions: &actions)
        }
        tooBriefCount += 1
        interval = least
        send(along: route, expires: interval, actions: &actions)
    }

    // MARK: Failing

    private mutating func flowFailed(_ reason: String, at now: Instant, actions: inout [Action]) {
        switch state {
        case .registered, .registering: break
        case .idle, .resolving, .waiting, .failed, .unregistering, .stopped: return
        }
        isRecovering = true
        // The first try follows soon, but not from all clients of a server that went away at the same moment.
        let failure = CallFailure(.signalingLost, reason)
        wait(.milliseconds(Int(500 + random.next() % 1500)), failure, actions: &actions, at: now)
    }

    private mutating func fail(_ failure: CallFailure, at now: Instant, actions: inout [Action]) {
        wait(nextDelay(), failure, actions: &actions, at: now)
    }

    private mutating func fail(_ refusal: RegistrationRefusal, at now: Instant, actions: inout [Action]) {
        guard refusal.mayPass else {
            state = .failed
            lose()
            return tell(RegistrationStatus(.failed, failure: refusal.failure), actions: &actions)
        }
        wait(max(nextDelay(), refusal.retryAfter ?? .zero), refusal.failure, actions: &actions, at: now)
    }

    private mutating func wait(
        _ delay: Duration, _ failure: CallFailure, actions: inout [Action], at now: Instant
    ) {
        if case .registering = state { actions.append(.abandon) }
        state = .waiting(until: now + delay)
        lose()
        var failure = failure
        failure.retryAfter = delay
        tell(RegistrationStatus(.failed, retryAfter: delay, failure: failure), actions: &actions)
    }

    /// Nothing can be sent along the flow any more.
    private mutating func lose() {
        binding = nil
        pingAt = nil
        pongDeadline = nil
        hasMoved = false
    }

    /// Doubles from 30 s to half an hour; between half and all of it, at random (RFC 5626 §4.5).
    ///
    /// A flow that was there and was lost is tried for from 5 s on: calls may hang on it.
    private mutating func nextDelay() -> Duration {
        let base = Duration.seconds(isRecovering ? 5 : 30)
        let longest = min(base * (1 << min(failureCount, 9)), .seconds(1800))
        failureCount += 1
        return longest * random.fraction(0.5, 1)
    }

    private mutating func finish(actions: inout [Action]) {
        state = .stopped
        lose()
        tell(RegistrationStatus(.unregistered), actions: &actions)
        actions.append(.stopped)
    }

    private mutating func tell(_ status: RegistrationStatus, actions: inout [Action]) {
        guard status != self.status else { return }
        self.status = status
        actions.append(.changed(status))
    }

    /// How long a server may take to take a registration back.
    private static var patience: Duration { .seconds(4) }
    /// How long an answer to a sign of life may take (RFC 5626 §4.4.1).
    private static var pongPatience: Duration { .seconds(10) }
}

extension SeededRandom {
    /// A number between these two.
    fileprivate mutating func fraction(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * Double(next() >> 11) / Double(1 << 53)
    }
}
