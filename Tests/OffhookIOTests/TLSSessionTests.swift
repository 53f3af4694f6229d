import OffhookBasics
import Testing

@testable import OffhookIO

@Suite struct `TLS session` {
    /// Two sessions joined in memory, and what each said.
    private struct Pair {
        let client: TLSSession
        let server: TLSSession
        var clientEvents: [TLSSession.Event] = []
        var serverEvents: [TLSSession.Event] = []

        init(client: TLSContext, server: TLSContext, peerName: TLSContext.PeerName?) throws {
            self.client = try TLSSession(client: client, peerName: peerName)
            self.server = try TLSSession(server: server)
            self.client.start(events: &clientEvents)
            self.server.start(events: &serverEvents)
            exchange()
        }

        /// Carries bytes both ways, in pieces, until there are none.
        mutating func exchange(pieces size: Int = 65_536) {
            while true {
                let (up, down) = (client.takeOutput(), server.takeOutput())
                if up.isEmpty && down.isEmpty { return }
                for start in stride(from: 0, to: up.count, by: size) {
                    up[start..<min(up.count, start + size)].withUnsafeBytes {
                        server.receive($0, events: &serverEvents)
                    }
                }
                for start in stride(from: 0, to: down.count, by: size) {
                    down[start..<min(down.count, start + size)].withUnsafeBytes {
                        client.receive($0, events: &clientEvents)
                    }
                }
            }
        }
    }

    private static let authority = CertificateMaker(.init(commonName: "Test authority", isAuthority: true))

    private func pair(
        certificate: CertificateMaker.Request, signedBy signer: CertificateMaker? = Self.authority,
        trust: TLSContext.Trust = .authorities(Self.authority.pem), peerName: TLSContext.PeerName?
    ) throws -> Pair {
        let leaf = CertificateMaker(certificate, signedBy: signer)
        return try Pair(client: .client(trust: trust), server: .server(identity: leaf.identity()), peerName: peerName)
    }

    private func fault(_ pair: Pair) -> IOError.CertificateFault? {
        for case .failed(let error) in pair.clientEvents {
            if case .certificate(let fault) = error.kind { return fault }
        }
        return nil
    }

    struct NameCase: Sendable {
        var names: String?
        var commonName: String?
        var peer: TLSContext.PeerName
        var isAccepted: Bool
    }

    @Test(arguments: [
        // RFC 5922 §7.1: a sip: URI without a user; then the DNS names count no more.
        NameCase(names: "URI:sip:example.org", peer: .sipDomain("example.org"), isAccepted: true),
        NameCase(names: "URI:SIP:Example.ORG", peer: .sipDomain("example.org"), isAccepted: true),
        NameCase(names: "URI:sip:example.org:5061", peer: .sipDomain("example.org"), isAccepted: true),
        NameCase(
            names: "URI:sip:example.org,DNS:host.example.org", peer: .sipDomain("host.example.org"), isAccepted: false),
        NameCase(names: "URI:sip:alice@example.org", peer: .sipDomain("example.org"), isAccepted: false),
        NameCase(names: "URI:sips:example.org", peer: .sipDomain("example.org"), isAccepted: false),
        NameCase(names: "URI:https://example.org", peer: .sipDomain("example.org"), isAccepted: false),
        NameCase(names: "URI:https://example.org,DNS:example.org", peer: .sipDomain("example.org"), isAccepted: true),
        NameCase(names: "DNS:example.org", peer: .sipDomain("example.org"), isAccepted: true),
        NameCase(names: "DNS:example.org", peer: .sipDomain("EXAMPLE.org."), isAccepted: true),
        NameCase(names: "DNS:example.org", peer: .sipDomain("sub.example.org"), isAccepted: false),
        NameCase(names: "DNS:example.org", peer: .sipDomain("example.or"), isAccepted: false),
        // RFC 5922 §7.2: no wildcards.
        NameCase(names: "DNS:*.example.org", peer: .sipDomain("a.example.org"), isAccepted: false),
        NameCase(commonName: "example.org", peer: .sipDomain("example.org"), isAccepted: true),
        NameCase(names: "DNS:other.org", commonName: "example.org", peer: .sipDomain("example.org"), isAccepted: false),
        NameCase(names: "IP:192.0.2.1", peer: .sipDomain("192.0.2.1"), isAccepted: true),
        NameCase(names: "IP:2001:db8::1", peer: .sipDomain("[2001:db8::1]"), isAccepted: true),
        NameCase(names: "DNS:192.0.2.1", peer: .sipDomain("192.0.2.1"), isAccepted: false),
        // RFC 6125 §6.4.3, for wss.
        NameCase(names: "DNS:*.example.org", peer: .host("a.example.org"), isAccepted: true),
        NameCase(names: "DNS:*.example.org", peer: .host("a.b.example.org"), isAccepted: false),
        NameCase(names: "DNS:*.example.org", peer: .host("example.org"), isAccepted: false),
        NameCase(names: "DNS:*.org", peer: .host("example.org"), isAccepted: false),
        NameCase(names: "DNS:a*.example.org", peer: .host("ab.example.org"), isAccepted: false),
        NameCase(names: "URI:sip:example.org", peer: .host("example.org"), isAccepted: false),
    ])
    func `accepts a certificate for the name wanted and no other`(_ row: NameCase) throws {
        let pair = try pair(
            certificate: .init(commonName: row.commonName, alternativeNames: row.names), peerName: row.peer)

        #expect(pair.clientEvents.contains(.established) == row.isAccepted)
        #expect(fault(pair) == (row.isAccepted ? nil : .wrongName))
        // Where it is refused, the server is told before it takes anything.
        #expect(pair.serverEvents.contains(.established) == row.isAccepted)
    }

    @Test func `says who the certificate is for`() throws {
        let pair = try pair(
            certificate: .init(alternativeNames: "URI:sip:other.org,DNS:a.other.org"),
            peerName: .sipDomain("example.org"))

        guard case .failed(let error)? = pair.clientEvents.last else {
            Issue.record("accepted")
            return
        }
        #expect(
            error.reason
                == "The certificate shown is for sip:other.org, a.other.org, not for example.org; check the server's name, or its certificate."
        )
    }

    @Test func `refuses what has expired, is not valid yet, is self-signed, or of an unknown authority`() throws {
        let names = "DNS:example.org"
        let peer = TLSContext.PeerName.sipDomain("example.org")
        let stranger = CertificateMaker(.init(commonName: "Stranger", isAuthority: true))

        let expired = try pair(certificate: .init(alternativeNames: names, validUntil: -60), peerName: peer)
        let early = try pair(certificate: .init(alternativeNames: names, validFrom: 600), peerName: peer)
        let own = try pair(certificate: .init(commonName: "x", alternativeNames: names), signedBy: nil, peerName: peer)
        let unknown = try pair(certificate: .init(alternativeNames: names), signedBy: stranger, peerName: peer)

        #expect(fault(expired) == .expired)
        #expect(fault(early) == .notYetValid)
        #expect(fault(own) == .selfSigned)
        #expect(fault(unknown) == .unknownAuthority)
    }

    @Test func `does not take the system's authorities for ours`() throws {
        let pair = try pair(
            certificate: .init(alternativeNames: "DNS:example.org"), trust: .system, peerName: .sipDomain("example.org")
        )

        #expect(fault(pair) == .unknownAuthority)
    }

    @Test func `accepts a chain through an intermediate authority`() throws {
        let middle = CertificateMaker(.init(commonName: "Middle", isAuthority: true), signedBy: Self.authority)
        let leaf = CertificateMaker(.init(alternativeNames: "DNS:example.org"), signedBy: middle)

        let pair = try Pair(
            client: .client(trust: .authorities(Self.authority.pem)),
            server: .server(identity: leaf.identity(chain: [middle])),
            peerName: .sipDomain("example.org"))

        #expect(pair.clientEvents.contains(.established))
    }

    @Test func `takes anybody only where told to`() throws {
        let pair = try pair(
            certificate: .init(commonName: "whoever", validUntil: -60), signedBy: nil, trust: .insecurelyAnybody,
            peerName: nil)

        #expect(pair.clientEvents.contains(.established))
        #expect(throws: IOError.self) {
            try TLSSession(client: .client(trust: .authorities(Self.authority.pem)), peerName: nil)
        }
    }

    @Test func `asks clients for a certificate where it trusts some`() throws {
        let server = CertificateMaker(.init(alternativeNames: "DNS:example.org"), signedBy: Self.authority)
        let client = CertificateMaker(.init(alternativeNames: "URI:sip:alice.org"), signedBy: Self.authority)
        let stranger = CertificateMaker(.init(commonName: "stranger"))
        let trust = TLSContext.Trust.authorities(Self.authority.pem)
        let asking = try TLSContext.server(identity: server.identity(), clientTrust: trust)
        let peer = TLSContext.PeerName.sipDomain("example.org")

        let known = try Pair(client: .client(trust: trust, identity: client.identity()), server: asking, peerName: peer)
        let nobody = try Pair(client: .client(trust: trust), server: asking, peerName: peer)
        let unknown = try Pair(
            client: .client(trust: trust, identity: stranger.identity()), server: asking, peerName: peer)

        #expect(known.serverEvents == [.established])
        #expect(!nobody.serverEvents.contains(.established))
        #expect(fault(nobody) == .missing)
        #expect(!unknown.serverEvents.contains(.established))
        #expect(fault(unknown) == .unknownAuthority)
    }

    @Test(arguments: [1, 7, 1000, 65_536]) func `carries bytes in whatever pieces they come`(size: Int) throws {
        var pair = try pair(
            certificate: .init(alternativeNames: "DNS:example.org"), peerName: .sipDomain("example.org"))
        let content = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

        #expect(pair.client.send(content))
        #expect(pair.server.send([9]))
        pair.exchange(pieces: size)
        pair.client.finish()
        #expect(!pair.client.send([1]))
        pair.exchange(pieces: size)

        let received = pair.serverEvents.flatMap { event -> [UInt8] in
            if case .plaintext(let bytes) = event { bytes } else { [] }
        }
        #expect(received == content)
        #expect(pair.serverEvents.last == .peerFinished)
        #expect(pair.clientEvents.contains(.plaintext([9])))
    }

    @Test(arguments: [
        "SIP/2.0 400 Bad Request\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "\u{16}\u{3}\u{1}\u{7F}\u{7F}zzzz",
        "\0\0\0\0\0\0",
    ])
    func `says that the peer does not speak TLS`(answer: String) throws {
        let session = try TLSSession(client: .client(trust: .insecurelyAnybody), peerName: nil)
        var events: [TLSSession.Event] = []
        session.start(events: &events)

        Array(answer.utf8).withUnsafeBytes { session.receive($0, events: &events) }

        guard case .failed(let error)? = events.last else {
            Issue.record("not refused")
            return
        }
        #expect(error.kind == .handshake)
    }

    @Test func `survives damage anywhere in the peer's bytes`() throws {
        let leaf = CertificateMaker(.init(alternativeNames: "DNS:example.org"), signedBy: Self.authority)
        let (client, server) = (
            try TLSContext.client(trust: .authorities(Self.authority.pem)),
            try TLSContext.server(identity: leaf.identity())
        )
        var random = SeededRandom(seed: 3)

        for _ in 0..<100 {
            let one = try TLSSession(client: client, peerName: .sipDomain("example.org"))
            let other = try TLSSession(server: server)
            var (events, otherEvents): ([TLSSession.Event], [TLSSession.Event]) = ([], [])
            one.start(events: &events)
            one.takeOutput().withUnsafeBytes { other.receive($0, events: &otherEvents) }
            var answer = other.takeOutput()
            answer[Int.random(in: 0..<answer.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            answer.withUnsafeBytes { one.receive($0, events: &events) }
            #expect(!events.contains(.established))
        }
    }

    @Test func `explains files that are no certificates or keys`() throws {
        let one = CertificateMaker(.init(commonName: "one"))
        let other = CertificateMaker(.init(commonName: "other"))
        let mixed = TLSContext.Identity(certificateChain: one.pem, privateKey: other.identity().privateKey)
        let empty = TLSContext.Identity(certificateChain: Array("nothing".utf8), privateKey: [])
        let keyless = TLSContext.Identity(certificateChain: one.pem, privateKey: [])

        let reasons = [mixed, empty, keyless].map { identity -> String in
            do throws(IOError) { _ = try TLSContext.server(identity: identity) } catch { return error.reason }
            return "accepted"
        }

        #expect(reasons[0].hasPrefix("The private key does not belong to the certificate"))
        #expect(reasons[1].hasPrefix("The certificate chain holds no certificate"))
        #expect(reasons[2].hasPrefix("The private key is not in PEM form"))
        #expect(throws: IOError.self) { try TLSContext.client(trust: .authorities([])) }
        #expect(throws: IOError.self) { try TLSContext.client(trust: .authorityFile("/nonexistent/authority.pem")) }
    }
}
