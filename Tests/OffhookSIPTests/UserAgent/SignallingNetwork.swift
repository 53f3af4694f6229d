import OffhookBasics

@testable import OffhookSIP

/// Two user agents and a network between them, as one value in virtual time: it loses the datagrams it is told to.
struct SignallingNetwork {
    typealias Reaction = (inout SIPUserAgent, SessionID, SessionEvent, Instant, inout [UserAgentAction]) -> Void

    struct Party {
        var userAgent: SIPUserAgent
        let endpoint: Endpoint
        var reaction: Reaction
        var session: SessionID?
        var events: [SessionEvent] = []
        var requestEvents: [RequestEvent] = []
    }

    struct Datagram {
        let bytes: [UInt8]
        let from: Int
        let target: TransportTarget
        let arrival: Instant
    }

    var parties: [Party]
    var now = Instant.zero
    var lost: Set<Int> = []
    var delay = Duration.milliseconds(20)
    /// Start lines in the order they were sent, with who sent them.
    private(set) var log: [(sender: Int, line: String)] = []
    private var flying: [Datagram] = []
    private var random: SeededRandom
    /// Which part of datagrams is lost by dice, in per mille.
    var lossRate: UInt64 = 0
    /// Up to how much longer than `delay` a datagram may take, in milliseconds.
    var jitter: Int64 = 0

    init(
        caller: UserAgentConfiguration = UserAgentConfiguration(),
        callee: UserAgentConfiguration = UserAgentConfiguration(),
        seed: UInt64 = 1, reactions: [Reaction]
    ) {
        random = SeededRandom(seed: seed)
        parties = [
            Party(
                userAgent: SIPUserAgent(configuration: caller, seed: seed &* 2),
                endpoint: Endpoint(IPAddress(version4: 0xC000_0201), 5060), reaction: reactions[0]),
            Party(
                userAgent: SIPUserAgent(configuration: callee, seed: seed &* 2 &+ 1),
                endpoint: Endpoint(IPAddress(version4: 0xC000_0202), 5060), reaction: reactions[1]),
        ]
    }

    var datagramCount: Int { log.count }

    /// Lets a party do something.
    mutating func act(_ index: Int, _ body: (inout SIPUserAgent, Instant, inout [UserAgentAction]) -> Void) {
        var actions: [UserAgentAction] = []
        body(&parties[index].userAgent, now, &actions)
        perform(actions, of: index)
    }

    /// The first party calls the second.
    mutating func call(offer: [UInt8]? = Array("offer 1".utf8), headers: SIPHeaders = SIPHeaders()) {
        let target = URI(parsing: "sip:bob@192.0.2.2")!
        let from = NameAddress(parsing: "Alice <sip:alice@192.0.2.1>")!
        var id: SessionID?
        act(0) { id = $0.invite(target, from: from, headers: headers, offer: offer, at: $1, actions: &$2) }
        parties[0].session = id
    }

    /// Runs until nothing is left to do or that much time has passed.
    mutating func run(for duration: Duration = .seconds(3600)) {
        let end = now + duration
        while let next = nextTime(), next <= end {
            now = max(now, next)
            step()
        }
        now = flying.isEmpty && nextTime() == nil ? now : end
    }

    private mutating func nextTime() -> Instant? {
        var next = flying.map(\.arrival).min()
        for index in parties.indices {
            if let deadline = parties[index].userAgent.nextDeadline() { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    private mutating func step() {
        if let index = flying.indices.filter({ flying[$0].arrival <= now }).min(by: {
            flying[$0].arrival < flying[$1].arrival
        }) {
            deliver(flying.remove(at: index))
            return
        }
        for index in parties.indices {
            guard let deadline = parties[index].userAgent.nextDeadline(), deadline <= now else { continue }
            act(index) { $0.handle(timeoutAt: $1, actions: &$2) }
        }
    }

    private mutating func deliver(_ datagram: Datagram) {
        guard let index = parties.firstIndex(where: { $0.endpoint == datagram.target.remote }) else { return }
        let source = TransportTarget(transport: datagram.target.transport, remote: parties[datagram.from].endpoint)
        let local = parties[index].endpoint
        act(index) { $0.receive(datagram.bytes, from: source, local: local, at: $1, actions: &$2) }
    }

    private mutating func perform(_ first: [UserAgentAction], of index: Int) {
        var queue = first
        while !queue.isEmpty {
            let action = queue.removeFirst()
            var more: [UserAgentAction] = []
            switch action {
            case .send(let bytes, let target): send(bytes, to: target, from: index)
            case .event(let session, let event):
                if case .incoming = event { parties[index].session = session }
                parties[index].events.append(event)
                parties[index].reaction(&parties[index].userAgent, session, event, now, &more)
            case .resolve(let query, let token):
                let routes = query.host.address.map { address in
                    let remote = Endpoint(address, query.port ?? 5060)
                    let target = TransportTarget(transport: query.transport ?? .udp, remote: remote)
                    return [TransportRoute(target: target, local: parties[index].endpoint)]
                }
                parties[index].userAgent.resolved(token, routes: routes ?? [], at: now, actions: &more)
            case .requestEvent(_, let event): parties[index].requestEvents.append(event)
            case .outOfDialogRequest(_, let transaction, _):
                parties[index].userAgent.respond(to: transaction, status: 200, at: now, actions: &more)
            }
            queue += more
        }
    }

    private mutating func send(_ bytes: [UInt8], to target: TransportTarget, from index: Int) {
        let line = String(decoding: bytes.prefix { $0 != 0x0D }, as: UTF8.self)
        log.append((index, line))
        if lost.contains(log.count - 1) { return }
        if lossRate > 0, random.next() % 1000 < lossRate { return }
        let extra = jitter > 0 ? Int64.random(in: 0...jitter, using: &random) : 0
        flying.append(
            Datagram(bytes: bytes, from: index, target: target, arrival: now + delay + .milliseconds(extra)))
    }
}

extension SessionEvent {
    /// A short name, for comparing what happened.
    var name: String {
        switch self {
        case .incoming(let invite): invite.offer == nil ? "incoming without offer" : "incoming"
        case .trying: "trying"
        case .progress(let response, _): "progress \(response.status)"
        case .redirected(let uri): "redirected \(uri)"
        case .offer(let body, let carrier, _): "offer \(String(decoding: body, as: UTF8.self)) in \(carrier)"
        case .offerRequested(let carrier): "offer requested in \(carrier)"
        case .answer(let body, let carrier, _): "answer \(String(decoding: body, as: UTF8.self)) in \(carrier)"
        case .offerRefused(let response): "offer refused \(response.status)"
        case .glare: "glare"
        case .offerDue(let reason): "offer due \(reason)"
        case .offerWithdrawn: "offer withdrawn"
        case .offerUnanswered: "offer unanswered"
        case .accepted: "accepted"
        case .extraAnswer: "extra answer"
        case .acknowledged: "acknowledged"
        case .authenticationRequired(_, let response): "challenge \(response.status)"
        case .remoteTargetChanged(let uri): "target \(uri)"
        case .info: "info"
        case .infoFinished(_, let status): "info finished \(status)"
        case .request(let request): "request \(request.method)"
        case .referralRequested(let referral): "referral to \(referral.target.uri)"
        case .referralAccepted(let expects): "referral accepted\(expects ? "" : ", no news")"
        case .referralProgress(let status, _, let isFinal): "referral \(status)\(isFinal ? " final" : "")"
        case .referralFailed(let status): "referral failed \(status)"
        case .ended(let end): "ended \(end.cause)"
        }
    }

    var isEnd: Bool {
        if case .ended = self { true } else { false }
    }
}
