import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `The caller's INVITE (RFC 3261 §13.2)` {
    @Test func `has what the RFC asks for`() throws {
        var scene = Scene()

        try scene.call("sip:bob@192.0.2.10;transport=udp?Subject=x")

        let invite = try scene.request(.invite)
        #expect(invite.headers.maxForwards == 70)
        #expect(invite.headers.from?.tag?.isEmpty == false)
        #expect(invite.headers.to?.tag == nil)
        #expect(invite.headers.to?.uri.sip?.headers.isEmpty == true)
        #expect(invite.headers.cseq == CSeq(1, .invite))
        #expect(invite.headers.topVia?.branch?.hasPrefix("z9hG4bK") == true)
        #expect(invite.headers.topVia?.wantsResponsePort == true)
        #expect(invite.headers.contacts.first?.uri.description == "sip:offhook@192.0.2.1:5060")
        #expect(invite.headers.supported == ["100rel", "join", "norefersub", "replaces", "trickle-ice", "timer"])
        #expect(invite.headers.allow.isSuperset(of: [.invite, .ack, .cancel, .bye, .options, .update, .prack]))
        #expect(invite.headers.sessionExpires == SessionExpires(seconds: 1800))
    }

    @Test func `leads to an ACK and a call`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)

        scene.respond(100, to: invite)
        scene.respond(180, to: invite)
        scene.respond(200, to: invite, body: "answer")

        #expect(scene.lines() == ["INVITE 1", "ACK 1"])
        #expect(scene.news() == ["trying", "progress 180", "accepted", "answer answer in inviteResponse"])
    }

    @Test func `takes an answer without a tag for one whose tag is empty (RFC 3261 §12.1.2)`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)

        scene.respond(200, to: invite, body: "answer") { $0.headers.to?.tag = nil }
        scene.respond(200, to: invite, body: "answer") { $0.headers.to?.tag = nil }
        scene.peer(.bye) {
            $0.headers.from?.tag = nil
            $0.headers.to?.tag = invite.headers.from?.tag
            $0.headers.callID = invite.headers.callID
        }

        #expect(scene.lines() == ["INVITE 1", "ACK 1", "ACK 1", "200 2 BYE"])
    }

    @Test func `knows who answered without a tag and has one later`() throws {
        var scene = try Scene.established { $0.headers.to?.tag = nil }

        scene.peer(.invite, body: "offer")
        scene.answer("answer")
        scene.acknowledge()
        scene.peer(.bye)

        #expect(scene.lines() == ["200 2 INVITE", "200 3 BYE"])
    }

    @Test func `takes the description of an unreliable 183 for a preview`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)

        scene.respond(183, to: invite, body: "preview")
        scene.respond(200, to: invite, body: "answer")

        #expect(
            scene.news() == [
                "progress 183", "answer preview in provisional", "accepted", "answer answer in inviteResponse",
            ])
    }

    @Test func `takes the preview where the 200 has no answer`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)

        scene.respond(183, to: invite, body: "preview")
        scene.respond(200, to: invite)

        #expect(scene.news().last == "answer preview in inviteResponse")
    }

    @Test func `hangs up where no answer comes at all`() throws {
        var scene = Scene()
        try scene.call()

        scene.respond(200, to: try scene.request(.invite))

        #expect(scene.lines() == ["INVITE 1", "ACK 1", "BYE 2"])
        #expect(scene.news() == ["accepted", "ended answerMissing"])
    }

    @Test func `without an offer waits with the ACK for our answer`() throws {
        var scene = Scene()
        try scene.call(offer: nil)
        let invite = try scene.request(.invite)

        scene.respond(200, to: invite, body: "their offer")
        scene.respond(200, to: invite, body: "their offer")
        #expect(scene.lines() == ["INVITE 1"])
        #expect(scene.news() == ["accepted", "offer their offer in inviteResponse"])
        scene.answer("our answer")

        let ack = try scene.request(.ack)
        #expect(ack.body == Array("our answer".utf8))
        #expect(scene.lines() == ["ACK 1"])
    }

    @Test func `without an offer is hung up when nobody answers in time`() throws {
        var scene = Scene()
        try scene.call(offer: nil)
        scene.respond(200, to: try scene.request(.invite), body: "their offer")
        scene.forget()

        scene.advance(by: .seconds(30))

        #expect(scene.lines() == ["ACK 1", "BYE 2"])
        #expect(scene.news().first == "ended answerMissing")
    }

    @Test func `without an offer is hung up when the upper layer refuses theirs`() throws {
        var scene = Scene()
        try scene.call(offer: nil)
        scene.respond(200, to: try scene.request(.invite), body: "their offer")
        scene.forget()

        scene.act { $0.rejectOffer($1, at: $2, actions: &$3) }

        let bye = try scene.request(.bye)
        #expect(bye.headers.reasons.first?.cause == 488)
        #expect(scene.lines() == ["ACK 1", "BYE 2"])
        #expect(scene.news() == ["ended local"])
    }

    @Test func `has each repeat of its 200 acknowledged alike, whatever else is open`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)
        scene.respond(200, to: invite, body: "answer")
        let first = try scene.request(.ack)
        scene.forget()

        scene.reinvite("hold")
        scene.respond(200, to: invite, body: "answer")
        let again = try scene.request(.ack)
        let reinvite = try scene.request(.invite)
        scene.respond(200, to: reinvite, body: "held")

        #expect(again == first)
        #expect(scene.lines() == ["INVITE 2", "ACK 1", "ACK 2"])
    }

    @Test(arguments: [404, 486, 480, 500, 603])
    func `ends with the refusal`(status: Int) throws {
        var scene = Scene()
        try scene.call()

        scene.respond(status, to: try scene.request(.invite)) {
            $0.headers.reasons = [SIPReason(protocolName: "Q.850", cause: 17)]
        }

        #expect(scene.lines() == ["INVITE 1", "ACK 1"])
        #expect(scene.news() == ["ended refused"])
        #expect(scene.end?.status == status)
        #expect(scene.end?.reasons.first?.cause == 17)
        scene.advance(by: .seconds(40))
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `ends after 32 seconds of silence`() throws {
        var scene = Scene()
        try scene.call()

        scene.advance(by: .seconds(31.9))
        #expect(scene.lines().count == 7)
        #expect(scene.news().isEmpty)
        scene.advance(by: .seconds(0.2))

        #expect(scene.news() == ["ended timedOut"])
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `ends at once where it cannot be sent`() throws {
        var scene = Scene()
        try scene.call()

        scene.act { $0.transportFailed(Scene.peer, at: $2, actions: &$3) }

        #expect(scene.news() == ["ended transportFailed"])
    }

    @Test func `is cancelled when it rings too long`() throws {
        var configuration = UserAgentConfiguration()
        configuration.ringingLimit = .seconds(60)
        var scene = Scene(configuration)
        try scene.call()
        scene.respond(180, to: try scene.request(.invite))
        scene.forget()

        scene.advance(by: .seconds(60))

        #expect(scene.lines().first == "CANCEL 1")
        #expect(scene.news() == ["ended timedOut"])
    }

    @Test func `follows a redirect with the same Call-ID and a new CSeq`() throws {
        var scene = Scene()
        try scene.call()
        let first = try scene.request(.invite)

        scene.respond(302, to: first) {
            $0.headers.append(.contact, "<sip:low@192.0.2.11>;q=0.1, <sip:carol@192.0.2.12?Subject=x>;q=0.9")
        }

        let second = try scene.request(.invite)
        #expect(second.uri.description == "sip:carol@192.0.2.12")
        #expect(second.headers.callID == first.headers.callID)
        #expect(scene.lines() == ["INVITE 1", "ACK 1", "INVITE 2"])
        #expect(scene.news() == ["redirected sip:carol@192.0.2.12"])
    }

    @Test func `leaves a redirect alone where told so`() throws {
        var configuration = UserAgentConfiguration()
        configuration.followsRedirects = false
        var scene = Scene(configuration)
        try scene.call()

        scene.respond(302, to: try scene.request(.invite)) { $0.headers.append(.contact, "<sip:carol@192.0.2.12>") }

        #expect(scene.news() == ["ended refused"])
        #expect(scene.end?.response?.headers.contacts.count == 1)
    }

    @Test func `follows no more redirects than the limit`() throws {
        var scene = Scene()
        try scene.call()

        for _ in 0..<6 {
            scene.respond(302, to: try scene.request(.invite)) { $0.headers.append(.contact, "<sip:x@192.0.2.10>") }
        }

        #expect(scene.news().last == "ended refused")
    }
}

@Suite struct `Cancelling (RFC 3261 §9)` {
    @Test func `waits for a provisional response`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)

        scene.act { $0.end($1, reasons: [SIPReason(protocolName: "SIP", cause: 200)], at: $2, actions: &$3) }
        #expect(scene.lines() == ["INVITE 1"])
        #expect(scene.news() == ["ended local"])
        scene.respond(100, to: invite)

        let cancel = try scene.request(.cancel)
        #expect(cancel.headers.topVia == invite.headers.topVia)
        #expect(cancel.headers.reasons.first?.cause == 200)
        scene.respond(200, to: cancel)
        scene.respond(487, to: invite)
        #expect(scene.lines() == ["CANCEL 1", "ACK 1"])
        scene.advance(by: .seconds(40))
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `that a 200 crosses becomes ACK and BYE`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)
        scene.respond(180, to: invite)
        scene.hangUp()
        scene.forget()

        scene.respond(200, to: invite, body: "answer")

        #expect(scene.lines() == ["ACK 1", "BYE 2"])
        #expect(scene.news().isEmpty)
    }

    @Test func `gives up 32 seconds after a CANCEL that changed nothing`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)
        scene.respond(180, to: invite)
        scene.hangUp()
        scene.respond(200, to: try scene.request(.cancel))

        scene.advance(by: .seconds(40))

        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `before a target was found sends nothing`() throws {
        var scene = Scene()
        scene.resolves = false
        try scene.call("sip:bob@example.net")

        scene.hangUp()
        scene.advance(by: .seconds(40))

        #expect(scene.lines().isEmpty)
        #expect(scene.news() == ["ended local"])
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }
}

@Suite struct `Forking (RFC 3261 §13.2.2.4)` {
    @Test func `each early dialog is told apart, and each further 200 is taken and hung up`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)
        scene.respond(183, to: invite, tag: "a", body: "preview a")
        scene.respond(183, to: invite, tag: "b", body: "preview b")
        #expect(
            scene.news() == [
                "progress 183", "answer preview a in provisional", "progress 183", "answer preview b in provisional",
            ])
        scene.forget()

        scene.respond(200, to: invite, tag: "b", body: "answer b")
        scene.respond(200, to: invite, tag: "a", body: "answer a")
        scene.respond(200, to: invite, tag: "a", body: "answer a")

        #expect(scene.lines() == ["ACK 1", "ACK 1", "BYE 2", "ACK 1"])
        #expect(scene.news() == ["accepted", "answer answer b in inviteResponse", "extra answer"])
        scene.hangUp()
        let bye = try scene.request(.bye)
        #expect(bye.headers.to?.tag == "b")
    }

    @Test func `a 200 without SDP has the answer of its own dialog's reliable 183`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)
        for tag in ["a", "b"] {
            scene.respond(183, to: invite, tag: tag, body: "SDP \(tag)") {
                $0.headers.require = ["100rel"]
                $0.headers.rseq = 9
            }
        }
        #expect(scene.lines() == ["INVITE 1", "PRACK 2", "PRACK 2"])
        #expect(
            scene.news() == [
                "progress 183", "answer SDP a in reliableProvisional", "progress 183",
                "answer SDP b in reliableProvisional",
            ])

        scene.respond(200, to: invite, tag: "a")

        #expect(scene.lines() == ["ACK 1"])
        #expect(scene.news() == ["accepted"])
    }

    @Test func `a 200 that comes after we hung up is taken and hung up too`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)
        scene.respond(200, to: invite, tag: "a", body: "answer")
        scene.hangUp()
        scene.respond(200, to: try scene.request(.bye))
        scene.forget()

        scene.respond(200, to: invite, tag: "b", body: "answer")

        #expect(scene.lines() == ["ACK 1", "BYE 2"])
        #expect(scene.news().isEmpty)
        scene.advance(by: .seconds(80))
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `invented tags do not fill memory`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)

        for index in 0..<200 { scene.respond(180, to: invite, tag: "t\(index)") }

        let count = scene.userAgent.sessionsByDialog.count
        #expect(count == 32)
    }
}
