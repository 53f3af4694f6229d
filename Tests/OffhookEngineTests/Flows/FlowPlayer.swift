import OffhookBasics
import OffhookEngine
import OffhookMedia
import OffhookSIP
import Testing

/// What the app, or somebody whom the RFC does not print, does before a message of a flow.
enum FlowStep {
    /// We call; nil is whom the printed request calls.
    case call(String? = nil)
    case accept(_ call: Int = 0)
    case refuse(_ call: Int = 0)
    case hold(_ call: Int = 0)
    case unhold(_ call: Int = 0)
    case end(_ call: Int = 0)
    case transfer(_ call: Int = 0, to: String)
    /// The first call's far end is sent to the second's.
    case transferToOther
    /// Our latest request of this method is answered with this status.
    case answered(SIPMethod, Int)
    /// Our 2xx to an INVITE is acknowledged.
    case acknowledged
    /// We send a request of this method, which the RFC does not print.
    case sent(SIPMethod)
    /// We answer a request of this method with this status, which the RFC does not print.
    case answers(SIPMethod, Int)
    /// The far end asks for our offer by a re-INVITE of this number.
    case reinvitedWithoutOffer(UInt32)
    /// The account registers.
    case register
}

/// Plays one party of a flow with an engine: what others send is given to it, with its own tags and branches put in, and
/// what it has to send is compared.
final class FlowPlayer {
    let network: ServerNetwork
    private let us: String
    private var calls: [CallHandle] = []
    private var takenRequests: Set<Int> = []
    private var takenResponses: Set<Int> = []
    /// The RFC's words for our tags and Call-IDs, and ours.
    private var words: [(printed: String, ours: String)] = []
    private var outgoingNumber: UInt64 = 5
    private var incomingCount = 0
    /// Whether somebody asked for credentials in the flow; some flows are printed from a later point on.
    private var isChallenged = false

    init(_ played: PlayedFlow) {
        us = played.us
        network = ServerNetwork(
            transport: played.transport,
            configure: { account in
                account.identity = NameAddress(uri: URI(parsing: played.identity) ?? .other(""))
                account.followsTransfers = true
                if !played.registers { account.registration = nil }
                if !played.hasServer { account.server = nil }
            }, respond: { _ in nil })
        network.password = { _, isRepeated in isRepeated ? nil : "secret" }
    }

    func play(_ played: PlayedFlow) throws {
        let flow = try Flow(played.file)
        for (index, message) in flow.messages.enumerated() {
            let key = message.number ?? "\(index)"
            let parsed = parse(message, corrections: played.corrections)
            for step in played.before[key] ?? [] { try perform(step, printed: parsed) }
            network.run(.milliseconds(10))
            let isOurs: Bool
            let isForUs: Bool
            if let directions = played.directions {
                let direction = Array(directions)[index]
                (isOurs, isForUs) = (direction == ">", direction == "<")
            } else {
                (isOurs, isForUs) = (message.goes(from: us), message.goes(to: us))
            }
            guard isOurs || isForUs else { continue }
            switch (isOurs, try #require(parsed, "\(message.label) does not parse")) {
            case (true, .request(let request)): try expect(request, message.label, isLoose: played.isLoose)
            case (true, .response(let response)): try expect(response, message.label)
            case (false, .request(let request)): receive(request)
            case (false, .response(let response)): try receive(response, message.label)
            }
        }
        for step in played.before["end"] ?? [] { try perform(step, printed: nil) }
        network.run(.milliseconds(10))
        for (index, request) in network.requests.enumerated() where !takenRequests.contains(index) {
            // A request that is not in the flow, such as an ACK that the RFC does not print, must be one of these.
            if ![.ack, .register].contains(request.request.method) {
                Issue.record("\(us) sends \(request.request.method.name) \(request.request.uri) that nobody expects")
            }
        }
        for (index, response) in network.responses.enumerated() where !takenResponses.contains(index) {
            if response.status >= 200 {
                Issue.record("\(us) answers \(response.headers.cseq?.description ?? "") with \(response.status)")
            }
        }
    }

    // MARK: Between the messages

    private func perform(_ step: FlowStep, printed: SIPMessage?) throws {
        switch step {
        case .call(let address):
            let target = address.flatMap { URI(parsing: $0) } ?? printed?.request?.uri
            let uri = try #require(target, "there is nobody to call")
            let call = CallHandle(number: outgoingNumber)
            outgoingNumber += 1
            calls.append(call)
            network.step { engine, now in
                _ = engine.addCall(
                    call, of: ServerNetwork.account, to: uri, delaysOffer: false, headers: SIPHeaders(), at: now)
            }
            command(.start, on: call)
        case .accept(let call): command(.accept, on: try self.call(call))
        case .refuse(let call): command(.deny(isBusy: true), on: try self.call(call))
        case .hold(let call): command(.hold, on: try self.call(call))
        case .unhold(let call): command(.unhold, on: try self.call(call))
        case .end(let call):
            let handle = try self.call(call)
            network.step { $0.end(handle, at: $1) }
        case .transfer(let call, let address):
            command(.transfer(to: NameAddress(uri: URI(parsing: address) ?? .other(""))), on: try self.call(call))
        case .transferToOther: command(.transferTo(try call(1)), on: try call(0))
        case .answered(let method, let status):
            let request = try #require(network.requests.last { $0.request.method == method }?.request)
            var response = SIPResponse(answering: request, status: status, tag: dialogTag ?? "unprinted")
            response.headers.append(.contact, dialogContact ?? "<sip:other@203.0.113.9>")
            if method == .invite, status < 300 { response.setDescription() }
            network.receive(response)
        case .acknowledged:
            let response = try #require(
                network.responses.last { $0.headers.cseq?.method == .invite && $0.status >= 200 })
            var acknowledgement = SIPRequest(method: .ack, uri: URI(parsing: "sip:us@192.0.2.5") ?? .other(""))
            acknowledgement.headers.append(.via, "SIP/2.0/UDP 198.51.100.1;branch=z9hG4bKunprintedack")
            acknowledgement.headers.from = response.headers.from
            acknowledgement.headers.to = response.headers.to
            acknowledgement.headers.callID = response.headers.callID
            acknowledgement.headers.cseq = CSeq(response.headers.cseq?.number ?? 1, .ack)
            network.receive(acknowledgement)
        case .sent(let method):
            network.run(.milliseconds(10))
            let index = network.requests.indices.first {
                !takenRequests.contains($0) && network.requests[$0].request.method == method
            }
            takenRequests.insert(try #require(index, "\(us) sends no \(method.name)"))
        case .answers(let method, let status):
            network.run(.milliseconds(10))
            let index = network.responses.indices.first {
                !takenResponses.contains($0) && network.responses[$0].headers.cseq?.method == method
                    && network.responses[$0].status == status
            }
            takenResponses.insert(try #require(index, "\(us) does not answer \(method.name) with \(status): \(story)"))
        case .reinvitedWithoutOffer(let number):
            let invite = try #require(network.requests.first { $0.request.method == .invite }?.request)
            var request = SIPRequest(method: .invite, uri: invite.headers.contacts[0].uri)
            request.headers.append(.via, "SIP/2.0/UDP 198.51.100.1;branch=z9hG4bKlate\(number)")
            request.headers.from = invite.headers.to
            request.headers.from?.tag = dialogTag
            request.headers.to = invite.headers.from
            request.headers.callID = invite.headers.callID
            request.headers.cseq = CSeq(number, .invite)
            request.headers.append(.contact, "<sip:bob@203.0.113.50>")
            receive(request)
        case .register:
            let token = network.token()
            network.step { $0.startAccount(ServerNetwork.account, token: token, at: $1) }
        }
    }

    /// The far end's tag of the latest dialog that it began with a response.
    private var dialogTag: String?
    private var dialogContact: String?

    private func call(_ index: Int) throws -> CallHandle {
        try #require(index < calls.count ? calls[index] : nil, "there are \(calls.count) calls only")
    }

    private func command(_ command: CallCommand, on call: CallHandle) {
        let token = network.token()
        network.step { $0.perform(command, on: call, token: token, at: $1) }
    }

    // MARK: What others send

    /// The message, where it lacks what the RFC left out, with that.
    private func parse(_ message: Flow.Message, corrections: [String: String]) -> SIPMessage? {
        var text = message.raw
        for (slip, right) in corrections { text = text.replacing(slip, with: right) }
        if !text.contains("\r\nVia:"), let end = text.firstRange(of: "\r\n") {
            text.insert(
                contentsOf: "Via: SIP/2.0/TCP 198.51.100.1;branch=z9hG4bK\(message.label.hashValue)\r\n",
                at: end.upperBound)
        }
        if !text.contains("\r\nFrom:"), !text.contains("\r\nf:"), let end = text.firstRange(of: "\r\n") {
            text.insert(contentsOf: "From: <sip:printed@example.net>;tag=printed\r\n", at: end.upperBound)
        }
        // Dots that stand for more lines.
        text = text.replacing(" . . .\r\n", with: "")
        return try? SIPMessage(parsing: Array(text.utf8))
    }

    /// Puts our own tags and Call-IDs where the RFC has its.
    private func translate(_ headers: SIPHeaders) -> SIPHeaders {
        SIPHeaders(
            headers.fields.map { field in
                var value = field.value
                for word in words { value = value.replacing(word.printed, with: word.ours) }
                return .init(name: field.name, value: value)
            })
    }

    /// Addresses instead of names, which are not looked up.
    private func translate(_ body: [UInt8]) -> [UInt8] {
        let text = String(decoding: body, as: UTF8.self)
        return Array(text.replacing(/c=IN IP4 [a-z]\S*/, with: "c=IN IP4 192.0.2.101").utf8)
    }

    private func receive(_ printed: SIPRequest) {
        var request = printed
        request.headers = translate(printed.headers)
        request.body = translate(printed.body)
        if request.method == .invite {
            if request.body.isEmpty, request.headers.to?.tag == nil { request.setDescription() }
            if request.headers.contacts.isEmpty { request.headers.append(.contact, "<sip:caller@203.0.113.50>") }
        }
        if request.method == .notify, request.body.isEmpty {
            // What the subscription is about is left out in print.
            let isOver = request.headers[first: .subscriptionState]?.hasPrefix("terminated") == true
            request.headers.append(.contentType, "message/sipfrag")
            request.body = Array((isOver ? "SIP/2.0 200 OK\r\n" : "SIP/2.0 100 Trying\r\n").utf8)
        }
        network.receive(request)
        adoptIncoming()
    }

    private func adoptIncoming() {
        while incomingCount < network.incoming.count {
            calls.append(network.incoming[incomingCount])
            incomingCount += 1
        }
    }

    private func receive(_ printed: SIPResponse, _ label: String) throws {
        var response = printed
        response.headers = translate(printed.headers)
        response.body = translate(printed.body)
        let method = response.headers.cseq?.method
        let isOfCall = { (request: SIPRequest) in
            request.method == method
                && (request.headers.callID == response.headers.callID || method == .register || method == .options)
        }
        // Some sections print more than one Call-ID for a call.
        let answered =
            network.requests.last { isOfCall($0.request) } ?? network.requests.last { $0.request.method == method }
        let request = try #require(answered?.request, "nothing is answered by \(label)")
        response.headers.vias = request.headers.vias
        response.headers.from = request.headers.from
        response.headers.cseq = request.headers.cseq
        response.headers.callID = request.headers.callID
        if method == .invite, (101..<300).contains(response.status) {
            dialogTag = response.headers.to?.tag ?? dialogTag
            dialogContact = response.headers[first: .contact] ?? dialogContact
        }
        if method == .invite, (200..<300).contains(response.status), response.body.isEmpty { response.setDescription() }
        if [401, 407].contains(response.status) { isChallenged = true }
        if method == .register, (200..<300).contains(response.status) {
            // The registrar tells of our contact beside what it tells in the RFC.
            var contact = request.headers.contacts.first
            if let printed = response.headers.contacts.first {
                for name in ["expires", "pub-gruu", "temp-gruu"] {
                    if let value = printed.parameters[name] { contact?.parameters[name] = value }
                }
            }
            if let contact { response.headers.contacts = [contact] }
        }
        network.receive(response)
    }

    // MARK: What we send

    private func expect(_ printed: SIPRequest, _ label: String, isLoose: Bool) throws {
        let index = network.requests.indices.first {
            !takenRequests.contains($0) && network.requests[$0].request.method == printed.method
        }
        let sent = try #require(index, "\(us) does not send \(label); it sent \(story)")
        takenRequests.insert(sent)
        let request = network.requests[sent].request
        learn(printed.headers.callID, request.headers.callID)
        learn(printed.headers.from?.tag, request.headers.from?.tag)
        let isInDialog = printed.headers.to?.tag != nil && printed.method != .register
        guard !isLoose else { return }
        if printed.method != .register {
            // Parameters are left out here and there.
            #expect(request.uri.sip?.user == printed.uri.sip?.user, "Request-URI of \(label)")
            #expect(request.uri.sip?.host == printed.uri.sip?.host, "Request-URI of \(label)")
        }
        if isInDialog, printed.headers.to?.tag != nil {
            #expect(
                request.headers.route.map(\.uri.description) == printed.headers.route.map(\.uri.description),
                "Route of \(label)")
            #expect(request.headers.to?.tag == printed.headers.to?.tag, "To tag of \(label)")
        }
        for name in [SIPHeaderName.authorization, .proxyAuthorization]
        where isChallenged && printed.headers.contains(name) {
            #expect(request.headers.contains(name), "\(name.description) of \(label)")
        }
        compareDirections(printed.body, request.body, label)
    }

    private func expect(_ printed: SIPResponse, _ label: String) throws {
        let method = printed.headers.cseq?.method
        let index = network.responses.indices.first {
            !takenResponses.contains($0) && network.responses[$0].headers.cseq?.method == method
                && network.responses[$0].status / 100 == printed.status / 100
                && (printed.status >= 200 || network.responses[$0].status == printed.status)
        }
        let sent = try #require(index, "\(us) does not send \(label); it sent \(story)")
        takenResponses.insert(sent)
        let response = network.responses[sent]
        learn(printed.headers.to?.tag, response.headers.to?.tag)
        #expect(response.status == printed.status, "status of \(label)")
        compareDirections(printed.body, response.body, label)
    }

    private func learn(_ printed: String?, _ ours: String?) {
        guard let printed, let ours, !words.contains(where: { $0.printed == printed }) else { return }
        words.append((printed, ours))
    }

    /// Whoever holds in the RFC holds here.
    private func compareDirections(_ printed: [UInt8], _ ours: [UInt8], _ label: String) {
        guard !printed.isEmpty else { return }
        func direction(_ body: [UInt8]) -> String {
            let text = String(decoding: body, as: UTF8.self)
            return ["sendonly", "recvonly", "inactive"].first { text.contains("a=\($0)") } ?? "sendrecv"
        }
        #expect(direction(ours) == direction(printed), "direction of \(label)")
    }

    private var story: String {
        (network.requests.map(\.request.method.name) + network.responses.map { "\($0.status)" }).joined(separator: " ")
    }
}

extension SIPMessage {
    fileprivate var request: SIPRequest? { if case .request(let request) = self { request } else { nil } }
}

extension SIPRequest {
    fileprivate mutating func setDescription() {
        headers[first: .contentType] = "application/sdp"
        body = plainDescription
    }
}

extension SIPResponse {
    fileprivate mutating func setDescription() {
        headers[first: .contentType] = "application/sdp"
        body = plainDescription
    }
}

private let plainDescription = Array(
    "v=0\r\no=- 1 1 IN IP4 203.0.113.50\r\ns=-\r\nc=IN IP4 203.0.113.50\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n".utf8)
