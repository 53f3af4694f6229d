import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `Credentials (RFC 3261 §22)` {
    private var credentials: SIPHeaders {
        var headers = SIPHeaders()
        headers.append(.proxyAuthorization, "Digest username=\"alice\"")
        return headers
    }

    private func challenge(_ response: inout SIPResponse) {
        response.headers[first: .proxyAuthenticate] = "Digest realm=\"example.org\", nonce=\"1\""
    }

    @Test func `an INVITE goes again with them, and its ACK has them too`() throws {
        var scene = Scene()
        try scene.call()
        let first = try scene.request(.invite)

        scene.respond(407, to: first, challenge)
        #expect(scene.news() == ["challenge 407"])
        let id = try #require(scene.challenged)
        scene.act { $0.authorize(id, headers: credentials, at: $2, actions: &$3) }
        let second = try scene.request(.invite)
        scene.respond(200, to: second, body: "answer")
        let ack = try scene.request(.ack)

        #expect(second.headers.cseq == CSeq(2, .invite))
        #expect(second.headers.callID == first.headers.callID)
        #expect(second.headers.from == first.headers.from)
        #expect(second.headers.topVia?.branch != first.headers.topVia?.branch)
        #expect(second.headers.contains(.proxyAuthorization))
        #expect(ack.headers.contains(.proxyAuthorization))
        #expect(scene.lines() == ["INVITE 1", "ACK 1", "INVITE 2", "ACK 2"])
        scene.hangUp()
        #expect(scene.lines() == ["BYE 3"])
    }

    @Test func `a re-INVITE and a BYE go again with them`() throws {
        var scene = try Scene.established()
        scene.reinvite("hold")
        scene.respond(407, to: try scene.request(.invite), challenge)
        let reinvite = try #require(scene.challenged)
        scene.act { $0.authorize(reinvite, headers: credentials, at: $2, actions: &$3) }
        scene.respond(200, to: try scene.request(.invite), body: "held")
        #expect(scene.lines() == ["INVITE 2", "ACK 2", "INVITE 3", "ACK 3"])
        scene.hangUp()
        scene.respond(407, to: try scene.request(.bye), challenge)
        let bye = try #require(scene.challenged)

        scene.act { $0.authorize(bye, headers: credentials, at: $2, actions: &$3) }

        #expect(scene.lines() == ["BYE 4", "BYE 5"])
        #expect(scene.news() == ["challenge 407", "answer held in inviteResponse", "ended local", "challenge 407"])
    }

    @Test func `without them the challenge is a refusal`() throws {
        var scene = Scene()
        try scene.call()
        scene.respond(401, to: try scene.request(.invite)) {
            $0.headers[first: .wwwAuthenticate] = "Digest realm=\"example.org\", nonce=\"1\""
        }
        let id = try #require(scene.challenged)

        scene.act { $0.declineAuthorization(id, at: $2, actions: &$3) }

        #expect(scene.news() == ["challenge 401", "ended refused"])
        #expect(scene.end?.status == 401)
        scene.advance(by: .seconds(40))
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `a layer that never answers loses the call after the limit`() throws {
        var scene = Scene()
        try scene.call()
        scene.respond(407, to: try scene.request(.invite), challenge)

        scene.advance(by: .seconds(80))

        #expect(scene.news() == ["challenge 407", "ended refused"])
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `a 401 without a challenge is a refusal`() throws {
        var scene = Scene()
        try scene.call()

        scene.respond(401, to: try scene.request(.invite))

        #expect(scene.news() == ["ended refused"])
    }

    @Test func `endless challenges end`() throws {
        var scene = Scene()
        try scene.call()

        for _ in 0..<6 {
            scene.respond(407, to: try scene.request(.invite), challenge)
            if let id = scene.challenged { scene.act { $0.authorize(id, headers: credentials, at: $2, actions: &$3) } }
        }

        #expect(scene.news().last == "ended refused")
    }
}

@Suite struct `Requests outside sessions` {
    private func options() throws -> SIPRequest {
        var request = SIPRequest(method: .options, uri: try #require(URI(parsing: "sip:bob@192.0.2.10")))
        request.headers.from = NameAddress(parsing: "<sip:alice@example.org>")
        return request
    }

    private func send(_ request: SIPRequest, in scene: inout Scene, route: TransportRoute? = nil) -> RequestID? {
        var id: RequestID?
        scene.act { userAgent, _, now, actions in
            id = userAgent.request(request, route: route, at: now, actions: &actions)
        }
        return id
    }

    private func outcome(_ scene: Scene) -> String {
        switch scene.requestEvents.last?.1 {
        case .provisional(let response): "provisional \(response.status)"
        case .finished(let response, _): "finished \(response.status)"
        case .authenticationRequired: "challenge"
        case .failed(let failure): "failed \(failure)"
        case nil: "nothing"
        }
    }

    @Test func `get what every request needs, and their response`() throws {
        var scene = Scene()

        _ = send(try options(), in: &scene)
        let sent = try scene.request(.options)
        scene.respond(200, to: sent)

        #expect(sent.headers.from?.tag != nil)
        #expect(sent.headers.to?.uri.description == "sip:bob@192.0.2.10")
        #expect(sent.headers.callID != nil)
        #expect(sent.headers.contacts.count == 1)
        #expect(outcome(scene) == "finished 200")
        scene.advance(by: .seconds(6))
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `go again with credentials and the next CSeq`() throws {
        var scene = Scene()
        let id = try #require(send(try options(), in: &scene))
        scene.respond(401, to: try scene.request(.options)) {
            $0.headers[first: .wwwAuthenticate] = "Digest realm=\"r\", nonce=\"1\""
        }
        #expect(outcome(scene) == "challenge")
        var headers = SIPHeaders()
        headers.append(.authorization, "Digest x=y")

        scene.act { $0.authorize(id, headers: headers, at: $2, actions: &$3) }
        scene.respond(200, to: try scene.request(.options))

        #expect(scene.lines() == ["OPTIONS 1", "OPTIONS 2"])
        #expect(outcome(scene) == "finished 200")
    }

    @Test func `fail after 32 seconds, or at once where they cannot be sent`() throws {
        var silent = Scene()
        _ = send(try options(), in: &silent)
        silent.advance(by: .seconds(33))
        #expect(outcome(silent) == "failed timedOut")

        var broken = Scene()
        _ = send(try options(), in: &broken)
        broken.act { $0.transportFailed(Scene.peer, at: $2, actions: &$3) }
        #expect(outcome(broken) == "failed transportFailed")
        let isIdle = broken.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `that nobody wants any more are forgotten`() throws {
        var scene = Scene()
        let id = try #require(send(try options(), in: &scene))

        scene.userAgent.forget(id)
        scene.respond(200, to: try scene.request(.options))

        #expect(outcome(scene) == "nothing")
    }

    @Test func `of the far end are handed up where wanted`() throws {
        var configuration = UserAgentConfiguration()
        configuration.acceptedRequests = [.message]
        var scene = Scene(configuration)
        scene.invite(.message, offer: nil)
        let stranger = try #require(scene.strangers.first)

        scene.act { $0.respond(to: stranger.1, status: 202, at: $2, actions: &$3) }

        #expect(scene.lines() == ["202 1 MESSAGE"])
    }
}
