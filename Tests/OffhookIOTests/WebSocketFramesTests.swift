import OffhookBasics
import Testing

@testable import OffhookIO

@Suite struct `WebSocket frames` {
    private func received(_ bytes: [UInt8], by frames: WebSocketFrames) -> [WebSocketFrames.Event] {
        var events: [WebSocketFrames.Event] = []
        frames.receive(bytes, events: &events)
        return events
    }

    private func client(limit: Int = 100_000) throws -> WebSocketFrames {
        try WebSocketFrames(role: .client, messageLimit: limit)
    }

    private func server(limit: Int = 100_000) throws -> WebSocketFrames {
        try WebSocketFrames(role: .server, messageLimit: limit)
    }

    @Test func `carry messages of every length both ways, byte by byte`() throws {
        let (client, server) = (try client(), try server())

        for length in [0, 1, 125, 126, 127, 65_535, 65_536] {
            let content = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            #expect(client.send(binary: content))
            let up = client.takeOutput()
            let events = length < 200 ? up.flatMap { received([$0], by: server) } : received(up, by: server)
            #expect(events == [.binary(content)])
            #expect(server.send(text: String(repeating: "é", count: length / 2)))
            #expect(received(server.takeOutput(), by: client) == [.text(String(repeating: "é", count: length / 2))])
        }
    }

    @Test func `mask what a client sends, each with another mask, and never what a server sends`() throws {
        let (client, server) = (try client(), try server())

        let masks = Set(
            (0..<20).map { _ -> [UInt8] in
                _ = client.send(binary: [1, 2, 3])
                let frame = client.takeOutput()
                #expect(frame[1] == 0x83)
                return Array(frame[2..<6])
            })
        _ = server.send(binary: [1, 2, 3])

        #expect(masks.count == 20)
        #expect(server.takeOutput() == [0x82, 3, 1, 2, 3])
    }

    @Test func `join fragments, with a ping between them answered`() throws {
        let client = try client()

        let events = received([0x01, 2, 0x68, 0x65, 0x89, 1, 0x70, 0x80, 1, 0x79], by: client)

        #expect(events == [.text("hey")])
        let pong = client.takeOutput()
        #expect(pong[0] == 0x8A)
        #expect(pong[6] ^ pong[2] == 0x70)
    }

    @Test(arguments: [
        // An unmasked frame from a client; RFC 6455 §5.1.
        (WebSocketFrames.Role.server, [0x82, 1, 0] as [UInt8], 1002 as UInt16),
        // A masked one from a server.
        (.client, [0x82, 0x81, 0, 0, 0, 0, 0], 1002),
        // Reserved bits, an unknown opcode, a control frame in fragments or too long, a continuation of nothing.
        (.client, [0xC2, 1, 0], 1002), (.client, [0x83, 1, 0], 1002), (.client, [0x09, 0], 1002),
        (.client, [0x89, 126, 0, 126], 1002), (.client, [0x80, 1, 0], 1002),
        // Text that is no UTF-8, and a close frame whose status may not be sent.
        (.client, [0x81, 2, 0xC3, 0x28], 1007), (.client, [0x88, 2, 3, 0xED], 1002),
        // A message longer than the limit, told by its head.
        (.client, [0x82, 127, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0], 1009),
        (.client, [0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0], 1009),
    ])
    func `refuse what breaks the protocol`(role: WebSocketFrames.Role, bytes: [UInt8], status: UInt16) throws {
        let frames = try WebSocketFrames(role: role, messageLimit: 65_536)

        #expect(received(bytes, by: frames) == [.failed(status: status)])

        #expect(frames.takeOutput().first == 0x88)
        #expect(!frames.send(text: "more"))
        #expect(received([0x81, 1, 0x61], by: frames).isEmpty)
    }

    @Test func `close in good order from either side`() throws {
        let (client, server) = (try client(), try server())

        client.close(status: 1001)
        #expect(!client.send(text: "late"))
        #expect(received(client.takeOutput(), by: server) == [.closed(status: 1001)])
        #expect(received(server.takeOutput(), by: client) == [.closed(status: 1001)])
        #expect(client.takeOutput().isEmpty)
    }

    @Test func `survive random bytes`() throws {
        var random = SeededRandom(seed: 11)

        for _ in 0..<2000 {
            let frames = try WebSocketFrames(role: random.next() % 2 == 0 ? .client : .server, messageLimit: 1000)
            var bytes = random.bytes(Int(random.next() % 60))
            // Half of them begin like a frame, so that more than the first byte is looked at.
            if bytes.count > 2, random.next() % 2 == 0 {
                (bytes[0], bytes[1]) = ([0x81, 0x01, 0x88, 0x80][Int(random.next() % 4)], bytes[1] % 16 | 0x80)
            }
            _ = received(bytes, by: frames)
        }
    }
}
