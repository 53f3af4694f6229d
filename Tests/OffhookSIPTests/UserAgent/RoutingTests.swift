import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `Where requests go (RFC 3261 §8.1.2, §18.1; RFC 3263)` {
    private func route(_ transport: SIPTransport, _ address: UInt32, connection: UInt64? = nil) -> TransportRoute {
        let remote = Endpoint(IPAddress(version4: address), transport.defaultPort)
        return TransportRoute(
            target: TransportTarget(transport: transport, remote: remote, connection: connection), local: Scene.local)
    }

    private func resolve(_ scene: inout Scene, _ routes: [TransportRoute]) throws {
        let token = try #require(scene.queries.last?.1)
        scene.act { userAgent, _, now, actions in userAgent.resolved(token, routes: routes, at: now, actions: &actions)
        }
    }

    @Test func `a name is asked for with what the URI says`() throws {
        var scene = Scene()
        scene.resolves = false

        try scene.call("sips:bob@example.net:5099;transport=tcp")

        #expect(
            scene.queries.first?.0
                == ResolveQuery(host: SIPHost("example.net"), port: 5099, transport: .tcp, isSecure: true))
        #expect(scene.lines().isEmpty)
    }

    @Test func `a name without targets ends the call`() throws {
        var scene = Scene()
        scene.resolves = false
        try scene.call("sip:bob@example.net")

        try resolve(&scene, [])

        #expect(scene.news() == ["ended unresolved"])
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `the next target is tried after a failure, a timeout or a 503`() throws {
        var scene = Scene()
        scene.resolves = false
        try scene.call("sip:bob@example.net")
        let targets = [0xC000_0214, 0xC000_0215, 0xC000_0216, 0xC000_020A].map { route(.udp, $0) }
        try resolve(&scene, targets)
        let first = try scene.request(.invite)

        scene.act { $0.transportFailed(targets[0].target, at: $2, actions: &$3) }
        #expect(try scene.target(of: .invite) == targets[1].target)
        scene.advance(by: .seconds(32))
        #expect(try scene.target(of: .invite) == targets[2].target)
        scene.respond(503, to: try scene.request(.invite))
        #expect(try scene.target(of: .invite) == targets[3].target)
        let last = try scene.request(.invite)
        scene.respond(486, to: last)

        #expect(last.headers.topVia?.branch != first.headers.topVia?.branch)
        #expect(last.headers.callID == first.headers.callID)
        #expect(scene.news() == ["ended refused"])
        scene.advance(by: .seconds(40))
        let isIdle = scene.userAgent.isIdle
        #expect(isIdle)
    }

    @Test func `a long request goes over TCP, and by UDP where that is refused`() throws {
        var scene = Scene()
        try scene.call(offer: String(repeating: "x", count: 1400))
        let tcp = try scene.target(of: .invite)
        let invite = try scene.request(.invite)
        #expect(tcp.transport == .tcp)
        #expect(invite.headers.topVia?.transport == "TCP")
        #expect(invite.headers.contacts.first?.uri.sip?.transport == nil)

        scene.act { $0.transportFailed(tcp, at: $2, actions: &$3) }

        #expect(try scene.target(of: .invite) == Scene.peer)
        #expect(try scene.request(.invite).headers.topVia?.transport == "UDP")
    }

    @Test func `a given route serves the whole call, whatever the Contact says`() throws {
        var scene = Scene()
        let flow = route(.secureWebSocket, 0xC000_0220, connection: 7)
        try scene.call(route: flow)
        #expect(scene.queries.isEmpty)
        scene.respond(200, to: try scene.request(.invite), body: "answer") {
            $0.headers.contacts = [NameAddress(parsing: "<sip:bob@10.0.0.1:5060>")!]
        }
        #expect(try scene.target(of: .ack) == flow.target)
        scene.hangUp()

        #expect(try scene.target(of: .bye) == flow.target)
        #expect(try scene.request(.bye).headers.topVia?.transport == "WSS")
    }

    @Test func `after a reconnect the call goes by the new connection`() throws {
        var scene = Scene()
        let flow = route(.webSocket, 0xC000_0220, connection: 7)
        try scene.call(route: flow)
        scene.respond(200, to: try scene.request(.invite), body: "answer")

        scene.act { $0.connectionClosed(flow.target, at: $2, actions: &$3) }
        let again = route(.webSocket, 0xC000_0220, connection: 8)
        scene.act { userAgent, session, _, _ in userAgent.reroute(session, to: again) }
        scene.reinvite("again")

        #expect(try scene.target(of: .invite).connection == 8)
    }

    @Test func `a caller's own connection serves for requests back, until it closes`() throws {
        var scene = Scene()
        let connection = TransportTarget(
            transport: .tcp, remote: Endpoint(IPAddress(version4: 0xC000_020A), 41234), connection: 3)
        scene.invite(from: connection) {
            $0.headers[first: .via] = "SIP/2.0/TCP 192.0.2.10:5060;branch=z9hG4bKtcp"
            $0.headers.contacts = [NameAddress(parsing: "<sip:bob@192.0.2.10:5060;transport=tcp>")!]
        }
        scene.accept()
        scene.acknowledge()

        scene.act { _ = $0.sendInfo($1, body: nil, at: $2, actions: &$3) }
        #expect(try scene.target(of: .info) == connection)
        #expect(scene.userAgent.usesConnection(3))
        #expect(!scene.userAgent.usesConnection(4))
        scene.act { $0.connectionClosed(connection, at: $2, actions: &$3) }
        scene.hangUp()

        #expect(try scene.target(of: .bye).remote.port == 5060)
        #expect(try scene.target(of: .bye).connection == nil)
    }

    @Test func `Via and Contact have the listening port`() throws {
        var configuration = UserAgentConfiguration()
        configuration.listeningPorts = [.tcp: 5555]
        var scene = Scene(configuration)

        try scene.call("sip:bob@192.0.2.10;transport=tcp")

        let invite = try scene.request(.invite)
        #expect(invite.headers.topVia?.port == 5555)
        #expect(invite.headers.contacts.first?.uri.description == "sip:offhook@192.0.2.1:5555;transport=tcp")
    }

    @Test func `a request by a Route goes to that`() throws {
        var scene = Scene()
        let uri = try #require(URI(parsing: "sip:bob@example.net"))
        let from = try #require(NameAddress(parsing: "<sip:alice@example.org>"))
        let proxy = try #require(NameAddress(parsing: "<sip:192.0.2.77;lr>"))

        scene.act { userAgent, _, now, actions in
            _ = userAgent.invite(uri, from: from, routes: [proxy], offer: [1], at: now, actions: &actions)
        }

        #expect(try scene.target(of: .invite).remote.description == "192.0.2.77:5060")
        #expect(try scene.request(.invite).uri == uri)
    }

    @Test func `a sips call goes by TLS and has a sips Contact`() throws {
        var scene = Scene()

        try scene.call("sips:bob@192.0.2.10")

        #expect(try scene.target(of: .invite).transport == .tls)
        #expect(try scene.request(.invite).headers.contacts.first?.uri.scheme == "sips")
    }
}
