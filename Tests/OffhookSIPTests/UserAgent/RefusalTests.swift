import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `What a user agent answers by itself (RFC 3261 §8.2)` {
    @Test func `OPTIONS, within and outside a dialog`() throws {
        var scene = Scene()
        scene.invite(.options, offer: nil)
        let response = try scene.response(200)
        #expect(response.headers.allow.contains(.invite))
        #expect(response.headers.accept.first?.essence == "application/sdp")
        #expect(response.headers.supported.contains("replaces"))
        #expect(response.headers.to?.tag != nil)

        var call = try Scene.established()
        call.peer(.options)
        #expect(try call.response(200).headers.allow.contains(.invite))
    }

    @Test(arguments: [
        ("FROBNICATE", 501), ("REGISTER", 405), ("SUBSCRIBE", 405), ("BYE", 481), ("INFO", 481), ("UPDATE", 481),
        ("PRACK", 481), ("NOTIFY", 481), ("REFER", 403), ("MESSAGE", 405), ("PUBLISH", 405),
    ])
    func `methods we do not serve outside a dialog`(method: String, status: Int) throws {
        var scene = Scene()

        scene.invite(SIPMethod(method), offer: nil)

        #expect(scene.lines() == ["\(status) 1 \(method)"])
    }

    @Test func `405 and 501 list what is allowed`() throws {
        var scene = Scene()
        scene.invite("FROBNICATE", offer: nil)

        #expect(try scene.response(501).headers.allow.contains(.invite))
    }

    @Test func `an INFO of a package that nobody agreed on gets 469 (RFC 6086 §4.2.2)`() throws {
        var call = try Scene.established()

        call.peer(.info) { $0.headers[first: "Info-Package"] = "foo" }

        #expect(try call.response(469).headers.contains("Recv-Info"))
        #expect(call.news().isEmpty)
    }

    @Test func `a message within a call gets 405`() throws {
        var call = try Scene.established()

        call.peer(.message)

        #expect(try !call.response(405).headers.allow.contains(.message))
    }

    @Test func `any request of a dialog we do not know, but no ACK`() {
        var scene = Scene()

        for method in [SIPMethod.bye, .invite, .info, .options, .ack] {
            scene.peer(method) { $0.headers.to?.tag = "nobody" }
        }

        #expect(scene.lines() == ["481 2 BYE", "481 3 INVITE", "481 4 INFO", "481 5 OPTIONS"])
    }

    @Test func `extensions it lacks, with Unsupported`() throws {
        var scene = Scene()

        scene.invite { $0.headers.require = ["timer", "frob"] }

        #expect(try scene.response(420).headers.unsupported == ["frob"])
        #expect(scene.news().isEmpty)
    }

    @Test func `bodies it cannot read, unless they may be ignored`() throws {
        var scene = Scene()
        scene.invite { $0.headers[first: .contentType] = "application/frob" }
        #expect(try scene.response(415).headers.accept.first?.essence == "application/sdp")
        #expect(scene.news().isEmpty)

        scene.invite {
            $0.headers.callID = "other"
            $0.headers[first: .contentType] = "application/frob"
            $0.headers[first: .contentDisposition] = "render;handling=optional"
        }
        #expect(scene.news() == ["incoming without offer"])
    }

    @Test(
        arguments: [
            ("multipart/mixed", "--b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--b--\r\n", 400),
            ("multipart/mixed;boundary=c", "--b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--b--\r\n", 400),
            (
                "multipart/mixed;boundary=b",
                "--b\r\nContent-Type: application/frob\r\nContent-Disposition: "
                    + "render;handling=required\r\n\r\nx\r\n--b--\r\n", 415
            ),
            ("nonsense", "v=0\r\n", 415), (nil, "v=0\r\n", 415),
        ] as [(String?, String, Int)])
    func `a body that is no multipart, or has a part that must be read and cannot be, or no type`(
        type: String?, body: String, status: Int
    ) throws {
        var scene = Scene()

        scene.invite {
            $0.headers[first: .contentType] = type
            $0.body = Array(body.utf8)
        }

        let response = try scene.response(status)
        #expect((response.headers.accept.first?.essence == "application/sdp") == (status == 415))
        #expect(scene.news().isEmpty)
    }

    @Test func `a type without a body is no offer`() {
        var scene = Scene()

        scene.invite(offer: nil) { $0.headers[first: .contentType] = "application/sdp" }

        #expect(scene.news() == ["incoming without offer"])
    }

    @Test func `a body that is encoded`() throws {
        var scene = Scene()

        scene.invite { $0.headers[first: .contentEncoding] = "gzip" }

        #expect(try scene.response(415).headers[first: .acceptEncoding] == "identity")
    }

    @Test func `a URI of another scheme`() {
        var scene = Scene()

        scene.invite { $0.uri = .other("http://example.org/") }

        #expect(scene.lines() == ["416 1 INVITE"])
    }

    @Test func `the offer is found within a multipart body`() {
        var scene = Scene()

        scene.invite {
            $0.headers[first: .contentType] = "multipart/mixed;boundary=b"
            $0.body = Array(
                "--b\r\nContent-Type: application/pidf+xml\r\n\r\n<x/>\r\n--b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--b--\r\n"
                    .utf8)
        }

        #expect(scene.news() == ["incoming"])
    }

    @Test func `what is broken gets 400, and broken responses and ACKs nothing`() throws {
        var scene = Scene()
        scene.invite { $0.headers[first: .cseq] = "1 OPTIONS" }
        #expect(scene.lines() == ["400 1 OPTIONS"])

        var ack = ""
        scene.peer(.ack) { ack = String(decoding: $0.write(), as: UTF8.self) }
        scene.receive(Array(ack.replacing("Call-ID", with: "X").utf8))
        for line in ["SIP/2.0 4 x", "SIP/2.0 999 x", "SIP/2.0", "SIP/2.0 200 OK"] {
            let text = """
                \(line)\r
                Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKnone\r
                From: <sip:ua@example.com>;tag=1\r
                To: <sip:bob@example.net>;tag=2\r
                Call-ID: x\r
                CSeq: 1 OPTIONS\r
                Content-Length: 0\r
                \r

                """
            scene.receive(Array(text.utf8))
        }

        #expect(scene.lines().isEmpty)
        let isIdle = scene.userAgent.sessions.isEmpty
        #expect(isIdle)
    }

    @Test func `an ACK with the branch of an OPTIONS is dropped`() {
        var scene = Scene()
        var options: SIPRequest?
        scene.invite(.options, offer: nil) { options = $0 }
        scene.forget()

        options?.method = .ack
        options?.headers.cseq = CSeq(1, .ack)
        if let options { scene.receive(options) }

        #expect(scene.lines().isEmpty)
    }

    @Test func `INFO within the call is answered and told`() throws {
        var scene = try Scene.established()

        scene.peer(.info) {
            $0.headers[first: .contentType] = "application/dtmf-relay"
            $0.body = Array("Signal=5".utf8)
        }

        #expect(scene.lines() == ["200 2 INFO"])
        #expect(scene.news() == ["info"])
    }

    @Test func `INFO of ours tells how it went, and that the call is gone`() throws {
        var scene = try Scene.established()
        scene.act { _ = $0.sendInfo($1, body: nil, at: $2, actions: &$3) }
        scene.respond(415, to: try scene.request(.info))
        #expect(scene.news() == ["info finished 415"])

        scene.act { _ = $0.sendInfo($1, body: nil, at: $2, actions: &$3) }
        scene.respond(481, to: try scene.request(.info))

        #expect(scene.news() == ["info finished 481", "ended dialogLost"])
    }

    @Test func `Reason is written into BYE and read from it`() throws {
        var scene = try Scene.established()
        scene.peer(.bye) { $0.headers.reasons = [SIPReason(protocolName: "Q.850", cause: 16)] }
        #expect(scene.end?.reasons == [SIPReason(protocolName: "Q.850", cause: 16)])

        var other = try Scene.established()
        other.act { $0.end($1, reasons: [SIPReason(protocolName: "SIP", cause: 487)], at: $2, actions: &$3) }
        #expect(try other.request(.bye).headers.reasons.first?.cause == 487)
    }

    @Test(arguments: 0..<20)
    func `no bytes whatever break it`(block: Int) throws {
        for seed in UInt64(block * 100)..<UInt64(block * 100 + 100) {
            var scene = Scene()
            scene.readsAll = false
            scene.invite()
            scene.ring()
            var random = SeededRandom(seed: seed)
            var request = scene.peer([.options, .bye, .update, .prack][Int(seed % 4)])
            request.headers.append(.replaces, "x;to-tag=a;from-tag=b")
            let bytes = spoil(request.write(), random: &random)

            scene.receive(bytes)
            scene.advance(by: .seconds(300))

            let isIdle = scene.userAgent.isIdle
            #expect(isIdle, "seed \(seed)")
        }
    }

    private func spoil(_ message: [UInt8], random: inout SeededRandom) -> [UInt8] {
        var bytes = message
        for _ in 0..<4 {
            let index = Int(random.next() % UInt64(bytes.count))
            switch random.next() % 3 {
            case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.remove(at: index)
            default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
            }
        }
        return bytes
    }
}
