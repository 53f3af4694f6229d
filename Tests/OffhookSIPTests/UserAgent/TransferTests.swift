import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `Transfer (RFC 3515, RFC 3891, RFC 4488)` {
    private func refer(_ scene: inout Scene, replacing: SessionID? = nil, wantsProgress: Bool = true) throws
        -> SIPRequest
    {
        let target = try #require(NameAddress(parsing: "<sip:carol@192.0.2.12>"))
        scene.act {
            $0.refer($1, to: target, replacing: replacing, wantsProgress: wantsProgress, at: $2, actions: &$3)
        }
        return try scene.request(.refer)
    }

    private func notify(_ scene: inout Scene, _ status: String, state: String, id: UInt32? = nil) {
        scene.peer(.notify) {
            $0.headers[first: .event] = "refer" + (id.map { ";id=\($0)" } ?? "")
            $0.headers[first: .subscriptionState] = state
            $0.headers[first: .contentType] = "message/sipfrag"
            $0.body = Array("SIP/2.0 \(status)\r\n".utf8)
        }
    }

    @Test func `ours is followed to its end`() throws {
        var scene = try Scene.established()

        let request = try refer(&scene)
        #expect(request.headers.referTo?.uri.description == "sip:carol@192.0.2.12")
        scene.respond(202, to: request)
        notify(&scene, "100 Trying", state: "active;expires=60", id: 2)
        notify(&scene, "200 OK", state: "terminated;reason=noresource", id: 2)
        notify(&scene, "200 OK", state: "terminated;reason=noresource", id: 2)

        #expect(scene.news() == ["referral accepted", "referral 100", "referral 200 final"])
        #expect(scene.lines() == ["REFER 2", "200 2 NOTIFY", "200 3 NOTIFY", "481 4 NOTIFY"])
    }

    @Test(arguments: [603, 405, 500])
    func `a REFER that is refused is told at once `(status: Int) throws {
        var scene = try Scene.established()

        scene.respond(status, to: try refer(&scene))

        #expect(scene.news() == ["referral failed \(status)"])
    }

    @Test func `a REFER nobody answers is told, and the call is lost`() throws {
        var scene = try Scene.established()
        _ = try refer(&scene)

        scene.advance(by: .seconds(33))

        #expect(scene.news() == ["referral failed 408", "ended dialogLost"])
    }

    @Test func `without a subscription no news is waited for`() throws {
        var scene = try Scene.established()

        let request = try refer(&scene, wantsProgress: false)
        #expect(request.headers[first: .referSub] == "false")
        scene.respond(200, to: request) { $0.headers[first: .referSub] = "false" }

        #expect(scene.news() == ["referral accepted, no news"])
    }

    @Test func `theirs is accepted, reported on and ended`() throws {
        var scene = try Scene.established()

        scene.peer(.refer) { $0.headers[first: .referTo] = "<sip:carol@192.0.2.12>" }
        #expect(scene.news() == ["referral to sip:carol@192.0.2.12"])
        let referral = try #require(scene.referral)
        scene.act { $0.acceptReferral($1, referral, at: $2, actions: &$3) }
        let first = try scene.request(.notify)
        scene.act { $0.notifyReferral($1, referral, status: 180, at: $2, actions: &$3) }
        scene.act { $0.notifyReferral($1, referral, status: 200, at: $2, actions: &$3) }
        let last = try scene.request(.notify)
        scene.act { $0.notifyReferral($1, referral, status: 200, at: $2, actions: &$3) }

        #expect(first.body == Array("SIP/2.0 100 Trying\r\n".utf8))
        #expect(first.headers.event?.parameters["id"] == "2")
        #expect(last.headers.subscriptionState?.token == "terminated")
        #expect(scene.lines() == ["202 2 REFER", "NOTIFY 2", "NOTIFY 3", "NOTIFY 4"])
    }

    @Test func `theirs without a subscription gets no NOTIFY`() throws {
        var scene = try Scene.established()
        scene.peer(.refer) {
            $0.headers[first: .referTo] = "<sip:carol@192.0.2.12>"
            $0.headers[first: .referSub] = "false"
        }
        let referral = try #require(scene.referral)

        scene.act { $0.acceptReferral($1, referral, at: $2, actions: &$3) }

        #expect(try scene.response(202).headers[first: .referSub] == "false")
        #expect(scene.lines() == ["202 2 REFER"])
    }

    @Test func `theirs can be refused, is refused after a while, and must name one target`() throws {
        var scene = try Scene.established()
        scene.peer(.refer) { $0.headers[first: .referTo] = "<sip:carol@192.0.2.12>" }
        let referral = try #require(scene.referral)
        scene.act { $0.refuseReferral($1, referral, at: $2, actions: &$3) }
        scene.peer(.refer) { $0.headers[first: .referTo] = "<sip:carol@192.0.2.12>" }
        scene.advance(by: .seconds(16))
        scene.peer(.refer)

        #expect(scene.lines() == ["603 2 REFER", "603 3 REFER", "400 4 REFER"])
    }

    @Test func `an INVITE with Replaces takes the place of a call`() throws {
        var scene = try Scene.established()
        let old = scene.session
        let id = try #require(scene.userAgent.sessionsByDialog.keys.first)
        scene.peerTag = "carol"

        scene.invite {
            $0.headers.callID = "call-2"
            $0.headers.replaces = Replaces(callID: id.callID, toTag: id.localTag, fromTag: id.remoteTag)
        }
        #expect(scene.session != old)
        scene.accept()

        #expect(scene.lines() == ["200 1 INVITE", "BYE 2"])
        #expect(scene.news().count == 2)
        #expect(scene.end?.cause == .replaced(scene.session))
    }

    @Test func `an INVITE with Join names the call that it is for and rings like any other (RFC 3911)`() throws {
        var scene = try Scene.established()
        let id = try #require(scene.userAgent.sessionsByDialog.keys.first)
        let value = Replaces(callID: id.callID, toTag: id.localTag, fromTag: id.remoteTag).description
        scene.peerTag = "carol"

        scene.invite {
            $0.headers.callID = "call-2"
            $0.headers[first: "Join"] = value
        }
        scene.accept()

        #expect(scene.lines() == ["200 1 INVITE"])
        #expect(scene.end == nil)
    }

    @Test func `Join of what is not there gets 481, and beside Replaces 400`() throws {
        var scene = try Scene.established()

        scene.invite {
            $0.headers.callID = "call-2"
            $0.headers[first: "Join"] = "7@c.example.org;to-tag=xyz;from-tag=pdq"
        }
        scene.invite {
            $0.headers.callID = "call-3"
            $0.headers[first: "Join"] = "7@c.example.org;to-tag=xyz;from-tag=pdq"
            $0.headers.replaces = Replaces(callID: "7@c.example.org", toTag: "xyz", fromTag: "pdq")
        }

        #expect(scene.lines() == ["481 1 INVITE", "400 1 INVITE"])
    }

    @Test func `Replaces of what is not there gets 481, of an answered call that must ring 486`() throws {
        var scene = try Scene.established()
        let id = try #require(scene.userAgent.sessionsByDialog.keys.first)

        scene.invite {
            $0.headers.callID = "call-2"
            $0.headers.replaces = Replaces(callID: "nosuch", toTag: "a", fromTag: "b")
        }
        scene.invite {
            $0.headers.callID = "call-3"
            $0.headers.replaces = Replaces(
                callID: id.callID, toTag: id.localTag, fromTag: id.remoteTag, isEarlyOnly: true)
        }

        #expect(scene.lines() == ["481 1 INVITE", "486 1 INVITE"])
    }

    @Test func `an attended transfer names the other call in Refer-To`() throws {
        var scene = try Scene.established()
        let first = scene.session
        let dialog = try #require(scene.userAgent.sessionsByDialog.keys.first)
        try scene.call("sip:carol@192.0.2.10")
        scene.respond(200, to: try scene.request(.invite), tag: "carol", body: "answer")

        let request = try refer(&scene, replacing: first)

        let header = try #require(request.headers.referTo?.uri.sip?.headers.first)
        #expect(header.name == "Replaces")
        let value = try #require(Replaces(parsing: PercentEscaping.unescape(header.value)))
        #expect(value == Replaces(callID: dialog.callID, toTag: dialog.remoteTag, fromTag: dialog.localTag))
    }
}
