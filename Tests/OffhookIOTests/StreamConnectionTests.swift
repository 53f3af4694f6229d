import Foundation
import OffhookBasics
import OffhookIO
import Testing

/// Both ends of a connection over loopback, and what they saw.
private struct Pair: Sendable {
    let listener: StreamListener
    let client: StreamConnection
    let server: StreamConnection
    let clientEvents = Inbox<StreamConnection.Event>()
    let serverEvents = Inbox<StreamConnection.Event>()

    init(
        _ loop: EventLoop, at address: IPAddress = loopback4, to target: IPAddress? = nil,
        options: StreamConnection.Options = .init(), clientOptions: StreamConnection.Options? = nil
    )
        async throws
    {
        let (clientEvents, serverEvents) = (clientEvents, serverEvents)
        let accepted = Inbox<StreamConnection>()
        (listener, client) = try await loop.run {
            let listener = try StreamListener(on: loop, boundTo: Endpoint(address, 0), options: options) { connection in
                connection.handler = { serverEvents.put($0) }
                accepted.put(connection)
            }
            let remote = Endpoint(target ?? address, listener.localEndpoint.port)
            return (
                listener,
                StreamConnection(on: loop, connectingTo: remote, options: clientOptions ?? options) {
                    clientEvents.put($0)
                }
            )
        }
        server = try await accepted.wait(for: 1)[0]
        _ = try await clientEvents.wait(for: 1)
        _ = try await serverEvents.wait(for: 1)
    }
}

extension Inbox where Element == StreamConnection.Event {
    /// All bytes received so far.
    fileprivate var bytes: [UInt8] {
        all.flatMap { event -> [UInt8] in
            if case .received(let bytes) = event { bytes } else { [] }
        }
    }

    /// Waits until so many bytes have come, and gives all.
    fileprivate func bytes(_ count: Int) async throws -> [UInt8] {
        var (events, size, counted) = ([StreamConnection.Event](), 0, 0)
        while size < count {
            events = try await wait(for: counted + 1)
            for case .received(let bytes) in events[counted...] { size += bytes.count }
            counted = events.count
        }
        return bytes
    }
}

@Suite(.timeLimit(.minutes(1))) struct `Stream connection` {
    @Test(arguments: [
        (loopback4, loopback4), (loopback6, loopback6), (any6, loopback4), (any6, loopback6), (any4, loopback4),
    ])
    func `connects and knows both ends`(bound: IPAddress, target: IPAddress) async throws {
        try await withLoop { loop in
            let pair = try await Pair(loop, at: bound, to: target)

            #expect(pair.clientEvents.all == [.connected])
            #expect(pair.serverEvents.all == [.connected])
            let ends = try await loop.run { (pair.client.localEndpoint, pair.server.localEndpoint) }
            #expect(ends.0 == pair.server.remoteEndpoint)
            #expect(ends.1 == pair.client.remoteEndpoint)
            #expect(ends.1?.address == target)
            #expect(pair.client.id != pair.server.id)
        }
    }

    @Test func `carries megabytes both ways in order, past what the kernel holds`() async throws {
        try await withLoop { loop in
            var options = StreamConnection.Options()
            options.queueLimit = 16 << 20
            let pair = try await Pair(loop, options: options)
            var random = SeededRandom(seed: 1)
            let content = random.bytes(5_000_000)

            _ = try await loop.run {
                var start = 0
                for size in [1, 10, 100, 65_536, 1_000_000] {
                    #expect(pair.client.send(Array(content[start..<start + size])) == .accepted)
                    start += size
                }
                #expect(pair.client.send(Array(content[start...])) == .accepted)
                #expect(pair.server.send(content) == .accepted)
            }

            #expect(try await pair.serverEvents.bytes(content.count) == content)
            #expect(try await pair.clientEvents.bytes(content.count) == content)
            _ = try await pair.clientEvents.first { $0 == .drained }
        }
    }

    @Test func `refuses what does not fit its queue and takes none of it`() async throws {
        try await withLoop { loop in
            var options = StreamConnection.Options()
            options.queueLimit = 100_000
            let pair = try await Pair(loop, options: options)

            // Both ends are on this loop, so nothing is read while this body runs.
            let sent = try await loop.run {
                var sent = 0
                while pair.client.send([UInt8](repeating: 1, count: 50_000)) == .accepted { sent += 50_000 }
                #expect(pair.client.queuedByteCount <= 100_000)
                #expect(pair.client.send([UInt8](repeating: 1, count: 100_001)) == .full)
                return sent
            }

            #expect(try await pair.serverEvents.bytes(sent).count == sent)
            _ = try await pair.clientEvents.first { $0 == .drained }
            #expect(try await loop.run { pair.client.send([2]) } == .accepted)
        }
    }

    @Test func `says that nobody listens`() async throws {
        try await withLoop { loop in
            let events = Inbox<StreamConnection.Event>()

            let port = try await loop.run {
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { _ in }
                listener.close()
                _ = StreamConnection(on: loop, connectingTo: listener.localEndpoint) { events.put($0) }
                return listener.localEndpoint.port
            }

            guard case .closed(let error?) = try await events.wait(for: 1)[0] else {
                Issue.record("not closed")
                return
            }
            #expect(error.code == ECONNREFUSED)
            #expect(
                error.reason == "Nothing listens at 127.0.0.1:\(port); check that the program there runs, and its port."
            )
        }
    }

    @Test func `gives up on a peer that does not answer`() async throws {
        try await withLoop { loop in
            let events = Inbox<StreamConnection.Event>()

            _ = try await loop.run {
                // Connected, but the peer never begins the TLS handshake.
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { $0.handler = { _ in } }
                var options = StreamConnection.Options()
                options.security = .tls(try TLSContext.client(trust: .insecurelyAnybody), peerName: nil)
                options.connectTimeout = .milliseconds(20)
                _ = StreamConnection(on: loop, connectingTo: listener.localEndpoint, options: options) {
                    events.put($0)
                }
            }

            guard case .closed(let error?) = try await events.wait(for: 1)[0] else {
                Issue.record("not closed")
                return
            }
            #expect(error.kind == .timedOut)
        }
    }

    @Test func `says nothing to the handler after close, and the peer learns of it`() async throws {
        try await withLoop { loop in
            let pair = try await Pair(loop)

            _ = try await loop.run {
                pair.client.send([1, 2, 3])
                pair.client.close()
                pair.client.close()
                #expect(pair.client.send([4]) == .closed)
            }

            _ = try await pair.serverEvents.first { $0 == .peerFinished }
            #expect(pair.serverEvents.bytes == [1, 2, 3])
            #expect(pair.clientEvents.all == [.connected])
        }
    }

    @Test func `receives on after it has finished sending`() async throws {
        try await withLoop { loop in
            let pair = try await Pair(loop)

            _ = try await loop.run {
                pair.client.send([1])
                pair.client.finish()
                #expect(pair.client.send([2]) == .closed)
            }
            _ = try await pair.serverEvents.first { $0 == .peerFinished }
            _ = try await loop.run {
                #expect(pair.server.send([3, 4]) == .accepted)
                pair.server.finish()
            }

            _ = try await pair.clientEvents.first { $0 == .closed(nil) }
            _ = try await pair.serverEvents.first { $0 == .closed(nil) }
            #expect(pair.clientEvents.bytes == [3, 4])
        }
    }

    @Test func `says that the peer broke it off`() async throws {
        try await withLoop { loop in
            let pair = try await Pair(loop)

            // Unread bytes make the kernel send a reset on close.
            _ = try await loop.run {
                pair.client.send([1])
                pair.server.close()
            }

            let last = try await pair.clientEvents.first { if case .closed = $0 { true } else { false } }
            guard case .closed(let error?) = last else {
                Issue.record("closed without a cause")
                return
            }
            #expect(error.code == ECONNRESET)
        }
    }

    @Test func `may be closed from inside its own handler`() async throws {
        try await withLoop { loop in
            let pair = try await Pair(loop)
            let seen = Inbox<StreamConnection.Event>()

            _ = try await loop.run {
                pair.server.handler = { event in
                    seen.put(event)
                    pair.server.close()
                }
                pair.client.send([UInt8](repeating: 1, count: 300_000))
            }

            _ = try await seen.wait(for: 1)
            _ = try await pair.clientEvents.first { event in
                switch event {
                case .closed, .peerFinished: true
                default: false
                }
            }
            #expect(seen.all.count == 1)
        }
    }

    @Test func `closes a connection that the accept handler did not want`() async throws {
        try await withLoop { loop in
            let events = Inbox<StreamConnection.Event>()

            _ = try await loop.run {
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { _ in }
                _ = StreamConnection(on: loop, connectingTo: listener.localEndpoint) { events.put($0) }
            }

            _ = try await events.first { $0 == .peerFinished }
        }
    }

    @Test func `opens and closes a thousand times without leaving a descriptor`() async throws {
        try await withLoop { loop in
            let before = try openDescriptorCount()
            let listener = try await loop.run {
                try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { connection in
                    connection.handler = { event in if event == .peerFinished { connection.close() } }
                }
            }

            for _ in 0..<20 {
                let events = Inbox<StreamConnection.Event>()
                let clients = try await loop.run {
                    (0..<50).map { _ in
                        StreamConnection(on: loop, connectingTo: listener.localEndpoint) { events.put($0) }
                    }
                }
                let outcomes = try await events.wait(for: 50)
                #expect(outcomes.allSatisfy { $0 == .connected })
                _ = try await loop.run { for client in clients { client.close() } }
            }

            try await descriptorsFall(below: before + 300)
        }
    }

    @Test func `says which port is in use`() async throws {
        try await withLoop { loop in
            let error = await #expect(throws: IOError.self) {
                try await loop.run {
                    let first = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { _ in }
                    _ = try StreamListener(on: loop, boundTo: first.localEndpoint) { _ in }
                }
            }

            #expect(error?.code == EADDRINUSE)
            #expect(error?.reason.contains("is in use by another program") == true)
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `Stream connection with TLS` {
    private func contexts() throws -> (client: StreamConnection.Options, server: StreamConnection.Options) {
        let authority = CertificateMaker(.init(commonName: "Test authority", isAuthority: true))
        let leaf = CertificateMaker(.init(alternativeNames: "URI:sip:example.org"), signedBy: authority)
        var (client, server) = (StreamConnection.Options(), StreamConnection.Options())
        client.security = .tls(
            try .client(trust: .authorities(authority.pem)), peerName: .sipDomain("example.org"))
        server.security = .tls(try .server(identity: leaf.identity()), peerName: nil)
        return (client, server)
    }

    @Test func `carries megabytes both ways and ends in good order`() async throws {
        try await withLoop { loop in
            let options = try contexts()
            let pair = try await Pair(loop, options: options.server, clientOptions: options.client)
            var random = SeededRandom(seed: 2)
            let content = random.bytes(700_000)

            _ = try await loop.run {
                #expect(pair.client.send(content) == .accepted)
                #expect(pair.server.send(content) == .accepted)
            }
            #expect(try await pair.serverEvents.bytes(content.count) == content)
            #expect(try await pair.clientEvents.bytes(content.count) == content)
            _ = try await loop.run { pair.client.finish() }
            _ = try await pair.serverEvents.first { $0 == .peerFinished }
            _ = try await loop.run {
                #expect(pair.server.send([7]) == .accepted)
                pair.server.finish()
            }

            _ = try await pair.clientEvents.first { $0 == .closed(nil) }
            #expect(pair.clientEvents.bytes.last == 7)
        }
    }

    @Test func `tells the client why the server was not accepted`() async throws {
        try await withLoop { loop in
            let options = try contexts()
            let events = Inbox<StreamConnection.Event>()
            let serverEvents = Inbox<StreamConnection.Event>()

            _ = try await loop.run {
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0), options: options.server) {
                    $0.handler = { serverEvents.put($0) }
                }
                var wrong = StreamConnection.Options()
                wrong.security = .tls(try .client(trust: .system), peerName: .sipDomain("example.org"))
                _ = StreamConnection(on: loop, connectingTo: listener.localEndpoint, options: wrong) { events.put($0) }
            }

            guard case .closed(let error?) = try await events.wait(for: 1)[0],
                case .closed(let serverError?) = try await serverEvents.wait(for: 1)[0]
            else {
                Issue.record("accepted")
                return
            }
            #expect(error.kind == .certificate(.unknownAuthority))
            #expect(serverError.kind == .certificate(.unknownAuthority))
            #expect(serverError.reason.contains("does not trust our certificate's authority"))
        }
    }

    @Test func `says that a server without TLS has none`() async throws {
        try await withLoop { loop in
            let options = try contexts()
            let events = Inbox<StreamConnection.Event>()

            _ = try await loop.run {
                let listener = try StreamListener(on: loop, boundTo: Endpoint(loopback4, 0)) { connection in
                    connection.handler = { event in if event != .peerFinished { connection.close() } }
                }
                _ = StreamConnection(on: loop, connectingTo: listener.localEndpoint, options: options.client) {
                    events.put($0)
                }
            }

            guard case .closed(let error?) = try await events.wait(for: 1)[0] else {
                Issue.record("accepted")
                return
            }
            // Closed, or reset since it had unread bytes: which of the two is the kernel's choice.
            #expect(error.kind == .handshake || error.code == ECONNRESET)
        }
    }
}
