import OffhookBasics
import Testing

@testable import OffhookIO

@Suite(.timeLimit(.minutes(1))) struct `WebSocket connection` {
    private struct Pair: Sendable {
        let client: WebSocketConnection
        let server: WebSocketConnection
        let clientEvents = Inbox<WebSocketConnection.Event>()
        let serverEvents = Inbox<WebSocketConnection.Event>()

        init(
            _ loop: EventLoop, options: WebSocketConnection.Options = .init(),
            serverOptions: WebSocketConnection.Options? = nil
        )
            async throws
        {
            let (clientEvents, serverEvents) = (clientEvents, serverEvents)
            let accepted = Inbox<WebSocketConnection>()
            client = try await loop.run {
                let listener = try WebSocketListener(
                    on: loop, boundTo: Endpoint(loopback4, 0), options: serverOptions ?? options
                ) { connection in
                    connection.handler = { serverEvents.put($0) }
                    accepted.put(connection)
                }
                return WebSocketConnection(on: loop, connectingTo: listener.localEndpoint, options: options) {
                    clientEvents.put($0)
                }
            }
            server = try await accepted.wait(for: 1)[0]
            _ = try await clientEvents.wait(for: 1)
        }
    }

    @Test func `carries text and binary messages both ways in order`() async throws {
        try await withLoop { loop in
            let pair = try await Pair(loop)

            _ = try await loop.run {
                for index in 0..<100 { #expect(pair.client.send(text: "message \(index)") == .accepted) }
                #expect(pair.client.send(binary: [UInt8](repeating: 7, count: 200_000)) == .accepted)
                #expect(pair.server.send(text: "REGISTER sip:example.org SIP/2.0\r\n\r\n") == .accepted)
            }

            let up = try await pair.serverEvents.wait(for: 102)
            #expect(
                up == [.connected] + (0..<100).map { .text("message \($0)") } + [
                    .binary([UInt8](repeating: 7, count: 200_000))
                ])
            #expect(
                try await pair.clientEvents.wait(for: 2) == [
                    .connected, .text("REGISTER sip:example.org SIP/2.0\r\n\r\n"),
                ])
        }
    }

    @Test func `runs over TLS with the name of a web host`() async throws {
        try await withLoop { loop in
            let authority = CertificateMaker(.init(commonName: "Test authority", isAuthority: true))
            let leaf = CertificateMaker(.init(alternativeNames: "DNS:*.example.org"), signedBy: authority)
            var (options, serverOptions) = (WebSocketConnection.Options(), WebSocketConnection.Options())
            options.stream.security = .tls(
                try .client(trust: .authorities(authority.pem)), peerName: .host("edge.example.org"))
            serverOptions.stream.security = .tls(try .server(identity: leaf.identity()), peerName: nil)

            let pair = try await Pair(loop, options: options, serverOptions: serverOptions)
            _ = try await loop.run { pair.client.send(text: "hello") }

            #expect(try await pair.serverEvents.wait(for: 2) == [.connected, .text("hello")])
        }
    }

    @Test func `ends in good order when either side closes`() async throws {
        try await withLoop { loop in
            let first = try await Pair(loop)
            let second = try await Pair(loop)

            _ = try await loop.run {
                first.client.send(text: "last")
                first.client.close()
                first.client.close()
                #expect(first.client.send(text: "late") == .closed)
                second.server.close()
            }

            #expect(try await first.serverEvents.wait(for: 3) == [.connected, .text("last"), .closed(nil)])
            #expect(try await second.clientEvents.wait(for: 2) == [.connected, .closed(nil)])
            #expect(first.clientEvents.all == [.connected])
        }
    }

    @Test func `gives up on a peer that does not answer pings`() async throws {
        try await withLoop { loop in
            let events = Inbox<WebSocketConnection.Event>()

            let client = try await loop.run {
                // Upgrades by hand, and then never says anything again.
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { connection in
                    connection.handler = { event in
                        guard case .received(let bytes) = event else { return }
                        let text = String(decoding: bytes, as: UTF8.self)
                        guard let answer = answerToUpgrade(text) else { return }
                        connection.send(Array(answer.utf8))
                    }
                }
                return WebSocketConnection(on: loop, connectingTo: listener.localEndpoint) { events.put($0) }
            }
            _ = try await events.wait(for: 1)
            _ = try await loop.run {
                client.pingIsDue()
                client.pingIsDue()
            }

            guard case .closed(let error?) = try await events.wait(for: 2)[1] else {
                Issue.record("not closed")
                return
            }
            #expect(error.kind == .timedOut)
        }
    }

    @Test func `lives on while pings are answered`() async throws {
        try await withLoop { loop in
            let pair = try await Pair(loop)

            for _ in 0..<5 {
                _ = try await loop.run { pair.client.pingIsDue() }
                while try await loop.run({ pair.client.isOpen && !pair.client.hasHeardSincePing }) {
                    await Task.yield()
                }
            }

            let isOpen = try await loop.run { pair.client.isOpen }
            #expect(isOpen)
            #expect(pair.clientEvents.all == [.connected])
        }
    }

    @Test func `pings by itself`() async throws {
        try await withLoop { loop in
            let pings = Inbox<UInt8>()

            _ = try await loop.run {
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { connection in
                    connection.handler = { event in
                        guard case .received(let bytes) = event else { return }
                        if let answer = answerToUpgrade(String(decoding: bytes, as: UTF8.self)) {
                            connection.send(Array(answer.utf8))
                        } else if let first = bytes.first {
                            pings.put(first)
                        }
                    }
                }
                var options = WebSocketConnection.Options()
                options.pingInterval = .milliseconds(1)
                _ = WebSocketConnection(on: loop, connectingTo: listener.localEndpoint, options: options) { _ in }
            }

            #expect(try await pings.wait(for: 1)[0] == 0x89)
        }
    }

    @Test func `refuses a message above the limit and says so`() async throws {
        try await withLoop { loop in
            var options = WebSocketConnection.Options()
            options.messageLimit = 1000
            let pair = try await Pair(loop, options: options)

            _ = try await loop.run { pair.client.send(binary: [UInt8](repeating: 1, count: 1001)) }

            guard case .closed(let error?) = try await pair.serverEvents.wait(for: 2)[1] else {
                Issue.record("accepted")
                return
            }
            #expect(error.reason.contains("larger than 1000 bytes"))
            guard case .closed(_?) = try await pair.clientEvents.wait(for: 2)[1] else {
                Issue.record("the sender was not told")
                return
            }
        }
    }

    @Test(arguments: [
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SIP/2.0 400 Bad Request\r\n\r\n", "garbage\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
    ])
    func `refuses a server that answers something else`(answer: String) async throws {
        try await withLoop { loop in
            let events = Inbox<WebSocketConnection.Event>()

            _ = try await loop.run {
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { connection in
                    connection.handler = { event in
                        if case .received = event { connection.send(Array(answer.utf8)) }
                    }
                }
                _ = WebSocketConnection(on: loop, connectingTo: listener.localEndpoint) { events.put($0) }
            }

            guard case .closed(let error?) = try await events.wait(for: 1)[0] else {
                Issue.record("accepted")
                return
            }
            #expect(error.kind == .protocolViolation)
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "REGISTER sip:x SIP/2.0\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
    ])
    func `answers a client that asks for something else, and closes`(request: String) async throws {
        try await withLoop { loop in
            let events = Inbox<StreamConnection.Event>()

            _ = try await loop.run {
                let listener = try WebSocketListener(on: loop, boundTo: Endpoint(loopback4, 0)) { _ in
                    Issue.record("accepted")
                }
                let connection = StreamConnection(on: loop, connectingTo: listener.localEndpoint) { events.put($0) }
                let handler = connection.handler
                connection.handler = { event in
                    handler?(event)
                    if event == .connected { connection.send(Array(request.utf8)) }
                }
            }

            let answer = try await events.first { if case .received = $0 { true } else { false } }
            guard case .received(let bytes) = answer else { return }
            #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 4"))
            _ = try await events.first { $0 == .peerFinished }
        }
    }

    @Test func `leaves no descriptor behind`() async throws {
        let before = try openDescriptorCount()
        try await withLoop { loop in
            for _ in 0..<100 {
                let pair = try await Pair(loop)
                _ = try await loop.run { pair.client.close() }
                _ = try await pair.serverEvents.first { $0 == .closed(nil) }
            }

            try await descriptorsFall(below: before + 100)
        }
    }
}

/// A right answer to an upgrade, from the request's text.
private func answerToUpgrade(_ request: String) -> String? {
    let prefix = "Sec-WebSocket-Key: "
    guard let line = request.split(separator: "\r\n").first(where: { $0.hasPrefix(prefix) }) else { return nil }
    return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(WebSocketUpgrade.accept(forKey: String(line.dropFirst(prefix.count))))\r\n"
        + "Sec-WebSocket-Protocol: sip\r\n\r\n"
}
