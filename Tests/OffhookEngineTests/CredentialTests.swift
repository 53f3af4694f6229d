import OffhookBasics
import OffhookEngine
import OffhookSIP
import Testing

@Suite struct `Credentials` {
    struct Kind: CustomTestStringConvertible, Sendable {
        var algorithm: String?
        var protection: String?
        var expected: String?
        var testDescription: String { "\(algorithm ?? "no algorithm"), qop \(protection ?? "none")" }
    }

    @Test(arguments: [
        Kind(algorithm: "MD5", protection: "auth", expected: "auth"),
        Kind(algorithm: nil, protection: nil, expected: nil),
        Kind(algorithm: "SHA-256", protection: "auth,auth-int", expected: "auth"),
        Kind(algorithm: "SHA-512-256", protection: "auth-int", expected: "auth-int"),
        Kind(algorithm: "MD5-sess", protection: "auth-int, auth", expected: "auth"),
        Kind(algorithm: "sha-256", protection: "AUTH-INT", expected: "auth-int"),
    ])
    func `answer every kind of digest`(_ kind: Kind) throws {
        let server = DigestServer(algorithm: kind.algorithm, protection: kind.protection)
        let network = ServerNetwork { server.hasCredentials($0) ? .registered($0) : server.challenge($0) }

        #expect(network.start() == .some(nil))

        let given = try #require(server.credentials(in: network.registers[1]))
        #expect(given["qop"] == kind.expected)
        #expect(given.contains("cnonce") == (kind.expected != nil))
        #expect(given.contains("nc") == (kind.expected != nil))
        #expect(given["opaque"] == "o")
        #expect(network.registers[1].headers.cseq?.number == 2)
    }

    @Test func `are sent along with later requests, each with the next count`() throws {
        let server = DigestServer()
        let network = ServerNetwork { server.hasCredentials($0) ? .registered($0) : server.challenge($0) }
        network.start()
        network.run(.seconds(1200))

        #expect(network.registers.count == 4)
        let counts = network.registers.dropFirst().map { server.credentials(in: $0)?["nc"] }
        #expect(counts == ["00000001", "00000002", "00000003"])
        #expect(network.questions == ["example.org"])
        #expect(network.registers.map { $0.headers.cseq?.number } == [1, 2, 3, 4])
    }

    @Test func `that are wrong end the matter`() {
        let server = DigestServer(password: "other")
        let network = ServerNetwork { server.hasCredentials($0) ? .registered($0) : server.challenge($0) }

        let outcome = network.start()
        network.run(.seconds(7200))

        #expect(outcome??.kind == .authenticationFailed)
        #expect(outcome??.sipStatus == 401)
        #expect(network.registers.count == 2)
        #expect(network.statuses.last?.retryAfter == nil)
    }

    @Test func `are not wrong for a server that refuses a repeated datagram`() {
        var server = DigestServer()
        var arrivals = 0
        let network = ServerNetwork { request in
            guard server.hasCredentials(request) else { return server.challenge(request) }
            guard server.nonce == "n1" else { return .registered(request) }
            arrivals += 1
            // The first answer is lost; the repeat has a nonce that was used.
            guard arrivals > 1 else { return nil }
            server.nonce = "n2"
            return server.challenge(request)
        }

        #expect(network.start() == .some(nil))

        #expect(network.statuses.last?.state == .registered)
        #expect(network.questions.count == 1)
    }

    @Test func `that are wrong may be given again by the app`() {
        let server = DigestServer(password: "second")
        let network = ServerNetwork { server.hasCredentials($0) ? .registered($0) : server.challenge($0) }
        network.password = { _, isRepeated in isRepeated ? "second" : "first" }

        #expect(network.start() == .some(nil))
        #expect(network.questions.count == 2)
    }

    @Test func `are computed anew for a stale nonce, without asking for the password again`() {
        var server = DigestServer()
        let network = ServerNetwork { request in
            if server.hasCredentials(request) { return .registered(request) }
            return server.challenge(request, isStale: request.headers.contains(.authorization))
        }
        network.start()

        server.nonce = "n2"
        network.run(.seconds(600))

        #expect(network.statuses.map(\.state) == [.registering, .registered])
        #expect(network.questions.count == 1)
        #expect(network.registers.count == 4)
    }

    @Test func `do not follow nonces that are stale for ever`() {
        var count = 0
        let network = ServerNetwork { request in
            count += 1
            return DigestServer(nonce: "n\(count)").challenge(request, isStale: true)
        }

        let outcome = network.start()

        #expect(outcome??.kind == .authenticationFailed)
        #expect(network.registers.count == 4)
    }

    /// A 401 whose nonce is new but not called stale, after credentials that nobody asked for, says only that they are old.
    @Test func `sent along unasked are not taken for wrong`() {
        var server = DigestServer()
        let network = ServerNetwork { server.hasCredentials($0) ? .registered($0) : server.challenge($0) }
        network.start()

        server.nonce = "n2"
        network.run(.seconds(600))

        #expect(network.statuses.map(\.state) == [.registering, .registered])
        #expect(network.questions.count == 1)
    }

    @Test func `answer the strongest of several challenges, and skip what is unknown`() throws {
        let strong = DigestServer(algorithm: "SHA-512-256")
        let network = ServerNetwork { request in
            if strong.hasCredentials(request) { return .registered(request) }
            var response = SIPResponse(answering: request, status: 401, tag: "server")
            response.headers.append(.wwwAuthenticate, DigestServer(algorithm: "SHA-1024").challengeText())
            response.headers.append(.wwwAuthenticate, DigestServer(algorithm: "MD5").challengeText())
            response.headers.append(.wwwAuthenticate, "Bearer scope=\"sip\"")
            response.headers.append(.wwwAuthenticate, strong.challengeText())
            response.headers.append(.wwwAuthenticate, DigestServer(algorithm: "SHA-256").challengeText())
            return response
        }

        #expect(network.start() == .some(nil))
        #expect(network.registers[1].headers.credentials().count == 1)
    }

    @Test func `answer a proxy and a registrar one after the other`() {
        let proxy = DigestServer(realm: "proxy", isProxy: true)
        let registrar = DigestServer()
        let network = ServerNetwork { request in
            guard proxy.hasCredentials(request) else { return proxy.challenge(request) }
            return registrar.hasCredentials(request) ? .registered(request) : registrar.challenge(request)
        }

        #expect(network.start() == .some(nil))

        #expect(network.questions == ["proxy", "example.org"])
        #expect(network.registers.count == 3)
        network.run(.seconds(600))
        #expect(network.registers.count == 4)
    }

    @Test func `are not there for a 401 without a challenge`() {
        let network = ServerNetwork { SIPResponse(answering: $0, status: 401, tag: "server") }

        #expect(network.start()??.kind == .authenticationFailed)
        #expect(network.registers.count == 1)
    }

    @Test func `are not there for an account without a name to log in with`() {
        let network = ServerNetwork(configure: { $0.authenticationName = nil }) { DigestServer().challenge($0) }

        #expect(network.start()??.kind == .authenticationFailed)
        #expect(network.questions.isEmpty)
    }

    @Test func `keep a realm's quotes as they came`() {
        let server = DigestServer(realm: "the \\\"inner\\\" realm")
        let network = ServerNetwork { request in
            let text = request.headers[first: .authorization] ?? ""
            return text.contains("realm=\"the \\\"inner\\\" realm\"") ? .registered(request) : server.challenge(request)
        }

        #expect(network.start() == .some(nil))
    }
}
