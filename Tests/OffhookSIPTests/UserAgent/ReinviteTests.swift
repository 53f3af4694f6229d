import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `Offers in a call (RFC 3261 §14, RFC 3311)` {
    @Test func `ours goes out and is answered`() throws {
        var scene = try Scene.established()

        scene.reinvite("hold")
        scene.respond(200, to: try scene.request(.invite), body: "held")

        #expect(scene.lines() == ["INVITE 2", "ACK 2"])
        #expect(scene.news() == ["answer held in inviteResponse"])
    }

    @Test func `theirs is told, may wait 15 seconds, and is answered`() throws {
        var scene = try Scene.established()

        scene.peer(.invite, body: "with video")
        scene.advance(by: .seconds(15))
        #expect(scene.lines() == ["100 2 INVITE"])
        #expect(scene.news() == ["offer with video in invite"])
        scene.answer("no video")

        #expect(try scene.response(200).body == Array("no video".utf8))
        scene.acknowledge()
        #expect(scene.news() == ["acknowledged"])
    }

    @Test func `theirs that is answered at once gets no 100 (RFC 3261 §17.2.1)`() throws {
        var scene = try Scene.established()

        scene.peer(.invite, body: "hold")
        scene.answer("held")

        #expect(scene.lines() == ["200 2 INVITE"])
    }

    @Test func `theirs that nobody answers is refused with 504 after half a minute`() throws {
        var scene = try Scene.established()
        scene.peer(.invite, body: "with video")
        scene.forget()

        scene.advance(by: .seconds(30))

        #expect(scene.lines() == ["100 2 INVITE", "504 2 INVITE"])
        #expect(scene.news() == ["offer withdrawn"])
    }

    @Test func `theirs can be refused and the call goes on`() throws {
        var scene = try Scene.established()
        scene.peer(.invite, body: "with video")
        scene.forget()

        scene.act { $0.rejectOffer($1, status: 488, at: $2, actions: &$3) }
        #expect(scene.lines() == ["488 2 INVITE"])
        scene.peer(.invite, body: "again")

        #expect(scene.news() == ["offer again in invite"])
    }

    @Test func `theirs can be withdrawn by CANCEL or BYE`() throws {
        for method in [SIPMethod.cancel, .bye] {
            var scene = try Scene.established()
            var reinvite = scene.peer(.invite, body: "with video")
            scene.forget()

            if method == .cancel {
                reinvite.method = .cancel
                reinvite.headers.cseq = CSeq(scene.peerSequence, .cancel)
                reinvite.body = []
                scene.receive(reinvite)
                #expect(scene.lines() == ["200 2 CANCEL", "487 2 INVITE"])
                #expect(scene.news() == ["offer withdrawn"])
            } else {
                scene.peer(.bye)
                #expect(scene.lines() == ["200 3 BYE", "487 2 INVITE"])
                #expect(scene.news() == ["ended remote"])
            }
        }
    }

    @Test func `theirs without an offer asks for ours, and the ACK answers`() throws {
        var scene = try Scene.established()

        scene.peer(.invite)
        #expect(scene.news() == ["offer requested in invite"])
        scene.answer("our offer")
        scene.acknowledge(body: "their answer")

        #expect(scene.news() == ["acknowledged", "answer their answer in acknowledgement"])
    }

    @Test func `theirs without an offer and without an answer leaves all as it was`() throws {
        var scene = try Scene.established()
        scene.peer(.invite)
        scene.answer("our offer")

        scene.acknowledge()
        scene.peer(.invite, body: "next")
        scene.answer("our answer")

        #expect(
            scene.news() == ["offer requested in invite", "acknowledged", "offer unanswered", "offer next in invite"])
        #expect(scene.end == nil)
    }

    @Test func `ours without an offer is answered in the ACK`() throws {
        var scene = try Scene.established()

        scene.reinvite(nil)
        scene.respond(200, to: try scene.request(.invite), body: "their offer")
        #expect(scene.news() == ["offer their offer in inviteResponse"])
        scene.answer("our answer")

        #expect(try scene.request(.ack).body == Array("our answer".utf8))
    }

    @Test func `one that was refused leaves all as it was, and the next may go`() throws {
        var scene = try Scene.established()

        scene.reinvite("hold")
        scene.respond(488, to: try scene.request(.invite))
        scene.reinvite("hold")
        scene.respond(200, to: try scene.request(.invite), body: "held")
        scene.peer(.invite)

        #expect(scene.lines() == ["INVITE 2", "ACK 2", "INVITE 3", "ACK 3"])
        #expect(
            scene.news() == ["offer refused 488", "answer held in inviteResponse", "offer requested in invite"])
    }

    @Test(arguments: [481, 408])
    func `one that finds no dialog ends the call`(status: Int) throws {
        var scene = try Scene.established()

        scene.reinvite("hold")
        scene.respond(status, to: try scene.request(.invite))

        #expect(scene.lines() == ["INVITE 2", "ACK 2", "BYE 3"])
        #expect(scene.news() == ["ended dialogLost"])
    }

    @Test func `one that gets no response ends the call`() throws {
        var scene = try Scene.established()

        scene.reinvite("hold")
        scene.advance(by: .seconds(33))

        #expect(scene.lines().contains("BYE 3"))
        #expect(scene.news() == ["ended dialogLost"])
    }

    @Test func `theirs meets 491 while ours is open`() throws {
        var scene = try Scene.established()
        scene.reinvite("hold")
        scene.forget()

        scene.peer(.invite, body: "hold")

        #expect(scene.lines() == ["491 2 INVITE"])
        #expect(scene.news().isEmpty)
    }

    @Test func `theirs meets 500 and Retry-After while an earlier one is open`() throws {
        var scene = try Scene.established()
        scene.peer(.invite, body: "with video")
        scene.forget()

        scene.peer(.invite, body: "without")
        let wait = try #require(try scene.response(500).headers.retryAfter)
        scene.answer("no video")

        #expect(wait <= 10)
        #expect(scene.lines() == ["500 3 INVITE", "200 2 INVITE"])
    }

    @Test func `theirs meets 491 while our offer waits for its ACK`() throws {
        var scene = try Scene.established()
        scene.peer(.invite)
        scene.answer("our offer")
        scene.forget()

        scene.peer(.invite, body: "hold")

        #expect(scene.lines() == ["491 3 INVITE"])
    }

    @Test(arguments: [true, false])
    func `ours that met 491 is due again after the time of its side`(isCaller: Bool) throws {
        for seed in UInt64(1)...50 {
            var scene = Scene(seed: seed)
            if isCaller {
                try scene.call()
                scene.respond(200, to: try scene.request(.invite), body: "answer")
            } else {
                scene.invite()
                scene.accept()
                scene.acknowledge()
            }
            scene.forget()
            scene.reinvite("hold")
            scene.respond(491, to: try scene.request(.invite))
            #expect(scene.news() == ["glare"])
            let start = scene.now

            while scene.news() != ["offer due waited"] { scene.advance(by: .milliseconds(10)) }

            let milliseconds = (scene.now - start).inMilliseconds
            #expect(isCaller ? (2100...4000).contains(milliseconds) : (0...2010).contains(milliseconds))
        }
    }

    @Test func `ours that is refused for now is due again no sooner than in a second`() throws {
        var scene = try Scene.established()

        scene.reinvite("hold")
        scene.respond(500, to: try scene.request(.invite)) { $0.headers.retryAfter = 0 }
        #expect(scene.news() == ["glare"])
        scene.advance(by: .milliseconds(990))
        #expect(scene.news().isEmpty)
        scene.advance(by: .milliseconds(20))

        #expect(scene.news() == ["offer due waited"])
    }

    @Test func `ours waits for theirs and is asked for then`() throws {
        var scene = try Scene.established()
        scene.peer(.invite, body: "with video")
        scene.forget()

        scene.reinvite("hold")
        scene.answer("no video")
        #expect(scene.news().isEmpty)
        scene.acknowledge()

        #expect(scene.news() == ["acknowledged", "offer due waited"])
    }

    @Test func `theirs that a stranger's Contact came with moves the target`() throws {
        var scene = try Scene.established()

        scene.peer(.invite, body: "moved") {
            $0.headers.contacts = [NameAddress(parsing: "<sip:bob@192.0.2.10:6060>")!]
        }
        scene.answer("answer")
        scene.acknowledge()
        scene.hangUp()

        #expect(scene.news().contains("target sip:bob@192.0.2.10:6060"))
        #expect(try scene.request(.bye).uri.description == "sip:bob@192.0.2.10:6060")
        #expect(try scene.target(of: .bye).remote.port == 6060)
    }

    @Test func `the 200 to ours moves the target too`() throws {
        var scene = try Scene.established()

        scene.reinvite("hold")
        scene.respond(200, to: try scene.request(.invite), body: "held") {
            $0.headers.contacts = [NameAddress(parsing: "<sip:bob@192.0.2.10:6060>")!]
        }

        #expect(try scene.target(of: .ack).remote.port == 6060)
    }

    @Test func `a lower CSeq gets 500`() throws {
        var scene = try Scene.established()
        scene.peerSequence = 10
        scene.peer(.info)
        scene.forget()

        scene.peer(.invite, sequence: 9, body: "old")

        #expect(scene.lines() == ["500 9 INVITE"])
        #expect(scene.news().isEmpty)
    }

    @Test func `an UPDATE of ours is answered without an ACK`() throws {
        var scene = try Scene.established()

        scene.update("offer 2")
        scene.respond(200, to: try scene.request(.update), body: "answer 2")

        #expect(scene.lines() == ["UPDATE 2"])
        #expect(scene.news() == ["answer answer 2 in updateResponse"])
    }

    @Test func `an UPDATE of theirs is told and answered at once, or refused with 504`() throws {
        var scene = try Scene.established()

        scene.peer(.update, body: "offer 2")
        scene.answer("answer 2")
        #expect(scene.lines() == ["200 2 UPDATE"])
        scene.peer(.update, body: "offer 3")
        scene.advance(by: .seconds(2))

        #expect(scene.lines() == ["504 3 UPDATE"])
        #expect(scene.news() == ["offer offer 2 in update", "offer offer 3 in update", "offer withdrawn"])
    }

    @Test func `an UPDATE meets 491 while our offer is open, and 500 while theirs is (RFC 3311 §5.2)`() throws {
        var scene = try Scene.established()
        scene.reinvite("hold")
        scene.forget()
        scene.peer(.update, body: "offer 2")
        #expect(scene.lines() == ["491 2 UPDATE"])

        var other = try Scene.established()
        other.peer(.update, body: "offer 2")
        other.peer(.update, body: "offer 3")
        #expect(other.lines() == ["500 3 UPDATE"])
    }

    @Test func `an UPDATE before the answer changes the early dialog`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)
        scene.respond(183, to: invite, body: "early") {
            $0.headers.require = ["100rel"]
            $0.headers.rseq = 1
        }
        scene.respond(200, to: try scene.request(.prack))
        scene.forget()

        scene.update("offer 2")
        scene.respond(200, to: try scene.request(.update), body: "answer 2")
        scene.peer(.update, body: "offer 3")
        scene.answer("answer 3")

        #expect(scene.lines() == ["UPDATE 3", "200 2 UPDATE"])
        #expect(scene.news() == ["answer answer 2 in updateResponse", "offer offer 3 in update"])
    }
}
