import Testing

@testable import OffhookIO

@Suite struct `HTTP head` {
    @Test func `is read in whatever pieces it comes, and leaves the rest`() throws {
        let text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nX-Empty:\r\nA:  b c \t\r\n\r\n\u{1}\u{2}"

        for size in 1...text.utf8.count {
            var reader = HTTPHeadReader()
            var result: (head: HTTPHead, rest: [UInt8])?
            var rest: [UInt8] = []
            for start in stride(from: 0, to: text.utf8.count, by: size) {
                let piece = Array(Array(text.utf8)[start..<min(text.utf8.count, start + size)])
                if result == nil { result = try reader.receive(piece) } else { rest += piece }
            }

            let head = try #require(result?.head)
            #expect(head.firstLine == "HTTP/1.1 101 Switching Protocols")
            #expect(head.fields.map(\.name) == ["upgrade", "x-empty", "a"])
            #expect(head.fields.map(\.value) == ["websocket", "", "b c"])
            #expect((result?.rest ?? []) + rest == [1, 2])
        }
    }

    @Test func `gathers the elements of lists over several lines`() throws {
        let head = try HTTPHead(
            parsing: Array("GET / HTTP/1.1\r\nConnection: keep-alive , Upgrade\r\nconnection: x,,\r\n".utf8))

        #expect(head.list("connection") == ["keep-alive", "Upgrade", "x"])
        #expect(head.lists("upgrade", in: "connection"))
        #expect(head.single("connection") == nil)
        #expect(head.single("host") == nil)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nNoColon\r\n", "GET / HTTP/1.1\r\n: empty name\r\n",
        "GET / HTTP/1.1\r\nA : space before colon\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n folded\r\n", "GET / HTTP/1.1\nA: b\r\n", "GET / HTTP/1.1\r\nA: b\rc\r\n",
        "GET / HTTP/1.1\r\nA: \0\r\n", "\r\n", "", "GET / HTTP/1.1\r\nA\u{e9}: b\r\n", "GET / HTTP/1.1\r\nA: b\r",
    ])
    func `is refused where a line is none`(text: String) {
        #expect(throws: HTTPHead.Failure.malformed) { try HTTPHead(parsing: Array(text.utf8)) }
    }

    @Test func `is refused where it has no end`() {
        var reader = HTTPHeadReader()

        #expect(throws: HTTPHead.Failure.tooLong) {
            for _ in 0..<20 { _ = try reader.receive([UInt8](repeating: 0x61, count: 1000)) }
        }
    }
}

@Suite struct `WebSocket upgrade` {
    private let request = WebSocketUpgrade.Request(
        host: "example.org", path: "/chat", subprotocol: "sip", key: "dGhlIHNhbXBsZSBub25jZQ==")

    private func head(_ text: String) throws -> HTTPHead {
        try HTTPHead(parsing: Array(text.replacing("\n", with: "\r\n").utf8))
    }

    @Test func `hashes the key as RFC 6455 shows`() {
        #expect(WebSocketUpgrade.accept(forKey: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func `is accepted by its own server side`() throws {
        let bytes = try #require(request.bytes)
        var reader = HTTPHeadReader()
        let asked = try #require(try reader.receive(bytes)).head

        let answer = WebSocketUpgrade.answer(to: asked, subprotocol: "sip")
        var answerReader = HTTPHeadReader()
        let answered = try #require(try answerReader.receive(answer.bytes)).head

        #expect(answer.isAccepted)
        #expect(WebSocketUpgrade.fault(inAnswer: answered, to: request) == nil)
    }

    @Test func `makes a new key each time`() {
        let keys = Set((0..<50).map { _ in WebSocketUpgrade.makeKey() })

        #expect(keys.count == 50)
        #expect(keys.allSatisfy { $0.utf8.count == 24 && $0.hasSuffix("==") })
    }

    @Test(arguments: ["/a b", "/\r\nX: y", "nothing", "", "/\u{e9}"]) func `is not asked for with a path that is none`(
        path: String
    ) {
        var request = request
        request.path = path

        #expect(request.bytes == nil)
    }

    private static let good = """
        HTTP/1.1 101 Switching Protocols
        Upgrade: websocket
        Connection: Upgrade
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
        Sec-WebSocket-Protocol: sip

        """

    @Test(arguments: [
        ("HTTP/1.1 101 Switching Protocols", "SIP/2.0 400 Bad Request"),
        ("HTTP/1.1 101 Switching Protocols", "HTTP/1.1 1011 X"),
        ("HTTP/1.1 101 Switching Protocols", "HTTP/1.1 200 OK"),
        ("HTTP/1.1 101 Switching Protocols", "HTTP/1.1 +10 OK"),
        ("Upgrade: websocket\n", ""), ("Upgrade: websocket", "Upgrade: h2c"),
        ("Connection: Upgrade", "Connection: close"),
        ("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "s3pPLMBiTxaQ9kYGzzhZRbK+xOO="), ("Sec-WebSocket-Accept", "X-Accept"),
        ("Sec-WebSocket-Protocol: sip\n", ""), ("Protocol: sip", "Protocol: msrp"),
        ("Protocol: sip", "Protocol: sip, msrp"),
        (
            "Sec-WebSocket-Protocol: sip\n",
            "Sec-WebSocket-Protocol: sip\nSec-WebSocket-Extensions: permessage-deflate\n"
        ),
    ])
    func `refuses an answer that is wrong in one place`(part: String, wrong: String) throws {
        #expect(WebSocketUpgrade.fault(inAnswer: try head(Self.good), to: request) == nil)

        let fault = WebSocketUpgrade.fault(inAnswer: try head(Self.good.replacing(part, with: wrong)), to: request)

        #expect(fault?.kind == .protocolViolation)
        #expect(fault?.reason.contains("example.org") == true)
    }

    private static let asked = """
        GET /chat HTTP/1.1
        Host: example.org
        Upgrade: websocket
        Connection: keep-alive, Upgrade
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
        Sec-WebSocket-Version: 13
        Sec-WebSocket-Protocol: msrp, sip

        """

    @Test(arguments: [
        ("GET", "POST", "405"), ("HTTP/1.1", "HTTP/1.0", "400"), ("GET /chat", "GET chat", "400"),
        ("GET /chat", "GET  /chat", "400"),
        ("Host: example.org\n", "", "400"), ("Upgrade: websocket\n", "", "426"),
        ("Connection: keep-alive, Upgrade\n", "", "426"),
        ("Version: 13", "Version: 8", "426"), ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ", "400"),
        ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j!!==", "400"), ("Sec-WebSocket-Key", "X-Key", "400"),
        ("Protocol: msrp, sip", "Protocol: msrp", "400"),
    ])
    func `refuses a request that is wrong in one place`(part: String, wrong: String, status: String) throws {
        #expect(WebSocketUpgrade.answer(to: try head(Self.asked), subprotocol: "sip").isAccepted)

        let answer = WebSocketUpgrade.answer(to: try head(Self.asked.replacing(part, with: wrong)), subprotocol: "sip")

        #expect(!answer.isAccepted)
        #expect(String(decoding: answer.bytes, as: UTF8.self).hasPrefix("HTTP/1.1 \(status) "))
    }
}
