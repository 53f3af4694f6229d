import OffhookBasics
import OffhookCrypto
import OffhookEngine
import OffhookMedia
import OffhookRTP
import OffhookSDP
import OffhookSIP

/// One engine with an account, and a scripted server, on a network that is a value.
final class ServerNetwork {
    static let account = AccountHandle(number: 1)
    static let ownAddress = IPAddress(version4: 0xC000_0205)
    static let server = Endpoint(IPAddress(version4: 0xC633_6401), 5060)
    static let spareServer = Endpoint(IPAddress(version4: 0xC633_6402), 5060)
    static let instance = "urn:uuid:00000000-0000-8000-8000-000000000001"

    private(set) var now = Instant.zero
    private(set) var engine: CallEngine
    let transport: SIPTransport
    /// Answers a request; nil keeps silent.
    var respond: (SIPRequest) -> SIPResponse?
    /// Answers a question for a password.
    var password: (_ realm: String, _ isRepeated: Bool) -> String? = { _, isRepeated in isRepeated ? nil : "secret" }
    /// Where the server of the account is found.
    var targets: [Endpoint] = [ServerNetwork.server]
    /// Our address towards it.
    var local = ServerNetwork.ownAddress
    /// Targets that cannot be reached.
    var unreachable: Set<Endpoint> = []
    /// Which connection stands; messages to another fail.
    var connection: UInt64 = 1

    private(set) var requests: [(request: SIPRequest, target: TransportTarget, at: Instant)] = []
    private(set) var responses: [SIPResponse] = []
    private(set) var statuses: [RegistrationStatus] = []
    private(set) var events: [CallEvent] = []
    private(set) var finished: [CommandToken: CallFailure?] = [:]
    private(set) var signsOfLife: [(bytes: [UInt8], at: Instant)] = []
    private(set) var questions: [String] = []
    private(set) var incoming: [CallHandle] = []
    /// Calls whose far ends hear each other.
    private(set) var joined: [[CallHandle]] = []
    private var pending: [(at: Instant, change: (inout CallEngine, Instant) -> Void)] = []
    private var lastNumber: UInt64 = 0

    var registers: [SIPRequest] { requests.map(\.request).filter { $0.method == .register } }

    init(
        transport: SIPTransport = .udp, interval: UInt32 = 600, listens: Bool = true,
        configure: (inout EngineAccount) -> Void = { _ in },
        respond: @escaping (SIPRequest) -> SIPResponse?
    ) {
        self.transport = transport
        self.respond = respond
        var configuration = EngineConfiguration()
        configuration.userAgent.datagramLimit = nil
        engine = CallEngine(
            configuration: configuration, clock: NTPClock(NTPTimestamp(rawValue: 1 << 60), at: .zero), seed: 7,
            at: .zero)
        if listens { engine.setListeningPorts([.udp: 5062, .tcp: 5062]) }
        var capabilities = MediaCapabilities()
        capabilities.security = .off
        var account = EngineAccount(
            handle: Self.account, identity: NameAddress(uri: URI(parsing: "sip:alice@example.org") ?? .other("")),
            capabilities: capabilities)
        account.authenticationName = "alice"
        account.server = ResolveQuery(
            host: SIPHost("sip.example.org"), port: nil, transport: transport, isSecure: false)
        account.registration = RegistrationSettings(instance: Self.instance)
        account.registration?.interval = interval
        configure(&account)
        engine.setAccount(account)
        settle()
    }

    func token() -> CommandToken {
        lastNumber += 1
        return CommandToken(number: lastNumber)
    }

    func step(_ change: (inout CallEngine, Instant) -> Void) {
        change(&engine, now)
        settle()
    }

    /// Registers; tells how it went.
    @discardableResult
    func start(for duration: Duration = .seconds(5)) -> CallFailure?? {
        let token = token()
        step { $0.startAccount(Self.account, token: token, at: $1) }
        run(duration)
        return finished[token]
    }

    /// The server sends a request along the flow.
    func receive(_ request: SIPRequest) {
        let source = self.source(Self.server)
        let local = Endpoint(self.local, 5062)
        step { $0.receiveSignaling(request.write(), from: source, local: local, at: $1) }
    }

    /// The server answers a request of ours.
    func receive(_ response: SIPResponse) {
        let source = self.source(Self.server)
        let local = Endpoint(self.local, 5062)
        step { $0.receiveSignaling(response.write(), from: source, local: local, at: $1) }
    }

    func receiveSignOfLife(seen: Endpoint? = nil) {
        let source = source(Self.server)
        step { $0.receiveSignOfLife(from: source, seen: seen, at: $1) }
    }

    /// The connection goes, and the next one has another number.
    func loseConnection() {
        let closed = source(Self.server)
        connection += 1
        step { $0.connectionClosed(closed, reason: "the connection was cut", at: $1) }
    }

    private func source(_ endpoint: Endpoint) -> TransportTarget {
        TransportTarget(transport: transport, remote: endpoint, connection: transport.isReliable ? connection : nil)
    }

    private func settle() {
        while true {
            while let output = engine.nextOutput() { perform(output) }
            guard engine.sparePortCount < CallEngine.sparePortsWanted else { return }
            lastNumber += 2
            let port = UInt16(10000 + lastNumber)
            engine.addSparePorts(
                MediaPorts(
                    rtp: MediaSocketID(number: lastNumber), rtpPort: port, rtcp: MediaSocketID(number: lastNumber + 1),
                    rtcpPort: port + 1))
        }
    }

    private func later(_ change: @escaping (inout CallEngine, Instant) -> Void) {
        pending.append((now + .milliseconds(10), change))
    }

    private func perform(_ output: EngineOutput) {
        switch output {
        case .sendSignaling(let bytes, let target): deliver(bytes, target)
        case .sendKeepAlive(let bytes, _): signsOfLife.append((bytes, now))
        case .resolve(_, let question):
            let routes = targets.map { target in
                TransportRoute(
                    target: TransportTarget(transport: transport, remote: target), local: Endpoint(local, 0))
            }
            later { $0.resolved(question, routes: routes, at: $1) }
        case .registration(_, let status): statuses.append(status)
        case .credentialsNeeded(let question, _, let realm, let isRepeated):
            questions.append(realm)
            let answer = password(realm, isRepeated)
            later { $0.provide(answer, for: question, at: $1) }
        case .finished(let token, let failure): finished[token] = failure
        case .news(_, let event, _): events.append(event)
        case .incomingCall(let call, _, _): incoming.append(call)
        case .joined(let call, let other): joined.append([call, other])
        case .sendMedia(let packet, _, _): engine.giveBack(packet)
        default: break
        }
    }

    private func deliver(_ bytes: [UInt8], _ target: TransportTarget) {
        guard !unreachable.contains(target.remote), target.connection.map({ $0 == connection }) ?? true else {
            return later { $0.transportFailed(target, reason: "nothing listens there", at: $1) }
        }
        guard let message = try? SIPMessage(parsing: bytes) else { return }
        switch message {
        case .response(let response): responses.append(response)
        case .request(let request):
            requests.append((request, target, now))
            guard let response = respond(request) else { return }
            let source = source(target.remote)
            let local = Endpoint(local, 5062)
            later { $0.receiveSignaling(response.write(), from: source, local: local, at: $1) }
        }
    }

    /// Lets virtual time pass, doing what falls due.
    func run(_ duration: Duration) {
        let end = now + duration
        while let next = ([engine.nextDeadline()].compactMap(\.self) + pending.map(\.at)).min(), next <= end {
            now = max(now, next)
            let due = pending.filter { $0.at <= now }
            pending.removeAll { $0.at <= now }
            for item in due { step(item.change) }
            if let deadline = engine.nextDeadline(), deadline <= now { step { $0.handle(timeoutAt: $1) } }
        }
        now = end
    }
}

/// The server's side of digest authentication, for the user alice with the password “secret”.
struct DigestServer {
    var realm = "example.org"
    var nonce = "n1"
    var algorithm: String? = "SHA-256"
    var protection: String? = "auth"
    var password = "secret"
    var isProxy = false

    func challenge(_ request: SIPRequest, isStale: Bool = false) -> SIPResponse {
        var response = SIPResponse(answering: request, status: isProxy ? 407 : 401, tag: "server")
        response.headers.append(isProxy ? .proxyAuthenticate : .wwwAuthenticate, challengeText(isStale: isStale))
        return response
    }

    func challengeText(isStale: Bool = false) -> String {
        var text = "Digest realm=\"\(realm)\", nonce=\"\(nonce)\", opaque=\"o\""
        if let algorithm { text += ", algorithm=\(algorithm)" }
        if let protection { text += ", qop=\"\(protection)\"" }
        if isStale { text += ", stale=TRUE" }
        return text
    }

    /// The credentials for this realm, where they are there and right for this nonce.
    func credentials(in request: SIPRequest) -> SIPParameters? {
        let all = request.headers.credentials(isProxy ? .proxyAuthorization : .authorization)
        guard let given = all.first(where: { $0.parameters["realm"] == realm })?.parameters, given["nonce"] == nonce,
            let digest = DigestAuthentication(algorithm: given["algorithm"], realm: realm, nonce: nonce)
        else { return nil }
        let expected = digest.response(
            username: "alice", password: password, method: request.method.name, uri: given["uri"] ?? "",
            protection: given["qop"].flatMap { QualityOfProtection(rawValue: $0) }, clientNonce: given["cnonce"] ?? "",
            nonceCount: given["nc"].flatMap { UInt32($0, radix: 16) } ?? 1, body: request.body)
        return expected == given["response"] ? given : nil
    }

    func hasCredentials(_ request: SIPRequest) -> Bool { credentials(in: request) != nil }
}

extension SIPResponse {
    /// A registrar's 200 that keeps the request's first contact for as long as it asks.
    static func registered(_ request: SIPRequest, seconds: UInt32? = nil) -> SIPResponse {
        var response = SIPResponse(answering: request, status: 200, tag: "server")
        guard var contact = request.headers.contacts.first else { return response }
        if let seconds { contact.parameters["expires"] = "\(seconds)" }
        response.headers.contacts = [contact]
        return response
    }
}
