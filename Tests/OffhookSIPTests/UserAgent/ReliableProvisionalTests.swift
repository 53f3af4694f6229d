import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `Reliable provisional responses (RFC 3262)` {
    private func reliable(_ number: UInt32) -> (inout SIPResponse) -> Void {
        {
            $0.headers.require = ["100rel"]
            $0.headers.rseq = number
        }
    }

    private func callee(demands: Bool = true, offer: String? = "offer") -> Scene {
        var configuration = UserAgentConfiguration()
        configuration.reliableProvisionals = .whenSupported
        var scene = Scene(configuration)
        scene.invite(offer: offer) {
            if demands { $0.headers.require = ["100rel"] } else { $0.headers.supported = ["100rel"] }
        }
        return scene
    }

    private func prack(_ scene: inout Scene, _ response: SIPResponse, body: String? = nil) {
        let rack = RAck(responseNumber: response.headers.rseq ?? 0, cseq: CSeq(1, .invite))
        scene.peer(.prack, body: body) { $0.headers.rack = rack }
    }

    @Test func `the caller acknowledges each in its order and drops repeats and gaps`() throws {
        var scene = Scene()
        try scene.call()
        let invite = try scene.request(.invite)

        scene.respond(180, to: invite, reliable(4))
        let prack = try scene.request(.prack)
        #expect(prack.headers.rack == RAck(responseNumber: 4, cseq: CSeq(1, .invite)))
        scene.respond(180, to: invite, reliable(4))
        scene.respond(183, to: invite, reliable(6))
        scene.respond(183, to: invite, reliable(5))

        #expect(scene.lines() == ["INVITE 1", "PRACK 2", "PRACK 3"])
        #expect(scene.news() == ["progress 180", "progress 183"])
    }

    @Test func `an offer in one is answered in the PRACK`() throws {
        var scene = Scene()
        try scene.call(offer: nil)
        let invite = try scene.request(.invite)

        scene.respond(183, to: invite, body: "their offer", reliable(1))
        #expect(scene.news() == ["progress 183", "offer their offer in reliableProvisional"])
        scene.answer("our answer")
        #expect(try scene.request(.prack).body == Array("our answer".utf8))
        scene.respond(200, to: invite)

        #expect(scene.lines() == ["INVITE 1", "PRACK 2", "ACK 1"])
        #expect(scene.news() == ["accepted"])
    }

    @Test func `the callee repeats one until the PRACK`() throws {
        var scene = callee()
        scene.ring(180)
        scene.advance(by: .seconds(4))
        let progress = try scene.response(180)
        #expect(scene.lines() == Array(repeating: "180 1 INVITE", count: 4))

        prack(&scene, progress)
        scene.advance(by: .seconds(40))

        #expect(scene.lines() == ["200 2 PRACK"])
    }

    @Test func `the next one waits for the PRACK of the one before`() throws {
        var scene = callee()
        scene.ring(180)
        let first = try scene.response(180)
        #expect(first.headers.require == ["100rel"])
        scene.ring(183, "answer")
        #expect(scene.lines() == ["180 1 INVITE"])

        prack(&scene, first)
        let second = try scene.response(183)

        #expect(scene.lines() == ["200 2 PRACK", "183 1 INVITE"])
        #expect(second.headers.rseq == (first.headers.rseq ?? 0) + 1)
    }

    @Test func `the 200 waits for the PRACK of one with a description, and needs none itself`() throws {
        var scene = callee()
        scene.ring(183, "answer")
        let progress = try scene.response(183)
        scene.forget()
        scene.accept(nil)
        #expect(scene.lines().isEmpty)

        prack(&scene, progress)

        #expect(try scene.response(200).headers.cseq == CSeq(1, .invite))
        #expect(try scene.response(200).body.isEmpty)
        #expect(scene.lines() == ["200 2 PRACK", "200 1 INVITE"])
    }

    @Test func `a late offer goes in one and its answer comes in the PRACK`() throws {
        var scene = callee(offer: nil)
        scene.ring(183, "our offer")

        prack(&scene, try scene.response(183), body: "their answer")
        #expect(scene.news() == ["incoming without offer", "answer their answer in prack"])
        scene.accept(nil)
        scene.acknowledge(sequence: 1)

        #expect(scene.news() == ["acknowledged"])
    }

    @Test func `a new offer in a PRACK is answered in its 200`() throws {
        var scene = callee()
        scene.ring(183, "answer")

        prack(&scene, try scene.response(183), body: "offer 2")
        #expect(scene.news() == ["incoming", "offer offer 2 in prack"])
        scene.forget()
        scene.answer("answer 2")

        let success = try scene.response(200)
        #expect(success.headers.cseq?.method == .prack)
        #expect(success.body == Array("answer 2".utf8))
    }

    @Test func `one nobody acknowledges ends the call with 504 after 32 seconds`() {
        var scene = callee()
        scene.ring(180)

        scene.advance(by: .seconds(32))

        #expect(scene.lines().last == "504 1 INVITE")
        #expect(scene.news().last == "ended provisionalUnacknowledged")
    }

    @Test func `a PRACK for nothing gets 481`() {
        var scene = callee()
        scene.ring(180)
        scene.forget()

        scene.peer(.prack) { $0.headers.rack = RAck(responseNumber: 99, cseq: CSeq(1, .invite)) }

        #expect(scene.lines() == ["481 2 PRACK"])
    }

    @Test func `they are used where the caller can, or demands, as configured`() throws {
        var supported = callee(demands: false)
        supported.ring()
        #expect(try supported.response(180).headers.rseq != nil)

        var scene = Scene()
        scene.invite { $0.headers.supported = ["100rel"] }
        scene.ring()
        #expect(try scene.response(180).headers.rseq == nil)

        var configuration = UserAgentConfiguration()
        configuration.reliableProvisionals = .never
        var refusing = Scene(configuration)
        refusing.invite { $0.headers.require = ["100rel"] }
        #expect(try refusing.response(420).headers.unsupported == ["100rel"])
    }
}
