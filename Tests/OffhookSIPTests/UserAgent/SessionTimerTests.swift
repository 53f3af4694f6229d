import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `Session timers (RFC 4028)` {
    private func caller(refresher: SessionExpires.Refresher, allowsUpdate: Bool = true) throws -> Scene {
        try Scene.established {
            $0.headers.sessionExpires = SessionExpires(seconds: 90, refresher: refresher)
            $0.headers.require = ["timer"]
            if allowsUpdate { $0.headers[first: .allow] = "INVITE, ACK, BYE, UPDATE" }
        }
    }

    @Test func `the refresher sends an UPDATE at half time and starts anew`() throws {
        var scene = try caller(refresher: .uac)

        scene.advance(by: .seconds(45))
        let update = try scene.request(.update)
        #expect(update.headers.sessionExpires == SessionExpires(seconds: 90, refresher: .uac))
        scene.respond(200, to: update) { $0.headers.sessionExpires = SessionExpires(seconds: 90, refresher: .uac) }
        scene.forget()
        scene.advance(by: .seconds(44))
        #expect(scene.lines().isEmpty)
        scene.advance(by: .seconds(1.1))

        #expect(scene.lines() == ["UPDATE 3"])
    }

    @Test func `the refresher asks for an offer where the far end takes no UPDATE`() throws {
        var scene = try caller(refresher: .uac, allowsUpdate: false)

        scene.advance(by: .seconds(45))
        #expect(scene.news() == ["offer due sessionRefresh"])
        scene.reinvite("same as before")
        scene.respond(200, to: try scene.request(.invite), body: "same")

        #expect(scene.lines() == ["INVITE 2", "ACK 2"])
    }

    @Test func `the refresher asks for an offer where the far end refuses an UPDATE without one`() throws {
        var scene = try caller(refresher: .uac)
        scene.advance(by: .seconds(45))
        scene.respond(400, to: try scene.request(.update))

        #expect(scene.news() == ["offer due sessionRefresh"])
        scene.forget()
        scene.reinvite("same as before")
        scene.respond(200, to: try scene.request(.invite), body: "same")

        #expect(scene.lines() == ["INVITE 3", "ACK 3"])
    }

    @Test func `a refresh that nobody answers ends the call before it expires`() throws {
        var scene = try caller(refresher: .uac)
        scene.advance(by: .seconds(45))

        scene.advance(by: .seconds(31.9))
        #expect(scene.news().isEmpty)
        scene.advance(by: .seconds(0.2))

        #expect(scene.news() == ["ended dialogLost"])
        #expect(scene.lines().contains("BYE 3"))
    }

    @Test func `an interval of a second leads to an UPDATE every five, and does not end the call`() throws {
        var scene = try Scene.established {
            $0.headers.sessionExpires = SessionExpires(seconds: 1, refresher: .uac)
            $0.headers.require = ["timer"]
            $0.headers[first: .allow] = "INVITE, ACK, BYE, UPDATE"
        }

        for number in 2...4 {
            scene.advance(by: .seconds(4.9))
            #expect(scene.lines().isEmpty)
            scene.advance(by: .seconds(0.2))
            let update = try scene.request(.update)
            #expect(scene.lines() == ["UPDATE \(number)"])
            scene.respond(200, to: update) {
                $0.headers.sessionExpires = SessionExpires(seconds: 1, refresher: .uac)
            }
        }
        #expect(scene.news().isEmpty)
    }

    @Test func `without a refresh from the far end we hang up in time`() throws {
        var scene = try caller(refresher: .uas)

        scene.advance(by: .seconds(57.9))
        #expect(scene.news().isEmpty)
        scene.advance(by: .seconds(2.2))

        #expect(scene.news() == ["ended sessionExpired"])
        #expect(scene.lines() == ["BYE 2"])
    }

    @Test func `a refresh from the far end keeps the call`() throws {
        var scene = try caller(refresher: .uas)

        for _ in 0..<5 {
            scene.advance(by: .seconds(45))
            scene.peer(.update) {
                $0.headers.supported = ["timer"]
                $0.headers.sessionExpires = SessionExpires(seconds: 90, refresher: .uac)
            }
        }

        #expect(scene.news().isEmpty)
        #expect(try scene.response(200).headers.sessionExpires == SessionExpires(seconds: 90, refresher: .uac))
    }

    @Test func `the refresher changes hands with a re-INVITE`() throws {
        var scene = try caller(refresher: .uac)

        scene.peer(.invite, body: "same") {
            $0.headers.supported = ["timer"]
            $0.headers.sessionExpires = SessionExpires(seconds: 1800, refresher: .uac)
        }
        scene.answer("answer")
        let success = try scene.response(200)
        scene.acknowledge()
        scene.forget()
        scene.advance(by: .seconds(1000))

        #expect(success.headers.sessionExpires == SessionExpires(seconds: 1800, refresher: .uac))
        #expect(success.headers.require.contains("timer"))
        #expect(scene.lines().isEmpty)
        scene.advance(by: .seconds(800))
        #expect(scene.news() == ["ended sessionExpired"])
    }

    @Test func `too small an interval gets 422 and the least we endure`() throws {
        var scene = Scene()

        scene.invite { $0.headers.sessionExpires = SessionExpires(seconds: 60) }

        #expect(try scene.response(422).headers.minSE == 90)
        #expect(scene.news().isEmpty)
    }

    @Test func `a 422 makes us ask again for more`() throws {
        var configuration = UserAgentConfiguration()
        configuration.sessionTimer = SessionTimerConfiguration(interval: 90)
        var scene = Scene(configuration)
        try scene.call()

        scene.respond(422, to: try scene.request(.invite)) { $0.headers.minSE = 300 }

        let again = try scene.request(.invite)
        #expect(again.headers.sessionExpires?.seconds == 300)
        #expect(again.headers.minSE == 300)
        #expect(again.headers.cseq == CSeq(2, .invite))
        #expect(again.body == Array("offer".utf8))
        scene.respond(422, to: again) { $0.headers.minSE = 300 }
        #expect(scene.news() == ["ended refused"])
    }

    @Test func `a 422 that wants more each time ends the call`() throws {
        var scene = Scene()
        try scene.call()

        for number in 1...6 {
            scene.respond(422, to: try scene.request(.invite)) { $0.headers.minSE = 2000 + UInt32(number) }
        }

        #expect(scene.lines().count { $0.hasPrefix("INVITE") } == 6)
        #expect(scene.news() == ["ended refused"])
    }

    @Test func `the callee leaves refreshing to a caller that can`() throws {
        var scene = Scene()
        scene.invite {
            $0.headers.supported = ["timer"]
            $0.headers.sessionExpires = SessionExpires(seconds: 600)
        }

        scene.accept()

        #expect(try scene.response(200).headers.sessionExpires == SessionExpires(seconds: 600, refresher: .uac))
    }

    @Test func `a caller that knows no timers gets none`() throws {
        var scene = Scene()
        scene.invite()
        scene.accept()
        scene.acknowledge()
        #expect(try scene.response(200).headers.sessionExpires == nil)
        scene.forget()

        scene.advance(by: .seconds(10_000))

        #expect(scene.news().isEmpty)
    }
}
