internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookSIP

/// What a ``LocalExchange`` knows and decides, as a value: datagrams and time go in, datagrams come out.
///
/// RFC 3261 §10 (registrar), §16 (proxy) and §22 (digest).
struct ExchangeCore {
    /// Where a device of an account is.
    struct Binding {
        var contact: NameAddress
        /// Where its REGISTER came from, which is where requests reach it.
        var target: TransportTarget
        var expiresAt: Instant
    }

    struct Account {
        /// Nil lets anybody in.
        var password: String?
        var bindings: [Binding] = []
    }

    /// One request on its way to several places.
    struct Fork {
        var request: SIPRequest
        var pending: Set<ClientTransactionID>
        /// Those that nothing was heard of: a CANCEL has to wait until then (RFC 3261 §9.1).
        var silent: Set<ClientTransactionID>
        var refusals: [SIPResponse] = []
        /// Why the branches are to end, once one has won or the caller gave up.
        var endReasons: [SIPReason]?
        var hasWinner = false
    }

    typealias Datagram = (bytes: [UInt8], target: TransportTarget)

    let domain: String
    let local: Endpoint
    var accounts: [String: Account]
    var table = TransactionTable()
    var random: SeededRandom
    var forks: [ServerTransactionID: Fork] = [:]
    var owners: [ClientTransactionID: ServerTransactionID] = [:]
    /// The challenges that may still be answered, newest last.
    var nonces: [String] = []
    private var datagrams: [Datagram] = []

    init(domain: String, local: Endpoint, passwords: [String: String?], seed: UInt64) {
        self.domain = domain
        self.local = local
        accounts = passwords.mapValues { Account(password: $0) }
        random = SeededRandom(seed: seed)
    }

    /// What is to be sent, in order.
    mutating func takeDatagrams() -> [Datagram] {
        defer { datagrams = [] }
        return datagrams
    }

    mutating func nextDeadline() -> Instant? { table.nextDeadline() }

    mutating func handle(timeoutAt now: Instant) {
        change(at: now) { $0.handle(timeoutAt: now, outputs: &$1) }
    }

    mutating func receive(_ bytes: [UInt8], from source: Endpoint, at now: Instant) {
        let target = TransportTarget(transport: .udp, remote: source)
        // What is no SIP message gets silence.
        switch try? SIPMessage(parsing: bytes) {
        case .request(var request):
            ResponseRouting.stamp(&request, from: target)
            change(at: now) { $0.receive(request, from: target, at: now, outputs: &$1) }
        case .response(let response):
            change(at: now) { $0.receive(response, from: target, at: now, outputs: &$1) }
        case nil:
            break
        }
    }

    /// Changes the transactions, then does what they say.
    mutating func change(at now: Instant, _ body: (inout TransactionTable, inout [TransactionTable.Output]) -> Void) {
        var outputs: [TransactionTable.Output] = []
        body(&table, &outputs)
        for output in outputs {
            switch output {
            case .send(let bytes, let target): datagrams.append((bytes, target))
            case .request(let request, let id): receive(request, id, at: now)
            case .mergedRequest(let request, let id): respond(482, to: request, id, at: now)
            case .overload(let request, let target):
                datagrams.append((SIPResponse(answering: request, status: 503).write(), target))
            case .acknowledgement(let request): forward(request)
            case .response(let response, let client, _): receive(response, of: client, at: now)
            case .timedOut(let client), .transportFailed(let client): fail(client, at: now)
            case .clientTerminated(let client): owners[client] = nil
            case .serverTerminated(let id): forks[id] = nil
            }
        }
    }

    func isOurs(_ uri: SIPURI) -> Bool {
        guard let address = uri.host.address else { return uri.host == SIPHost(domain) }
        return address == local.address && (uri.port ?? 5060) == local.port
    }

    // MARK: Requests

    private mutating func receive(_ request: SIPRequest, _ id: ServerTransactionID, at now: Instant) {
        guard request.headers.maxForwards != 0 else { return respond(483, to: request, id, at: now) }
        guard let uri = request.uri.sip else { return respond(416, to: request, id, at: now) }
        if request.method == .cancel { return receiveCancel(request, id, at: now) }
        guard isOurs(uri) else {
            guard let target = Self.target(of: uri) else { return respond(404, to: request, id, at: now) }
            return proxy(request, id, to: [(request.uri, target)], at: now)
        }
        if request.method == .register { return register(request, id, at: now) }
        guard let name = uri.user else {
            return respond(request.method == .options ? 200 : 404, to: request, id, at: now)
        }
        guard accounts[name] != nil else { return respond(404, to: request, id, at: now) }
        guard admit(request, id, at: now) else { return }
        accounts[name]?.bindings.removeAll { $0.expiresAt <= now }
        let targets = accounts[name]?.bindings.map { ($0.contact.uri, $0.target) } ?? []
        guard !targets.isEmpty else { return respond(480, to: request, id, at: now) }
        proxy(request, id, to: targets, at: now)
    }

    /// Where a request to an address goes; names are not looked up.
    static func target(of uri: SIPURI) -> TransportTarget? {
        uri.host.address.map { TransportTarget(transport: .udp, remote: Endpoint($0, uri.port ?? 5060)) }
    }

    /// Sends an ACK on to the far end that it is for.
    private mutating func forward(_ request: SIPRequest) {
        guard let uri = request.uri.sip, !isOurs(uri), let target = Self.target(of: uri) else { return }
        datagrams.append((onward(request, to: request.uri).write(), target))
    }

    mutating func respond(
        _ status: Int, to request: SIPRequest, _ id: ServerTransactionID, at now: Instant,
        _ complete: (inout SIPHeaders) -> Void = { _ in }
    ) {
        var response = SIPResponse(answering: request, status: status, tag: random.token(length: 10))
        complete(&response.headers)
        change(at: now) { [response] in $0.respond(response, to: id, at: now, outputs: &$1) }
    }

    // MARK: Registration

    private mutating func register(_ request: SIPRequest, _ id: ServerTransactionID, at now: Instant) {
        guard let name = request.headers.to?.uri.sip?.user, let account = accounts[name] else {
            return respond(404, to: request, id, at: now)
        }
        guard isAuthentic(request, .authorization, name, account.password) else {
            let challenge = challenge()
            return respond(401, to: request, id, at: now) { $0.append(.wwwAuthenticate, challenge) }
        }
        var bindings = account.bindings.filter { $0.expiresAt > now }
        if request.headers.hasWildcardContact { bindings = [] }
        for contact in request.headers.contacts {
            bindings.removeAll { $0.contact.uri == contact.uri }
            let asked = contact.parameters["expires"].flatMap { UInt32($0) } ?? request.headers.expires ?? 600
            guard asked > 0, let source = table.source(of: id) else { continue }
            let interval = min(asked, 3600)
            bindings.append(
                Binding(contact: contact, target: source, expiresAt: now + .seconds(Int(interval))))
        }
        accounts[name]?.bindings = bindings
        respond(200, to: request, id, at: now) { headers in
            for binding in bindings {
                var contact = binding.contact
                contact.parameters["expires"] = "\((binding.expiresAt - now).components.seconds)"
                headers.append(.contact, "\(contact)")
            }
        }
    }

    // MARK: Who asks

    /// Whether the request may go on; one of ours who has a password must show it.
    private mutating func admit(_ request: SIPRequest, _ id: ServerTransactionID, at now: Instant) -> Bool {
        guard let from = request.headers.from?.uri.sip, isOurs(from), let name = from.user,
            let account = accounts[name], !isAuthentic(request, .proxyAuthorization, name, account.password)
        else { return true }
        let challenge = challenge()
        respond(407, to: request, id, at: now) { $0.append(.proxyAuthenticate, challenge) }
        return false
    }

    private mutating func challenge() -> String {
        let nonce = random.token(length: 24)
        nonces.append(nonce)
        if nonces.count > 256 { nonces.removeFirst() }
        return "Digest realm=\"\(domain)\", nonce=\"\(nonce)\", algorithm=MD5, qop=\"auth\""
    }

    private func isAuthentic(
        _ request: SIPRequest, _ field: SIPHeaderName, _ name: String, _ password: String?
    ) -> Bool {
        guard let password else { return true }
        return request.headers.credentials(field).contains { credentials in
            let given = credentials.parameters
            guard credentials.isDigest, given["username"] == name, given["realm"] == domain,
                let nonce = given["nonce"], nonces.contains(nonce), let response = given["response"]
            else { return false }
            let digest = DigestAuthentication(realm: domain, nonce: nonce)
            let secret = DigestAuthentication.storedSecret(
                username: name, realm: domain, password: password, algorithm: .md5)
            let expected = digest.response(
                storedSecret: secret, method: request.method.name, uri: given["uri"] ?? "",
                protection: given["qop"].flatMap { QualityOfProtection(rawValue: $0) },
                clientNonce: given["cnonce"] ?? "", nonceCount: given["nc"] ?? "", body: request.body)
            return DigestAuthentication.areEqual(expected, response)
        }
    }
}
