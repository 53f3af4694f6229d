import OffhookBasics
import OffhookIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Name resolver` {
    private typealias Outcome = Result<[NameResolver.Target], IOError>

    private let one = IPAddress(version4: 0xC000_0201)
    private let two = IPAddress(version4: 0xC000_0202)

    /// Asks a resolver of its own, which asks the stub servers.
    private func resolve(
        _ query: NameResolver.Query, on loop: EventLoop, servers: [StubNameServer], timeout: Duration = .seconds(5)
    ) async throws -> Outcome {
        let inbox = Inbox<Outcome>()
        let resolver = try await loop.run {
            var options = NameResolver.Options()
            options.servers = servers.map(\.endpoint)
            options.timeout = timeout
            options.attempts = 1
            let resolver = try NameResolver(on: loop, options: options)
            resolver.resolve(query) { inbox.put($0) }
            return resolver
        }
        let outcome = try await inbox.wait(for: 1)[0]
        _ = try await loop.run { resolver.close() }
        return outcome
    }

    @Test func `follows NAPTR, SRV and addresses through a real name server`() async throws {
        try await withLoop { loop in
            let (one, two) = (one, two)
            let server = try await loop.run {
                try StubNameServer(
                    on: loop,
                    [
                        .naptr(
                            "example.test", order: 2, flags: "s", service: "SIP+D2U",
                            replacement: "_sip._udp.example.test"),
                        .naptr(
                            "example.test", order: 1, flags: "s", service: "SIP+D2T",
                            replacement: "_sip._tcp.example.test"),
                        .srv("_sip._tcp.example.test", priority: 2, weight: 0, port: 5062, target: "b.example.test"),
                        .srv("_sip._tcp.example.test", priority: 1, weight: 0, port: 5061, target: "a.example.test"),
                        .srv("_sip._udp.example.test", priority: 1, weight: 0, port: 5060, target: "a.example.test"),
                        .address("a.example.test", one), .address("b.example.test", two),
                    ])
            }

            let outcome = try await resolve(.init(host: "example.test"), on: loop, servers: [server])

            #expect(
                outcome
                    == .success([
                        .init(transport: .tcp, endpoint: Endpoint(one, 5061)),
                        .init(transport: .tcp, endpoint: Endpoint(two, 5062)),
                        .init(transport: .udp, endpoint: Endpoint(one, 5060)),
                    ]))
        }
    }

    @Test func `finds IPv6 and IPv4 addresses`() async throws {
        try await withLoop { loop in
            let server = try await loop.run {
                try StubNameServer(on: loop, [.address("both.test", loopback4), .address("both.test", loopback6)])
            }

            guard
                case .success(let targets) = try await resolve(
                    .init(host: "both.test", port: 5080), on: loop, servers: [server])
            else {
                Issue.record("not found")
                return
            }

            #expect(Set(targets.map(\.endpoint)) == [Endpoint(loopback4, 5080), Endpoint(loopback6, 5080)])
        }
    }

    @Test func `says that a name has no address`() async throws {
        try await withLoop { loop in
            let server = try await loop.run { try StubNameServer(on: loop, []) }

            let outcome = try await resolve(.init(host: "missing.test"), on: loop, servers: [server])

            guard case .failure(let error) = outcome else {
                Issue.record("found")
                return
            }
            #expect(error.kind == .nameNotFound)
            #expect(error.reason == "missing.test has no address; check the name.")
        }
    }

    @Test func `asks the next server where one says that it failed`() async throws {
        try await withLoop { loop in
            let one = one
            let (broken, good) = try await loop.run {
                (
                    try StubNameServer(on: loop, [], behaviour: .saysServerFailed),
                    try StubNameServer(on: loop, [.address("a.test", one)])
                )
            }

            let outcome = try await resolve(.init(host: "a.test", port: 1), on: loop, servers: [broken, good])

            #expect(outcome == .success([.init(transport: .udp, endpoint: Endpoint(one, 1))]))
            let wasBrokenAsked = try await loop.run { !broken.asked.isEmpty }
            #expect(wasBrokenAsked)
        }
    }

    @Test(arguments: [
        StubNameServer.Behaviour.isSilent, .saysServerFailed, .answersGarbage([]),
        .answersGarbage([0xC0, 0x0C, 0, 1, 0, 1, 0, 0]),
        .answersGarbage([UInt8](repeating: 0xC0, count: 400)),
        .answersGarbage([0xC0, 0x1C, 0, 33, 0, 1, 0, 0, 0, 1, 0xFF, 0xFF, 1]),
    ])
    func `says that no server has an answer`(behaviour: StubNameServer.Behaviour) async throws {
        try await withLoop { loop in
            let server = try await loop.run { try StubNameServer(on: loop, [], behaviour: behaviour) }

            let outcome = try await resolve(
                .init(host: "a.test"), on: loop, servers: [server], timeout: .milliseconds(20))

            guard case .failure(let error) = outcome else {
                Issue.record("found")
                return
            }
            #expect(error.kind == .nameServerFailed)
        }
    }

    @Test func `asks nobody about a name that is none`() async throws {
        try await withLoop { loop in
            let server = try await loop.run { try StubNameServer(on: loop, []) }

            for host in ["a b", "exämple.test", "", "a\0.test"] {
                guard case .failure(let error) = try await resolve(.init(host: host), on: loop, servers: [server])
                else {
                    Issue.record("found")
                    return
                }
                #expect(error.kind == .configuration)
            }
            let wasNobodyAsked = try await loop.run { server.asked.isEmpty }
            #expect(wasNobodyAsked)
        }
    }

    @Test func `fails what is open when closed, and what is asked later`() async throws {
        try await withLoop { loop in
            let inbox = Inbox<Result<[IPAddress], IOError>>()

            _ = try await loop.run {
                let server = try StubNameServer(on: loop, [], behaviour: .isSilent)
                var options = NameResolver.Options()
                options.servers = [server.endpoint]
                let resolver = try NameResolver(on: loop, options: options)
                resolver.addresses(of: "a.test") { inbox.put($0) }
                resolver.close()
                resolver.close()
                resolver.addresses(of: "b.test") { inbox.put($0) }
                #expect(inbox.all.isEmpty)
            }

            for outcome in try await inbox.wait(for: 2) {
                guard case .failure(let error) = outcome else {
                    Issue.record("found")
                    return
                }
                #expect(error.kind == .closed)
            }
        }
    }

    @Test func `leaves no descriptor when its loop is shut down in the middle`() async throws {
        let before = try openDescriptorCount()
        for _ in 0..<100 {
            let loop = try EventLoop()
            _ = try await loop.run {
                let server = try StubNameServer(on: loop, [], behaviour: .isSilent)
                var options = NameResolver.Options()
                options.servers = [server.endpoint]
                // However slow the machine is, the loop ends before the question does.
                options.timeout = .seconds(600)
                try NameResolver(on: loop, options: options).resolve(.init(host: "a.test")) { _ in
                    Issue.record("called")
                }
            }
            await shutDown(loop)
        }

        try await descriptorsFall(below: before + 100)
    }
}
