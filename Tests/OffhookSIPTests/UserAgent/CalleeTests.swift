import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `The callee's answer (RFC 3261 §13.3)` {
    @Test func `rings, accepts and is acknowledged`() throws {
        var scene = Scene()
        scene.invite()

        scene.ring()
        scene.accept("answer")
        let success = try scene.response(200)
        scene.acknowledge()

        #expect(success.headers.contacts.first?.uri.description == "sip:offhook@192.0.2.1:5060")
        #expect(success.headers.to?.tag == scene.ourTag)
        #expect(success.body == Array("answer".utf8))
        #expect(scene.lines() == ["180 1 INVITE", "200 1 INVITE"])
        #expect(scene.news() == ["incoming", "acknowledged"])
    }

    @Test func `copies Record-Route and sends by it`() throws {
        var scene = Scene()
        scene.invite {
            $0.headers.append(.recordRoute, "<sip:192.0.2.50;lr>")
            $0.headers.append(.recordRoute, "<sip:192.0.2.51;lr>")
        }
        scene.ring()
        scene.accept()
        #expect(try scene.response(180).headers.recordRoute.count == 2)
        #expect(try scene.response(200).headers.recordRoute.count == 2)
        scene.acknowledge()

        scene.hangUp()

        let bye = try scene.request(.bye)
        #expect(bye.headers.route.map(\.uri.description) == ["sip:192.0.2.50;lr", "sip:192.0.2.51;lr"])
        #expect(try scene.target(of: .bye).remote.address.description == "192.0.2.50")
    }

    @Test func `repeats its 200 until the ACK, T1 doubling to T2`() {
        var scene = Scene()
        scene.invite()
        scene.accept()
        scene.forget()

        var times: [Double] = []
        while scene.now < .zero + .seconds(20) {
            scene.advance(by: .milliseconds(100))
            times += scene.lines().map { _ in scene.now.nanoseconds / 100_000_000 }.map { Double($0) / 10 }
        }

        #expect(times == [0.5, 1.5, 3.5, 7.5, 11.5, 15.5, 19.5])
    }

    @Test func `says BYE after 32 seconds without an ACK`() {
        var scene = Scene()
        scene.invite()
        scene.accept()
        scene.advance(by: .seconds(31.9))
        scene.forget()

        scene.advance(by: .seconds(0.2))

        #expect(scene.lines().contains("BYE 1"))
        #expect(scene.news() == ["ended acknowledgementMissing"])
    }

    @Test func `waits with BYE for the ACK`() {
        var scene = Scene()
        scene.invite()
        scene.accept()
        scene.forget()

        scene.hangUp()
        #expect(scene.lines().isEmpty)
        #expect(scene.news() == ["ended local"])
        scene.acknowledge()

        #expect(scene.lines() == ["BYE 1"])
    }

    @Test func `without an offer makes one in the 200 and finds the answer in the ACK`() {
        var scene = Scene()
        scene.invite(offer: nil)
        scene.accept("our offer")

        scene.acknowledge(body: "their answer")

        #expect(
            scene.news() == ["incoming without offer", "acknowledged", "answer their answer in acknowledgement"])
    }

    @Test func `hangs up where the ACK has no answer to our offer`() {
        var scene = Scene()
        scene.invite(offer: nil)
        scene.accept("our offer")
        scene.forget()

        scene.acknowledge()

        #expect(scene.lines() == ["BYE 1"])
        #expect(scene.news() == ["acknowledged", "ended answerMissing"])
    }

    @Test func `ignores a CANCEL after the 200, and takes a BYE before the ACK`() throws {
        var scene = Scene()
        var invite: SIPRequest?
        scene.invite { invite = $0 }
        scene.accept()
        scene.forget()

        var cancel = try #require(invite)
        cancel.method = .cancel
        cancel.headers.cseq = CSeq(1, .cancel)
        cancel.headers.reasons = [SIPReason(protocolName: "SIP", cause: 200, text: "Call completed elsewhere")]
        scene.receive(cancel)
        #expect(scene.lines() == ["200 1 CANCEL"])
        #expect(scene.news().isEmpty)
        scene.peer(.bye)

        #expect(scene.lines() == ["200 2 BYE"])
        #expect(scene.news() == ["ended remote"])
        scene.advance(by: .seconds(10))
        #expect(scene.lines().isEmpty)
        scene.advance(by: .seconds(60))
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `is cancelled before it was given`() throws {
        var scene = Scene()
        var invite: SIPRequest?
        scene.invite { invite = $0 }
        scene.ring()
        scene.forget()

        var cancel = try #require(invite)
        cancel.method = .cancel
        cancel.headers.cseq = CSeq(1, .cancel)
        cancel.headers.reasons = [SIPReason(protocolName: "SIP", cause: 200, text: "Call completed elsewhere")]
        scene.receive(cancel)

        #expect(scene.lines() == ["200 1 CANCEL", "487 1 INVITE"])
        #expect(scene.news() == ["ended cancelled"])
        #expect(scene.end?.reasons.first?.text == "Call completed elsewhere")
        let count = scene.userAgent.sessions.count
        #expect(count == 0)
    }

    @Test func `a CANCEL of an INVITE nobody knows gets 481`() {
        var scene = Scene()

        scene.invite(.cancel, offer: nil)

        #expect(scene.lines() == ["481 1 CANCEL"])
    }

    @Test func `refuses, redirects, and repeats both until the ACK`() throws {
        for isRedirect in [false, true] {
            var scene = Scene()
            var invite: SIPRequest?
            scene.invite { invite = $0 }

            if isRedirect {
                let target = try #require(NameAddress(parsing: "<sip:carol@192.0.2.12>"))
                scene.act { $0.redirect($1, to: [target], at: $2, actions: &$3) }
                #expect(try scene.response(302).headers.contacts.count == 1)
            } else {
                scene.act { $0.reject($1, status: 486, at: $2, actions: &$3) }
            }
            scene.advance(by: .seconds(2))
            #expect(scene.lines().count == 3)
            var ack = try #require(invite)
            ack.method = .ack
            ack.headers.cseq = CSeq(1, .ack)
            ack.headers.to = NameAddress(parsing: "<sip:alice@192.0.2.1>;tag=\(scene.ourTag)")
            ack.body = []
            scene.receive(ack)
            scene.advance(by: .seconds(20))

            #expect(scene.lines().isEmpty)
            #expect(scene.news() == ["incoming", "ended local"])
            let isIdle = scene.userAgent.isIdle
            #expect(isIdle)
        }
    }

    @Test func `says 100 by itself after 200 ms of silence`() {
        var scene = Scene()
        scene.invite()

        scene.advance(by: .milliseconds(200))

        #expect(scene.lines() == ["100 1 INVITE"])
    }

    @Test func `gives up on an INVITE nobody answers`() {
        var scene = Scene()
        scene.invite()
        scene.advance(by: .seconds(1))
        scene.forget()

        scene.advance(by: .seconds(180))

        #expect(scene.lines().first == "480 1 INVITE")
        #expect(scene.news() == ["ended timedOut"])
    }

    @Test func `ends by a BYE within the early dialog`() {
        var scene = Scene()
        scene.invite()
        scene.ring()
        scene.forget()

        scene.peer(.bye)

        #expect(scene.lines() == ["200 2 BYE", "487 1 INVITE"])
        #expect(scene.news() == ["ended remote"])
    }

    @Test func `a merged copy of the INVITE gets 482 (RFC 3261 §8.2.2.2)`() {
        var scene = Scene()
        scene.invite()
        scene.forget()

        scene.invite()

        #expect(scene.lines() == ["482 1 INVITE"])
        #expect(scene.news().isEmpty)
    }

    @Test func `more callers than the limit are told that we are busy`() {
        var configuration = UserAgentConfiguration()
        configuration.incomingSessionLimit = 2
        var scene = Scene(configuration)

        for index in 0..<3 {
            scene.peerTag = "peer\(index)"
            scene.invite { $0.headers.callID = "call-\(index)" }
        }

        #expect(scene.lines() == ["486 1 INVITE"])
    }

    @Test func `more transactions than the limit get 503 and no memory`() {
        var configuration = UserAgentConfiguration()
        configuration.serverTransactionLimit = 3
        var scene = Scene(configuration)

        for index in 0..<10 { scene.invite(.options, offer: nil) { $0.headers.callID = "c\(index)" } }

        let count = scene.userAgent.table.serverCount
        #expect(count == 3)
        #expect(scene.lines().suffix(7).allSatisfy { $0 == "503 1 OPTIONS" })
    }

    @Test func `a call ends though there is no room for more transactions`() {
        var configuration = UserAgentConfiguration()
        configuration.serverTransactionLimit = 3
        var scene = Scene.answered(configuration)
        for index in 0..<10 { scene.invite(.options, offer: nil) { $0.headers.callID = "c\(index)" } }
        scene.forget()

        scene.peer(.bye)

        #expect(scene.lines() == ["200 \(scene.peerSequence) BYE"])
        #expect(scene.news() == ["ended remote"])
    }
}
