import OffhookBasics
import Testing

@testable import OffhookSIP

/// One user agent and a far end that says what a test writes down, in virtual time.
struct Scene {
    static let peer = TransportTarget(
        transport: .udp, remote: Endpoint(IPAddress(version4: 0xC000_020A), 5060))
    static let local = Endpoint(IPAddress(version4: 0xC000_0201), 5060)

    var userAgent: SIPUserAgent
    var now = Instant.zero
    var session = SessionID(number: 0)
    /// What was sent and not yet looked at.
    private(set) var sent: [(message: SIPMessage, target: TransportTarget)] = []
    private var events: [SessionEvent] = []
    private(set) var requestEvents: [(RequestID, RequestEvent)] = []
    private(set) var strangers: [(SIPRequest, ServerTransactionID)] = []
    private(set) var queries: [(ResolveQuery, ResolveToken)] = []
    private(set) var challenged: RequestID?
    private(set) var referral: ReferralID?
    private(set) var end: SessionEnd?
    /// Whether all we send must be readable; what a broken request said is copied into its refusal.
    var readsAll = true
    /// Whether names and addresses are resolved to the peer at once.
    var resolves = true

    private(set) var callID = "call-1"
    private(set) var ourTag = ""
    var peerTag = "peer"
    var peerSequence: UInt32 = 1
    private var branchCount = 0

    init(_ configuration: UserAgentConfiguration = UserAgentConfiguration(), seed: UInt64 = 7) {
        userAgent = SIPUserAgent(configuration: configuration, seed: seed)
    }

    // MARK: Us

    mutating func act(_ body: (inout SIPUserAgent, SessionID, Instant, inout [UserAgentAction]) -> Void) {
        var actions: [UserAgentAction] = []
        body(&userAgent, session, now, &actions)
        perform(actions)
    }

    mutating func call(
        _ target: String = "sip:bob@192.0.2.10", offer: String? = "offer", route: TransportRoute? = nil,
        headers: SIPHeaders = SIPHeaders()
    ) throws {
        let uri = try #require(URI(parsing: target))
        let from = try #require(NameAddress(parsing: "Alice <sip:alice@example.org>"))
        var id: SessionID?
        act { userAgent, _, now, actions in
            id = userAgent.invite(
                uri, from: from, route: route, headers: headers, offer: offer.map { Array($0.utf8) }, at: now,
                actions: &actions)
        }
        session = try #require(id)
    }

    mutating func ring(_ status: Int = 180, _ description: String? = nil) {
        act { $0.ring($1, status: status, description: description.map { Array($0.utf8) }, at: $2, actions: &$3) }
    }

    mutating func accept(_ description: String? = "answer") {
        act { $0.accept($1, description: description.map { Array($0.utf8) }, at: $2, actions: &$3) }
    }

    mutating func answer(_ description: String) {
        act { $0.answer($1, description: Array(description.utf8), at: $2, actions: &$3) }
    }

    mutating func reinvite(_ offer: String?) {
        act { $0.reinvite($1, offer: offer.map { Array($0.utf8) }, at: $2, actions: &$3) }
    }

    mutating func update(_ offer: String) {
        act { $0.update($1, offer: Array(offer.utf8), at: $2, actions: &$3) }
    }

    mutating func hangUp() {
        act { $0.end($1, at: $2, actions: &$3) }
    }

    /// A call of ours that the peer took.
    static func established(
        _ configuration: UserAgentConfiguration = UserAgentConfiguration(),
        _ configure: (inout SIPResponse) -> Void = { _ in }
    ) throws -> Scene {
        var scene = Scene(configuration)
        try scene.call()
        let invite = try scene.request(.invite)
        scene.respond(200, to: invite, body: "answer", configure)
        scene.forget()
        return scene
    }

    /// A call of the peer's that we took, ACK and all.
    static func answered(
        _ configuration: UserAgentConfiguration = UserAgentConfiguration(),
        _ configure: (inout SIPRequest) -> Void = { _ in }
    ) -> Scene {
        var scene = Scene(configuration)
        scene.invite(configure: configure)
        scene.accept()
        scene.acknowledge()
        scene.forget()
        return scene
    }

    // MARK: The peer

    /// A request of the peer's that begins something.
    mutating func invite(
        _ method: SIPMethod = .invite, offer: String? = "offer", from source: TransportTarget = Self.peer,
        configure: (inout SIPRequest) -> Void = { _ in }
    ) {
        var request = makeRequest(method, sequence: peerSequence)
        request.headers.to = NameAddress(parsing: "<sip:alice@192.0.2.1>")
        if let offer { request.setDescription(Array(offer.utf8)) }
        configure(&request)
        receive(request, from: source)
    }

    /// A request of the peer's within the dialog, with the next CSeq unless one is given.
    @discardableResult
    mutating func peer(
        _ method: SIPMethod, sequence: UInt32? = nil, body: String? = nil,
        configure: (inout SIPRequest) -> Void = { _ in }
    ) -> SIPRequest {
        if sequence == nil { peerSequence += 1 }
        var request = makeRequest(method, sequence: sequence ?? peerSequence)
        if let body { request.setDescription(Array(body.utf8)) }
        configure(&request)
        receive(request)
        return request
    }

    /// The peer's ACK of our latest 2xx.
    mutating func acknowledge(sequence: UInt32? = nil, body: String? = nil) {
        peer(.ack, sequence: sequence ?? peerSequence, body: body)
    }

    private mutating func makeRequest(_ method: SIPMethod, sequence: UInt32) -> SIPRequest {
        branchCount += 1
        var request = SIPRequest(method: method, uri: URI(parsing: "sip:alice@192.0.2.1:5060")!)
        request.headers.append(.via, "SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKpeer\(branchCount);rport")
        request.headers.maxForwards = 70
        request.headers.from = NameAddress(parsing: "<sip:bob@192.0.2.10>;tag=\(peerTag)")
        request.headers.to = NameAddress(parsing: "<sip:alice@192.0.2.1>;tag=\(ourTag)")
        request.headers.callID = callID
        request.headers.cseq = CSeq(sequence, method)
        request.headers.contacts = [NameAddress(parsing: "<sip:bob@192.0.2.10:5060>")!]
        return request
    }

    mutating func respond(
        _ status: Int, to request: SIPRequest, tag: String? = nil, body: String? = nil,
        _ configure: (inout SIPResponse) -> Void = { _ in }
    ) {
        var response = SIPResponse(answering: request, status: status, tag: tag ?? peerTag)
        if (101..<300).contains(status), request.method == .invite || request.method == .update {
            response.headers.contacts = [NameAddress(parsing: "<sip:bob@192.0.2.10:5060>")!]
        }
        if let body { response.setDescription(Array(body.utf8)) }
        configure(&response)
        receive(response)
    }

    mutating func receive(_ request: SIPRequest, from source: TransportTarget = Self.peer) {
        receive(request.write(), from: source)
    }

    mutating func receive(_ response: SIPResponse) {
        receive(response.write())
    }

    mutating func receive(_ bytes: [UInt8], from source: TransportTarget = Self.peer) {
        var actions: [UserAgentAction] = []
        userAgent.receive(bytes, from: source, local: Self.local, at: now, actions: &actions)
        perform(actions)
    }

    // MARK: Time

    mutating func advance(by duration: Duration) {
        let end = now + duration
        while let deadline = userAgent.nextDeadline(), deadline <= end {
            now = max(now, deadline)
            var actions: [UserAgentAction] = []
            userAgent.handle(timeoutAt: now, actions: &actions)
            perform(actions)
        }
        now = end
    }

    // MARK: What happened

    /// Start lines sent since this was last asked, without the version.
    mutating func lines() -> [String] {
        defer { sent = [] }
        return sent.map { message, _ in
            switch message {
            case .request(let request): "\(request.method) \(request.headers.cseq?.number ?? 0)"
            case .response(let response): "\(response.status) \(response.headers.cseq?.description ?? "")"
            }
        }
    }

    /// Names of the events since this was last asked.
    mutating func news() -> [String] {
        defer { events = [] }
        return events.map(\.name)
    }

    mutating func forget() {
        sent = []
        events = []
    }

    /// The latest request of a method sent and not yet forgotten.
    func request(_ method: SIPMethod) throws -> SIPRequest {
        let requests = sent.compactMap { message, _ in if case .request(let request) = message { request } else { nil }
        }
        return try #require(requests.last { $0.method == method })
    }

    /// The latest response sent and not yet forgotten.
    func response(_ status: Int) throws -> SIPResponse {
        let responses = sent.compactMap { message, _ in
            if case .response(let response) = message { response } else { nil }
        }
        return try #require(responses.last { $0.status == status })
    }

    func target(of method: SIPMethod) throws -> TransportTarget {
        try #require(
            sent.last { message, _ in
                if case .request(let request) = message { request.method == method } else { false }
            }
        ).target
    }

    private mutating func perform(_ actions: [UserAgentAction]) {
        for action in actions {
            switch action {
            case .send(let bytes, let target):
                guard let message = try? SIPMessage(parsing: bytes) else {
                    if readsAll {
                        Issue.record("we sent what cannot be read: \(String(decoding: bytes, as: UTF8.self))")
                    }
                    continue
                }
                learn(from: message)
                sent.append((message, target))
            case .event(let session, let event): note(event, session)
            case .resolve(let query, let token):
                queries.append((query, token))
                if resolves { resolve(token, [query]) }
            case .outOfDialogRequest(let request, let transaction, _): strangers.append((request, transaction))
            case .requestEvent(let id, let event): requestEvents.append((id, event))
            }
        }
    }

    /// Answers a question with targets of these addresses, or the peer's own for a name.
    mutating func resolve(_ token: ResolveToken, _ hosts: [ResolveQuery]) {
        let routes = hosts.map { query in
            let address = query.host.address ?? Self.peer.remote.address
            let transport = query.transport ?? .udp
            let remote = Endpoint(address, query.port ?? transport.defaultPort)
            return TransportRoute(target: TransportTarget(transport: transport, remote: remote), local: Self.local)
        }
        act { userAgent, _, now, actions in userAgent.resolved(token, routes: routes, at: now, actions: &actions) }
    }

    private mutating func learn(from message: SIPMessage) {
        switch message {
        case .request(let request):
            if request.method == .invite, let id = request.headers.callID { callID = id }
            if let tag = request.headers.from?.tag { ourTag = tag }
        case .response(let response):
            if response.headers.cseq?.method == .invite, let tag = response.headers.to?.tag { ourTag = tag }
        }
    }

    private mutating func note(_ event: SessionEvent, _ id: SessionID) {
        switch event {
        case .incoming: session = id
        case .authenticationRequired(let request, _): challenged = request
        case .referralRequested(let request): referral = request.id
        case .ended(let end): self.end = end
        default: break
        }
        events.append(event)
    }
}
