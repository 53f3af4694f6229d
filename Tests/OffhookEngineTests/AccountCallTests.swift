import OffhookBasics
import OffhookEngine
import OffhookMedia
import OffhookSDP
import OffhookSIP
import Testing

/// Calls of an account that has a server.
@Suite struct `Calls through a server` {
    private static let answer = """
        v=0
        o=- 1 1 IN IP4 203.0.113.50
        s=-
        c=IN IP4 203.0.113.50
        t=0 0
        m=audio 4000 RTP/AVP 0
        a=rtpmap:0 PCMU/8000

        """.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")

    /// A server that registers everybody and answers every call.
    private static func respond(_ request: SIPRequest) -> SIPResponse? {
        switch request.method {
        case .register:
            return .registered(request)
        case .invite:
            var response = SIPResponse(answering: request, status: 200, tag: "callee")
            response.headers.append(.contact, "<sip:bob@203.0.113.50>")
            response.headers.append(.recordRoute, "<sip:198.51.100.1;lr>")
            response.headers.append(.contentType, "application/sdp")
            response.body = Array(answer.utf8)
            return response
        case .ack:
            return nil
        default:
            return SIPResponse(answering: request, status: 200, tag: "callee")
        }
    }

    private func call(_ network: ServerNetwork) -> CallHandle {
        let call = CallHandle(number: 5)
        network.step { engine, now in
            let uri = URI(parsing: "sip:bob@example.net") ?? .other("")
            _ = engine.addCall(
                call, of: ServerNetwork.account, to: uri, delaysOffer: false, headers: SIPHeaders(), at: now)
        }
        let token = network.token()
        network.step { $0.perform(.start, on: call, token: token, at: $1) }
        network.run(.seconds(2))
        return call
    }

    private func invites(_ network: ServerNetwork) -> [SIPRequest] {
        network.requests.map(\.request).filter { $0.method == .invite }
    }

    @Test func `go to the server first, with the GRUU and the routes that it gave`() throws {
        let network = ServerNetwork { request in
            guard request.method == .register, var response = Self.respond(request) else {
                return Self.respond(request)
            }
            var contact = request.headers.contacts[0]
            contact.parameters["pub-gruu"] = "sip:alice@example.org;gr=urn:uuid:1"
            response.headers.contacts = [contact]
            response.headers.append(.serviceRoute, "<sip:edge.example.org;lr>, <sip:core.example.org;lr>")
            return response
        }
        network.start()

        _ = call(network)

        let invite = try #require(invites(network).first)
        #expect(network.requests.first { $0.request.method == .invite }?.target.remote == ServerNetwork.server)
        #expect(invite.uri.description == "sip:bob@example.net")
        #expect(invite.headers.contacts.first?.uri.description == "sip:alice@example.org;gr=urn:uuid:1")
        #expect(
            invite.headers.route.map(\.description) == ["<sip:edge.example.org;lr>", "<sip:core.example.org;lr>"])
        #expect(network.events.contains(.established))
    }

    @Test func `log in when a proxy asks, and before it asks the next time`() throws {
        let proxy = DigestServer(realm: "proxy", isProxy: true)
        let network = ServerNetwork { request in
            if request.method == .invite, !proxy.hasCredentials(request) { return proxy.challenge(request) }
            return Self.respond(request)
        }
        network.start()

        _ = call(network)

        #expect(network.events.contains(.established))
        #expect(invites(network).map { $0.headers.cseq?.number } == [1, 2])
        let acknowledged = network.requests.map(\.request).filter { $0.method == .ack }.last
        #expect(acknowledged?.headers.credentials(.proxyAuthorization).count == 1)
        let second = CallHandle(number: 6)
        network.step { engine, now in
            let uri = URI(parsing: "sip:carol@example.net") ?? .other("")
            _ = engine.addCall(
                second, of: ServerNetwork.account, to: uri, delaysOffer: false, headers: SIPHeaders(), at: now)
        }
        let token = network.token()
        network.step { $0.perform(.start, on: second, token: token, at: $1) }
        network.run(.seconds(2))
        #expect(invites(network).count == 3)
        #expect(network.finished[token] == .some(nil))
    }

    @Test func `log in for the request that ends them, too`() {
        let proxy = DigestServer(realm: "proxy", isProxy: true)
        let network = ServerNetwork { request in
            if request.method == .bye, !proxy.hasCredentials(request) { return proxy.challenge(request) }
            return Self.respond(request)
        }
        network.start()
        let call = call(network)

        network.step { $0.end(call, at: $1) }
        network.run(.seconds(2))

        let byes = network.requests.map(\.request).filter { $0.method == .bye }
        #expect(byes.map { $0.headers.cseq?.number } == [2, 3])
    }

    @Test func `go to the next target of the server where the first is gone`() {
        let network = ServerNetwork(transport: .tcp) { Self.respond($0) }
        network.targets = [ServerNetwork.server, ServerNetwork.spareServer]
        network.start()

        network.unreachable = [ServerNetwork.server]
        _ = call(network)

        #expect(network.events.contains(.established))
        #expect(network.requests.last { $0.request.method == .invite }?.target.remote == ServerNetwork.spareServer)
    }

    @Test func `fail with words when the credentials do not fit`() {
        let proxy = DigestServer(realm: "proxy", password: "other", isProxy: true)
        let network = ServerNetwork { request in
            request.method == .invite ? proxy.challenge(request) : Self.respond(request)
        }
        network.start()

        _ = call(network)

        #expect(invites(network).count == 2)
        let failures = network.events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
        #expect(failures.map(\.kind) == [.authenticationFailed])
    }

    @Test func `live on when the connection is cut, and say when the way is there again`() throws {
        let network = ServerNetwork(transport: .tcp) { Self.respond($0) }
        network.start()
        _ = call(network)
        try #require(network.events.contains(.established))

        network.loseConnection()
        #expect(network.events.last == .signalingLost)
        network.run(.seconds(5))

        let invites = invites(network)
        #expect(invites.count == 2)
        #expect(invites.last?.headers.to?.tag == "callee")
        #expect(network.events.contains(.signalingRecovered))
        #expect(!network.events.contains { if case .ended = $0 { true } else { false } })
        #expect(network.statuses.last?.state == .registered)
    }

    @Test func `outlive a change that could not be sent`() throws {
        let network = ServerNetwork(transport: .tcp) { Self.respond($0) }
        network.start()
        let call = call(network)
        network.unreachable = [ServerNetwork.server]
        network.loseConnection()

        let hold = network.token()
        network.step { $0.perform(.hold, on: call, token: hold, at: $1) }
        network.run(.seconds(20))
        #expect(network.finished[hold]??.kind == .signalingLost)
        #expect(network.engine.snapshot(of: call)?.phase == .established)
        network.unreachable = []
        network.run(.seconds(60))

        #expect(network.events.last == .signalingRecovered)
    }

    @Test func `without a server find a new connection by themselves`() throws {
        let network = ServerNetwork(transport: .tcp, configure: { $0.registration = nil }) { Self.respond($0) }
        let call = call(network)
        try #require(network.events.contains(.established))

        network.loseConnection()
        network.run(.seconds(5))

        #expect(network.events.filter { $0 == .signalingLost || $0 == .signalingRecovered }.count == 2)
        #expect(network.engine.snapshot(of: call)?.phase == .established)
    }

    @Test func `follow to a new address of ours`() throws {
        let network = ServerNetwork { Self.respond($0) }
        network.start()
        _ = call(network)

        network.local = IPAddress(version4: 0x0A00_0001)
        network.step { $0.networkChanged(at: $1) }
        network.run(.seconds(3))

        let again = try #require(invites(network).last)
        #expect(again.headers.to?.tag == "callee")
        #expect(again.headers.contacts.first?.uri.description == "sip:alice@10.0.0.1:5062")
        #expect(String(decoding: again.body, as: UTF8.self).contains("c=IN IP4 10.0.0.1"))
    }

    @Test func `of a stopped account end before the registration does`() throws {
        let network = ServerNetwork { Self.respond($0) }
        network.start()
        _ = call(network)

        let stop = network.token()
        network.step { $0.stopAccount(ServerNetwork.account, token: stop, at: $1) }
        network.run(.seconds(1))

        let methods = network.requests.suffix(2).map(\.request.method)
        #expect(methods == [.bye, .register])
        #expect(network.finished[stop] == .some(nil))
    }

    @Test func `answered by another device of the account are told so`() throws {
        let network = ServerNetwork { Self.respond($0) }
        network.start()
        var invite = SIPRequest(
            method: .invite, uri: URI(parsing: "sip:alice@192.0.2.5:5062") ?? .other(""))
        invite.headers.append(.via, "SIP/2.0/UDP 198.51.100.1;branch=z9hG4bKin")
        invite.headers.append(.from, "<sip:bob@example.net>;tag=b")
        invite.headers.append(.to, "<sip:alice@example.org>")
        invite.headers.append(.callID, "in")
        invite.headers.append(.cseq, "1 INVITE")
        invite.headers.append(.contact, "<sip:bob@203.0.113.50>")
        network.receive(invite)
        #expect(network.incoming.count == 1)

        var cancel = invite
        cancel.method = .cancel
        cancel.headers.remove(.contact)
        cancel.headers.cseq = CSeq(1, .cancel)
        cancel.headers.append(.reason, "SIP;cause=200;text=\"Call completed elsewhere\"")
        network.receive(cancel)
        network.run(.seconds(1))

        let endings = network.events.compactMap { if case .ended(let ending) = $0 { ending.cause } else { nil } }
        #expect(endings == [.answeredElsewhere])
    }

    @Test(arguments: [true, false])
    func `that are refused for want of encryption are offered with nothing else, once`(takesKeys: Bool) {
        let network = ServerNetwork(
            configure: { $0.capabilities.security = .bestEffort },
            respond: { request in
                guard request.method == .invite else { return Self.respond(request) }
                let offer = String(decoding: request.body, as: UTF8.self)
                guard takesKeys, offer.contains("RTP/SAVP") else {
                    return SIPResponse(answering: request, status: 488, tag: "callee")
                }
                var response = Self.respond(request)
                let key = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(String(repeating: "A", count: 40))\r\n"
                let answer = Self.answer.replacing("RTP/AVP", with: "RTP/SAVP") + key
                let tag = offer.firstMatch(of: /a=crypto:(\d+) AES_CM_128_HMAC_SHA1_80/)?.output.1 ?? "1"
                response?.body = Array(answer.replacing("crypto:1", with: "crypto:\(tag)").utf8)
                return response
            })
        network.start()

        _ = call(network)

        #expect(invites(network).count == 2)
        #expect(network.events.contains(.established) == takesKeys)
        let failures = network.events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
        #expect(failures.map(\.kind) == (takesKeys ? [] : [.noCommonCodec]))
    }

    @Test func `that wait in a queue are told so`() throws {
        let network = ServerNetwork { request in
            guard request.method == .invite else { return Self.respond(request) }
            var response = SIPResponse(answering: request, status: 182, tag: "callee")
            response.headers.append(.contact, "<sip:bob@203.0.113.50>")
            return response
        }
        network.start()

        _ = call(network)

        #expect(network.events.contains(.queued))
    }
}
