import OffhookBasics
import OffhookCrypto
import Testing

@Suite struct `DTLS association` {
    static let unixTime: Int64 = 1_800_000_000

    static func identity(
        _ key: DTLSIdentity.Key = .p256, suites: [SRTPSuite] = DTLSIdentity.suites
    ) throws -> DTLSIdentity {
        try identities.withLock { identities throws(DTLSError) in
            if suites == DTLSIdentity.suites, let identity = identities[key] { return identity }
            let identity = try DTLSIdentity(unixTime: unixTime, key: key, suites: suites)
            if suites == DTLSIdentity.suites { identities[key] = identity }
            return identity
        }
    }

    /// Keys take a while to make.
    private static let identities = Lock<[DTLSIdentity.Key: DTLSIdentity]>([:])

    /// Two ends and the network between them, in virtual time.
    final class Wire {
        enum End: Int { case client, server }

        let client: DTLSAssociation
        let server: DTLSAssociation
        var now = Instant.zero
        var actions: [End: [DTLSAssociation.Action]] = [.client: [], .server: []]
        /// What happens to the nth datagram: the copies of it that arrive.
        var fate: (Int, [UInt8]) -> [[UInt8]] = { [$1] }
        /// How long the nth datagram is under way.
        var delay: (Int) -> Duration = { _ in .milliseconds(20) }
        private(set) var sent: [[UInt8]] = []
        private var queue: [(to: End, datagram: [UInt8], at: Instant)] = []

        init(
            client: DTLSIdentity, server: DTLSIdentity, clientExpects: [CertificateFingerprint]? = nil,
            serverExpects: [CertificateFingerprint]? = nil
        ) throws {
            self.client = try DTLSAssociation(
                role: .client, identity: client, remoteFingerprints: clientExpects ?? [server.fingerprint()])
            self.server = try DTLSAssociation(
                role: .server, identity: server, remoteFingerprints: serverExpects ?? [client.fingerprint()])
        }

        convenience init() throws {
            try self.init(client: identity(), server: identity())
        }

        func take(_ new: [DTLSAssociation.Action], from end: End) {
            for action in new {
                actions[end, default: []].append(action)
                guard case .send(let datagram) = action else { continue }
                for copy in fate(sent.count, datagram) {
                    queue.append((end == .client ? .server : .client, copy, now + delay(sent.count)))
                }
                sent.append(datagram)
            }
        }

        private func perform(on end: End, _ body: (DTLSAssociation, inout [DTLSAssociation.Action]) -> Void) {
            var new: [DTLSAssociation.Action] = []
            body(end == .client ? client : server, &new)
            take(new, from: end)
        }

        func start() {
            perform(on: .server) { $0.start(at: now, actions: &$1) }
            perform(on: .client) { $0.start(at: now, actions: &$1) }
        }

        /// Lets everything happen until nothing more will, or the time is over.
        func run(until end: Instant = .zero + .seconds(120)) {
            while true {
                let arrival = queue.indices.min { queue[$0].at < queue[$1].at }
                let deadline = [client.nextDeadline, server.nextDeadline].compactMap { $0 }.min()
                let next = [arrival.map { queue[$0].at }, deadline].compactMap { $0 }.min()
                guard let next, next <= end else { return }
                now = next
                if let arrival, queue[arrival].at == next {
                    let (to, datagram, _) = queue.remove(at: arrival)
                    perform(on: to) { $0.receive(datagram.span.bytes, at: now, actions: &$1) }
                } else {
                    for side in [End.client, .server] {
                        perform(on: side) { $0.handle(timeoutAt: now, actions: &$1) }
                    }
                }
            }
        }

        func news(of end: End) -> [DTLSAssociation.Action] {
            (actions[end] ?? []).filter { if case .send = $0 { false } else { true } }
        }

        /// The keys that both ends have, as the client sees them; nil unless both agree.
        var keys: (outbound: SRTPKeys, inbound: SRTPKeys)? {
            guard case .established(let outbound, let inbound)? = news(of: .client).first,
                news(of: .server).first == .established(outbound: inbound, inbound: outbound)
            else { return nil }
            return (outbound, inbound)
        }
    }

    @Test(arguments: [DTLSIdentity.Key.p256, .rsa2048], [DTLSIdentity.Key.p256, .rsa2048])
    func `gives both ends the same keys, crosswise`(_ client: DTLSIdentity.Key, _ server: DTLSIdentity.Key) throws {
        let wire = try Wire(client: Self.identity(client), server: Self.identity(server))

        wire.start()
        wire.run()

        let keys = try #require(wire.keys)
        #expect(keys.outbound.suite == .aeadAES128GCM)
        #expect(keys.outbound != keys.inbound)
        #expect(wire.client.isEstablished && wire.server.isEstablished)
        #expect(wire.client.nextDeadline == nil && wire.server.nextDeadline == nil)
        #expect(wire.now < .zero + .milliseconds(200))
        #expect(wire.sent.allSatisfy { $0.count <= 1200 && (20...63).contains($0[0]) })
        let media = packet(`SRTP context`.rtp(1))
        try SRTPContext(outbound: keys.outbound, inbound: nil).protectRTP(media)
        try SRTPContext(outbound: nil, inbound: keys.outbound).unprotectRTP(media)
    }

    @Test(arguments: [DTLSIdentity.Key.p256, .rsa2048], 0..<14)
    func `survives the loss of any datagram`(_ key: DTLSIdentity.Key, _ lost: Int) throws {
        let wire = try Wire(client: Self.identity(key), server: Self.identity(key))
        wire.fate = { number, datagram in number == lost ? [] : [datagram] }

        wire.start()
        wire.run()

        #expect(wire.keys != nil)
        #expect(wire.now < .zero + .seconds(3))
        #expect(wire.news(of: .client).count == 1 && wire.news(of: .server).count == 1)
    }

    @Test(arguments: 0..<10) func `survives the loss of any two datagrams one after another, and of every second`(
        _ lost: Int
    ) throws {
        let identity = try Self.identity()
        for step in [1, 2] {
            let wire = try Wire(client: identity, server: identity)
            wire.fate = { number, datagram in
                step == 1
                    ? (number == lost || number == lost + 1 ? [] : [datagram])
                    : (number < lost * 2 && number % 2 == 0 ? [] : [datagram])
            }
            wire.start()
            wire.run()
            #expect(wire.keys != nil)
        }
    }

    @Test(arguments: 0..<20) func `ends cleanly on a bad network`(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let identity = try Self.identity()
        let wire = try Wire(client: identity, server: identity)
        wire.fate = { _, datagram in
            switch random.next() % 10 {
            case 0..<3: []
            case 3..<5: [datagram, datagram]
            default: [datagram]
            }
        }

        wire.start()
        wire.run()

        for end in [Wire.End.client, .server] {
            let news = wire.news(of: end)
            #expect(news.count == 1)
            if case .established? = news.first { continue }
            #expect(news == [.failed(.timedOut)])
        }
        #expect(wire.now < .zero + .seconds(31))
    }

    @Test func `survives datagrams out of order`() throws {
        let wire = try Wire(client: Self.identity(.rsa2048), server: Self.identity(.rsa2048))
        wire.delay = { .milliseconds($0 % 2 == 0 ? 20 : 60) }

        wire.start()
        wire.run()

        #expect(wire.keys != nil)
    }

    @Test func `repeats its hello less and less often, then gives up`() throws {
        let wire = try Wire()
        var times: [Instant] = []
        wire.fate = { [unowned wire] _, _ in
            times.append(wire.now)
            return []
        }

        wire.start()
        wire.run()

        let milliseconds = times.map { Int($0.nanoseconds / 1_000_000) }
        #expect(milliseconds == [0, 400, 1200, 2800, 6000, 10000, 14000, 18000, 22000, 26000])
        #expect(wire.news(of: .client) == [.failed(.timedOut)])
        #expect(wire.news(of: .server) == [.failed(.timedOut)])
        #expect(wire.now == .zero + .seconds(30))
    }

    @Test(arguments: [(3, 100), (200, 300), (10_000, 2000)] as [(Int64, Int64)])
    func `repeats after one and a half round trips where the way is known, yet not for ever sooner`(
        roundTrip: Int64, first: Int64
    ) throws {
        let wire = try Wire()
        var times: [Int64] = []
        wire.fate = { [unowned wire] _, _ in
            times.append(wire.now.nanoseconds / 1_000_000)
            return []
        }
        wire.start()
        wire.run(until: .zero + .seconds(2))
        times = []

        // What was sent before there was a way went nowhere.
        wire.now = .zero + .seconds(2)
        wire.client.pathFound(roundTrip: .milliseconds(roundTrip), at: wire.now)
        wire.run()

        #expect(times.prefix(2) == [2000 + first, 2000 + first + min(2000, 2 * first)])
        #expect(wire.client.nextDeadline == nil)
        #expect(wire.news(of: .client) == [.failed(.timedOut)])
        #expect(times.last.map { $0 > 15_000 } == true)
    }

    @Test func `refuses a certificate that signalling does not vouch for`() throws {
        let stranger = try DTLSIdentity(unixTime: Self.unixTime)
        for isClientDeceived in [true, false] {
            let wire = try Wire(
                client: Self.identity(), server: Self.identity(),
                clientExpects: isClientDeceived ? [stranger.fingerprint()] : nil,
                serverExpects: isClientDeceived ? nil : [stranger.fingerprint()])

            wire.start()
            wire.run()

            let deceived = isClientDeceived ? Wire.End.client : .server
            #expect(wire.news(of: deceived) == [.failed(.fingerprintMismatch)])
        }
    }

    @Test func `waits for a fingerprint that comes after the handshake`() throws {
        let client = try Self.identity()
        let server = try DTLSIdentity(unixTime: Self.unixTime)
        for isRight in [true, false] {
            let wire = try Wire(client: client, server: server, clientExpects: [])
            wire.start()
            wire.run(until: .zero + .seconds(1))
            #expect(wire.news(of: .client).isEmpty)
            #expect(wire.client.nextDeadline == .zero + .seconds(30))

            var actions: [DTLSAssociation.Action] = []
            wire.client.setRemoteFingerprints([(isRight ? server : client).fingerprint()], actions: &actions)
            wire.take(actions, from: .client)

            if isRight {
                #expect(wire.keys != nil)
            } else {
                #expect(wire.news(of: .client) == [.failed(.fingerprintMismatch)])
            }
        }
    }

    @Test(
        arguments: [
            ([SRTPSuite.aesCM128HMACSHA1Tag80], DTLSIdentity.suites, SRTPSuite.aesCM128HMACSHA1Tag80),
            (DTLSIdentity.suites, [.aesCM128HMACSHA1Tag32, .aeadAES256GCM], .aesCM128HMACSHA1Tag32),
            ([.aesCM128HMACSHA1Tag80, .aeadAES256GCM], DTLSIdentity.suites, .aeadAES256GCM),
            ([.aesCM128HMACSHA1Tag80], [.aeadAES128GCM], nil),
        ] as [([SRTPSuite], [SRTPSuite], SRTPSuite?)]) func `agrees on the profile that the server likes best`(
            _ client: [SRTPSuite], _ server: [SRTPSuite], _ agreed: SRTPSuite?
        ) throws
    {
        let wire = try Wire(client: Self.identity(suites: client), server: Self.identity(suites: server))

        wire.start()
        wire.run()

        #expect(wire.keys?.outbound.suite == agreed)
        if agreed == nil {
            #expect(wire.news(of: .client).first == .failed(.noCommonProfile))
            #expect(wire.news(of: .server).first == .failed(.noCommonProfile))
        }
    }

    @Test func `tells the far end when it closes`() throws {
        let wire = try Wire()
        wire.start()
        wire.run()

        var actions: [DTLSAssociation.Action] = []
        wire.client.close(actions: &actions)
        wire.take(actions, from: .client)
        wire.run()

        #expect(actions.count == 1)
        #expect(wire.news(of: .server).last == .closed)
        #expect(!wire.server.isEstablished)
    }

    static func browserHello() throws -> [[UInt8]] {
        let file = try #require(try fixtures(in: "dtls").first)
        return String(decoding: file.bytes, as: UTF8.self).split(separator: "\n").dropFirst().map { bytes(String($0)) }
    }

    @Test(arguments: [[0, 1], [1, 0], [0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1]])
    func `puts together a hello that came in two datagrams`(_ order: [Int]) throws {
        let hello = try Self.browserHello()
        try #require(hello.count >= 2)
        let server = try DTLSAssociation(role: .server, identity: Self.identity(), remoteFingerprints: [])
        var actions: [DTLSAssociation.Action] = []
        server.start(at: .zero, actions: &actions)

        for index in order {
            let datagram = hello[index]
            server.receive(datagram.span.bytes, at: .zero, actions: &actions)
        }

        // A handshake record with a ServerHello of DTLS 1.2 (RFC 6347 §4.2.2).
        guard case .send(let answer)? = actions.first else {
            Issue.record("no answer, but \(actions)")
            return
        }
        #expect(answer[0] == 22)
        #expect(answer[13] == 2)
        #expect(Array(answer[25...26]) == [0xFE, 0xFD])
        #expect(!actions.contains { if case .failed = $0 { true } else { false } })
        #expect(server.nextDeadline == .zero + .milliseconds(400))
    }

    @Test func `survives random datagrams at every point of a handshake`() throws {
        let seeds = try fixtures(in: "fuzz-dtls").map(\.bytes)
        #expect(seeds.count == 57)
        let identity = try Self.identity()
        for point in [0, 1, 2, 4, 6] {
            for seed in seeds {
                let wire = try Wire(client: identity, server: identity)
                wire.start()
                wire.fate = { number, datagram in number == point ? [seed, datagram, seed] : [datagram] }
                wire.run(until: .zero + .seconds(4))
            }
        }
    }

    @Test(arguments: 0..<30) func `survives damaged datagrams`(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) &+ 6347)
        let identity = try Self.identity()
        let wire = try Wire(client: identity, server: identity)
        wire.fate = { _, datagram in
            guard random.next() % 3 == 0 else { return [datagram] }
            var damaged = datagram
            for _ in 0...Int(random.next() % 4) {
                damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.next() % 4 == 0 { damaged.removeLast(Int(random.next() % UInt64(damaged.count))) }
            return [damaged]
        }

        wire.start()
        wire.run()

        for end in [Wire.End.client, .server] {
            let news = wire.news(of: end)
            #expect((1...2).contains(news.count))
            // Whoever has keys has those that the other made.
            if case .established? = news.first,
                case .established? = wire.news(of: end == .client ? .server : .client).first
            {
                #expect(wire.keys != nil)
            }
        }
        #expect(wire.now <= .zero + .seconds(60))
    }
}
