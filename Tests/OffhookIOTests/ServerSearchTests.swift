import OffhookBasics
import Testing

@testable import OffhookIO

@Suite struct `Server search (RFC 3263)` {
    typealias Transport = NameResolver.Transport
    typealias Target = NameResolver.Target

    /// A name system of a few records.
    private struct Zone {
        var naptr: [String: [NAPTRRecord]] = [:]
        var srv: [String: [SRVRecord]] = [:]
        var addresses: [String: [IPAddress]] = [:]
        /// What is said of other names.
        var failure = IOError(.nameNotFound, reason: "not found")

        func answer(_ lookUp: ServerSearch.LookUp) -> ServerSearch.Answer {
            switch lookUp {
            case .naptr(let name): naptr[name].map { .naptr($0) } ?? .failed(failure)
            case .srv(let name): srv[name].map { .srv($0) } ?? .failed(failure)
            case .addresses(let name): addresses[name].map { .addresses($0) } ?? .failed(failure)
            }
        }

        /// Runs a search to its end; gives what was asked and what came of it.
        func run(
            _ query: NameResolver.Query, supported: [Transport] = [.udp, .tcp, .tls], seed: UInt64 = 1
        ) -> (asked: [ServerSearch.LookUp], result: Result<[Target], IOError>?) {
            var search = ServerSearch(query, supported: supported, random: SeededRandom(seed: seed))
            var actions: [ServerSearch.Action] = []
            var asked: [ServerSearch.LookUp] = []
            var result: Result<[Target], IOError>?
            search.start(actions: &actions)
            while !actions.isEmpty {
                switch actions.removeFirst() {
                case .lookUp(let lookUp):
                    asked.append(lookUp)
                    search.receive(answer(lookUp), for: lookUp, actions: &actions)
                case .finish(let outcome): result = outcome
                }
            }
            return (asked, result)
        }
    }

    private let one = IPAddress(version4: 0xC000_0201)
    private let two = IPAddress(version4: 0xC000_0202)
    private let six = IPAddress(version6High: 0x2001_0DB8_0000_0000, low: 1)

    private func target(_ transport: Transport, _ address: IPAddress, _ port: UInt16) -> Target {
        Target(transport: transport, endpoint: Endpoint(address, port))
    }

    @Test func `asks nothing for an address`() {
        let zone = Zone()

        #expect(zone.run(.init(host: "192.0.2.1")).result == .success([target(.udp, one, 5060)]))
        #expect(zone.run(.init(host: "192.0.2.1", port: 5080)).result == .success([target(.udp, one, 5080)]))
        #expect(zone.run(.init(host: "192.0.2.1", transport: .tcp)).result == .success([target(.tcp, one, 5060)]))
        #expect(zone.run(.init(host: "[2001:db8::1]", isSecure: true)).result == .success([target(.tls, six, 5061)]))
        #expect(
            zone.run(.init(host: "192.0.2.1", transport: .tcp, isSecure: true)).result
                == .success([target(.tls, one, 5061)]))
        #expect(
            zone.run(.init(host: "192.0.2.1", transport: .secureWebSocket)).result
                == .success([target(.secureWebSocket, one, 443)]))
        #expect(zone.run(.init(host: "192.0.2.1")).asked.isEmpty)
    }

    @Test func `follows NAPTR to SRV to addresses, as RFC 3263 shows`() {
        var zone = Zone()
        zone.naptr["example.com"] = [
            NAPTRRecord(
                order: 90, preference: 50, flags: "s", service: "SIP+D2U", replacement: "_sip._udp.example.com"),
            NAPTRRecord(
                order: 50, preference: 50, flags: "s", service: "SIPS+D2T", replacement: "_sips._tcp.example.com"),
            NAPTRRecord(
                order: 90, preference: 20, flags: "S", service: "sip+d2t", replacement: "_sip._tcp.example.com"),
            NAPTRRecord(order: 10, preference: 10, flags: "u", service: "E2U+sip", replacement: "."),
            NAPTRRecord(
                order: 10, preference: 10, flags: "s", service: "SIP+D2S", replacement: "_sip._sctp.example.com"),
        ]
        zone.srv["_sips._tcp.example.com"] = [SRVRecord(priority: 0, weight: 1, port: 5071, target: "a.example.com")]
        zone.srv["_sip._tcp.example.com"] = [SRVRecord(priority: 0, weight: 1, port: 5070, target: "a.example.com")]
        zone.srv["_sip._udp.example.com"] = [SRVRecord(priority: 0, weight: 1, port: 5072, target: "b.example.com")]
        zone.addresses = ["a.example.com": [six, one], "b.example.com": [two]]

        let (asked, result) = zone.run(.init(host: "example.com"))

        #expect(
            result
                == .success([
                    target(.tls, six, 5071), target(.tls, one, 5071), target(.tcp, six, 5070), target(.tcp, one, 5070),
                    target(.udp, two, 5072),
                ]))
        #expect(
            asked == [
                .naptr("example.com"), .srv("_sips._tcp.example.com"), .srv("_sip._tcp.example.com"),
                .srv("_sip._udp.example.com"),
                .addresses("a.example.com"), .addresses("b.example.com"),
            ])
        #expect(
            zone.run(.init(host: "example.com", isSecure: true)).result
                == .success([target(.tls, six, 5071), target(.tls, one, 5071)]))
        #expect(zone.run(.init(host: "example.com"), supported: [.udp]).result == .success([target(.udp, two, 5072)]))
    }

    @Test func `tries the SRV names of its transports where there is no NAPTR`() {
        var zone = Zone()
        zone.srv["_sip._tcp.example.com"] = [SRVRecord(priority: 0, weight: 1, port: 5070, target: "a.example.com")]
        zone.addresses = ["a.example.com": [one], "example.com": [two]]

        let (asked, result) = zone.run(.init(host: "example.com"))

        #expect(result == .success([target(.tcp, one, 5070)]))
        #expect(
            asked.dropFirst().prefix(3) == [
                .srv("_sip._udp.example.com"), .srv("_sip._tcp.example.com"), .srv("_sips._tcp.example.com"),
            ])
        // Secure means TLS alone, whose SRV records are not there.
        #expect(zone.run(.init(host: "example.com", isSecure: true)).result == .success([target(.tls, two, 5061)]))
    }

    @Test func `falls back to the name itself at the usual port`() {
        var zone = Zone()
        zone.addresses = ["example.com": [two]]

        #expect(zone.run(.init(host: "example.com")).result == .success([target(.udp, two, 5060)]))
        #expect(zone.run(.init(host: "example.com", transport: .tls)).result == .success([target(.tls, two, 5061)]))
        #expect(zone.run(.init(host: "example.com", transport: .webSocket)).asked == [.addresses("example.com")])
    }

    @Test func `asks no SRV where there is a port, and no NAPTR where there is a transport`() {
        var zone = Zone()
        zone.addresses = ["example.com": [two]]

        #expect(zone.run(.init(host: "example.com", port: 5080)).asked == [.addresses("example.com")])
        #expect(zone.run(.init(host: "example.com", port: 5080)).result == .success([target(.udp, two, 5080)]))
        #expect(
            zone.run(.init(host: "example.com", transport: .tcp)).asked == [
                .srv("_sip._tcp.example.com"), .addresses("example.com"),
            ])
    }

    @Test func `refuses UDP for a sips URI`() {
        guard case .failure(let error)? = Zone().run(.init(host: "example.com", transport: .udp, isSecure: true)).result
        else {
            Issue.record("accepted")
            return
        }
        #expect(error.kind == .configuration)
    }

    @Test func `puts SRV records in order of priority, and shares by weight within one`() {
        var zone = Zone()
        zone.srv["_sip._udp.example.com"] = [
            SRVRecord(priority: 20, weight: 0, port: 1, target: "backup.example.com"),
            SRVRecord(priority: 10, weight: 30, port: 2, target: "small.example.com"),
            SRVRecord(priority: 10, weight: 70, port: 3, target: "large.example.com"),
            SRVRecord(priority: 10, weight: 0, port: 4, target: "rare.example.com"),
        ]
        for host in ["backup", "small", "large", "rare"] { zone.addresses["\(host).example.com"] = [one] }
        var first: [UInt16: Int] = [:]

        for seed in 0..<2000 {
            guard
                case .success(let targets)? = zone.run(.init(host: "example.com", transport: .udp), seed: UInt64(seed))
                    .result
            else {
                Issue.record("no target")
                return
            }
            #expect(targets.map(\.endpoint.port).sorted() == [1, 2, 3, 4])
            #expect(targets.last?.endpoint.port == 1)
            first[targets[0].endpoint.port, default: 0] += 1
        }

        #expect((1250...1550).contains(first[3] ?? 0))
        #expect((450...750).contains(first[2] ?? 0))
        #expect((1...100).contains(first[4] ?? 0))
    }

    @Test func `takes the target "." as a refusal`() {
        var zone = Zone()
        zone.srv["_sip._udp.example.com"] = [SRVRecord(priority: 0, weight: 0, port: 0, target: ".")]
        zone.addresses = ["example.com": [one]]

        guard case .failure(let error)? = zone.run(.init(host: "example.com", transport: .udp)).result else {
            Issue.record("accepted")
            return
        }
        #expect(error.reason.contains("offers no SIP"))
    }

    @Test func `goes on where some targets have no address, and tells the weightiest failure where none has`() {
        var zone = Zone()
        zone.srv["_sip._udp.example.com"] = [
            SRVRecord(priority: 1, weight: 0, port: 5060, target: "gone.example.com"),
            SRVRecord(priority: 2, weight: 0, port: 5060, target: "here.example.com"),
        ]
        zone.addresses = ["here.example.com": [one]]
        #expect(zone.run(.init(host: "example.com", transport: .udp)).result == .success([target(.udp, one, 5060)]))

        zone.addresses = [:]
        #expect(zone.run(.init(host: "example.com", transport: .udp)).result == .failure(zone.failure))

        zone.failure = IOError(.nameServerFailed, reason: "no server")
        let (asked, result) = zone.run(.init(host: "other.com"))
        #expect(result == .failure(zone.failure))
        #expect(asked == [.naptr("other.com"), .addresses("other.com")])
    }

    @Test func `asks a bounded number of questions whatever the records say`() {
        var zone = Zone()
        zone.naptr["example.com"] = (0..<1000).map {
            NAPTRRecord(
                order: 1, preference: UInt16($0), flags: "s", service: "SIP+D2U", replacement: "s\($0).example.com")
        }
        for index in 0..<1000 {
            zone.srv["s\(index).example.com"] = (0..<100).map {
                SRVRecord(priority: UInt16($0), weight: 65_535, port: 1, target: "h\(index)-\($0).example.com")
            }
        }

        let (asked, _) = zone.run(.init(host: "example.com"))

        #expect(asked.count <= 1 + 8 + 16)
    }

    @Test(arguments: [
        "a\0b.example.com", "a\\.b", "a b", "", "a..b", ".", "exämple.com", "*.example.com",
        String(repeating: "a", count: 64),
    ])
    func `takes no name that the C library could read otherwise`(name: String) {
        #expect(!HostName.isUsable(name))
    }

    @Test(arguments: ["example.com", "example.com.", "_sip._udp.example.com", "localhost", "xn--exmple-cua.com"])
    func `takes names of the name system`(name: String) {
        #expect(HostName.isUsable(name))
    }
}
