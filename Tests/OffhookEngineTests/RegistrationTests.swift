import OffhookBasics
import OffhookEngine
import OffhookSIP
import Testing

@Suite struct `Registration` {
    @Test func `registers, refreshes in time and takes itself back`() throws {
        let network = ServerNetwork { .registered($0) }

        #expect(network.start() == .some(nil))

        let first = try #require(network.registers.first)
        #expect(first.uri.description == "sip:example.org")
        let contact = try #require(first.headers.contacts.first)
        #expect(contact.uri.description == "sip:alice@192.0.2.5:5062")
        #expect(contact.parameters["+sip.instance"] == "<\(ServerNetwork.instance)>")
        #expect(contact.parameters["reg-id"] == "1")
        #expect(first.headers.supported == ["gruu", "outbound", "path"])
        #expect(network.statuses.map(\.state) == [.registering, .registered])
        #expect(network.statuses.last?.interval == .seconds(600))

        network.run(.seconds(535))
        #expect(network.registers.count == 1)
        network.run(.seconds(60))
        #expect(network.registers.count == 2)
        #expect(network.registers[1].headers.callID == first.headers.callID)
        #expect(network.registers[1].headers.cseq?.number == 2)
        #expect(network.statuses.count == 2)

        let stop = network.token()
        network.step { $0.stopAccount(ServerNetwork.account, token: stop, at: $1) }
        #expect(network.finished[stop] == nil)
        network.run(.seconds(1))
        let last = try #require(network.registers.last)
        #expect(last.headers.contacts.first?.parameters["expires"] == "0")
        #expect(last.headers.expires == 0)
        #expect(network.finished[stop] == .some(nil))
        #expect(network.statuses.map(\.state).suffix(2) == [.unregistering, .unregistered])
        network.run(.seconds(3600))
        #expect(network.registers.count == 3)
    }

    @Test func `a server that is silent does not hold up the end for more than four seconds`() {
        var isSilent = false
        let network = ServerNetwork { isSilent ? nil : .registered($0) }
        network.start()
        isSilent = true

        let stop = network.token()
        network.step { $0.stopAccount(ServerNetwork.account, token: stop, at: $1) }
        network.run(.seconds(3))
        #expect(network.finished[stop] == nil)
        network.run(.seconds(2))

        #expect(network.finished[stop] == .some(nil))
    }

    @Test func `a server that was silent from the start does not hold up the end either, and the start fails`() {
        let network = ServerNetwork { _ in nil }
        let start = network.token()
        network.step { $0.startAccount(ServerNetwork.account, token: start, at: $1) }
        network.run(.seconds(1))

        let stop = network.token()
        network.step { $0.stopAccount(ServerNetwork.account, token: stop, at: $1) }
        network.run(.seconds(4))

        #expect(network.finished[stop] == .some(nil))
        #expect(network.finished[start]??.kind == .cancelled)
        #expect(network.registers.last?.headers.expires == 0)
    }

    @Test func `a registrar that keeps us for a second gets a REGISTER every five seconds, not more`() {
        let network = ServerNetwork { .registered($0, seconds: 1) }
        network.start(for: .seconds(1))

        network.run(.seconds(60))

        #expect((12...13).contains(network.registers.count))
    }

    struct Expiry: CustomTestStringConvertible, Sendable {
        var contact: String?
        var header: String?
        var seconds: Int64
        var testDescription: String { "Contact \(contact ?? "none"), Expires \(header ?? "none")" }
    }

    /// The parameter of our contact, else the header field, else what we asked for (RFC 3261 §10.2.4).
    @Test(arguments: [
        Expiry(contact: "120", header: "300", seconds: 120), Expiry(contact: nil, header: "300", seconds: 300),
        Expiry(contact: nil, header: nil, seconds: 600), Expiry(contact: "99999999999", header: nil, seconds: 600),
    ])
    func `believes the registrar on how long it is kept`(_ expiry: Expiry) {
        let network = ServerNetwork { request in
            var response = SIPResponse(answering: request, status: 200, tag: "server")
            var contact = NameAddress(uri: request.headers.contacts[0].uri)
            contact.parameters["expires"] = expiry.contact
            response.headers.contacts = [contact]
            if let header = expiry.header { response.headers[first: .expires] = header }
            return response
        }

        network.start()

        #expect(network.statuses.last?.interval == .seconds(expiry.seconds))
    }

    @Test func `finds its own contact among those of other devices`() {
        let network = ServerNetwork { request in
            var response = SIPResponse.registered(request, seconds: 200)
            let others = ["<sip:alice@203.0.113.9>;expires=20", "<sip:alice@192.0.2.5:5070>;expires=30"]
            for other in others { response.headers.append(.contact, other) }
            response.headers.contacts.reverse()
            return response
        }

        network.start()

        #expect(network.statuses.last?.interval == .seconds(200))
    }

    @Test func `finds its contact by its device where a server has rewritten it`() {
        let network = ServerNetwork { request in
            var response = SIPResponse(answering: request, status: 200, tag: "server")
            let instance = "+sip.instance=\"<\(ServerNetwork.instance.uppercased())>\""
            response.headers.append(.contact, "<sip:alice@203.0.113.1:999>;reg-id=2;expires=10;\(instance)")
            response.headers.append(.contact, "<sip:alice@203.0.113.1:1000>;reg-id=1;expires=90;\(instance)")
            return response
        }

        network.start()

        #expect(network.statuses.last?.interval == .seconds(90))
    }

    @Test func `asks for longer where the registrar says that it was too brief`() {
        let network = ServerNetwork(interval: 60) { request in
            guard (request.headers.expires ?? 0) >= 300 else {
                var response = SIPResponse(answering: request, status: 423, tag: "server")
                response.headers.minExpires = 300
                return response
            }
            return .registered(request)
        }

        #expect(network.start() == .some(nil))

        #expect(network.registers.map(\.headers.expires) == [60, 300])
        #expect(network.statuses.last?.interval == .seconds(300))
    }

    @Test func `gives up on a registrar that never finds it long enough`() {
        let network = ServerNetwork { request in
            var response = SIPResponse(answering: request, status: 423, tag: "server")
            response.headers.minExpires = (request.headers.expires ?? 0) + 1
            return response
        }

        let outcome = network.start()

        #expect(outcome??.kind == .registrationFailed)
        #expect(network.registers.count == 4)
    }

    @Test func `tries again, later and later, and says when`() {
        let network = ServerNetwork { SIPResponse(answering: $0, status: 500, tag: "server") }

        let outcome = network.start()
        network.run(.seconds(7200))

        #expect(outcome??.sipStatus == 500)
        #expect(outcome??.retryAfter != nil)
        let delays = network.statuses.compactMap(\.retryAfter)
        #expect(delays.count > 5)
        for (index, delay) in delays.enumerated() {
            let longest = min(Duration.seconds(30) * (1 << min(index, 9)), .seconds(1800))
            #expect(delay <= longest && delay >= longest / 2, "\(index): \(delay)")
        }
        for (first, second) in zip(network.requests, network.requests.dropFirst()) {
            #expect(second.at - first.at >= .seconds(15))
        }
    }

    @Test func `waits for as long as the server asks`() {
        let network = ServerNetwork { request in
            var response = SIPResponse(answering: request, status: 503, tag: "server")
            response.headers.retryAfter = 400
            return response
        }

        network.start()
        network.run(.seconds(390))
        #expect(network.registers.count == 1)
        network.run(.seconds(20))

        #expect(network.registers.count == 2)
        #expect(network.statuses.first { $0.state == .failed }?.retryAfter == .seconds(400))
    }

    @Test(arguments: [403, 404])
    func `does not try again what would be refused again`(_ status: Int) {
        let network = ServerNetwork { SIPResponse(answering: $0, status: status, tag: "server") }

        let outcome = network.start()
        network.run(.seconds(7200))

        #expect(outcome??.sipStatus == status)
        #expect(network.registers.count == 1)
        #expect(network.statuses.last?.retryAfter == nil)
    }

    @Test func `takes the next target where the first cannot be reached, and says nothing of it`() {
        let network = ServerNetwork(transport: .tcp) { .registered($0) }
        network.targets = [ServerNetwork.spareServer, ServerNetwork.server]
        network.unreachable = [ServerNetwork.spareServer]

        #expect(network.start() == .some(nil))

        #expect(network.statuses.map(\.state) == [.registering, .registered])
        #expect(network.requests.last?.target.remote == ServerNetwork.server)
    }

    @Test func `tells why no target can be reached`() {
        let network = ServerNetwork(transport: .tcp) { .registered($0) }
        network.unreachable = [ServerNetwork.server]

        let outcome = network.start()

        #expect(outcome??.kind == .unreachable)
        #expect(outcome??.reason == "nothing listens there")
        #expect(network.statuses.last?.retryAfter != nil)
    }

    // MARK: Where we are

    @Test func `registers the address that the server sees, and takes back the one that nobody reaches`() throws {
        let network = ServerNetwork { request in
            var response = SIPResponse.registered(request)
            var via = response.headers.topVia
            via?.received = IPAddress(version4: 0xCB00_7107)
            via?.rport = 40_000
            response.headers.topVia = via
            return response
        }

        network.start()

        #expect(network.registers.count == 2)
        let contacts = try #require(network.registers.last?.headers.contacts)
        #expect(contacts.map(\.uri.description) == ["sip:alice@203.0.113.7:40000", "sip:alice@192.0.2.5:5062"])
        #expect(contacts.map { $0.parameters["expires"] } == ["600", "0"])
        network.run(.seconds(550))
        #expect(network.registers.count == 3)
        #expect(network.registers.last?.headers.contacts.map(\.uri.description) == ["sip:alice@203.0.113.7:40000"])
    }

    @Test func `registers anew when the addresses of the machine change`() {
        let network = ServerNetwork { .registered($0) }
        network.start()

        network.local = IPAddress(version4: 0x0A00_0001)
        network.step { $0.networkChanged(at: $1) }
        network.run(.seconds(1))

        #expect(network.registers.last?.headers.contacts.first?.uri.description == "sip:alice@10.0.0.1:5062")
    }

    // MARK: The flow

    @Test func `shows signs of life, more often than the server's timer`() {
        let network = ServerNetwork(transport: .tcp) { request in
            var response = SIPResponse.registered(request)
            response.headers.append("Flow-Timer", "60")
            return response
        }

        network.start()
        network.run(.seconds(200))

        #expect(network.signsOfLife.allSatisfy { $0.bytes == [13, 10, 13, 10] })
        #expect((3...5).contains(network.signsOfLife.count))
    }

    @Test func `takes a flow for dead when a server that answered signs of life stops`() {
        let network = ServerNetwork(transport: .tcp) { .registered($0) }
        network.start()
        network.receiveSignOfLife()
        let count = network.registers.count

        network.run(.seconds(135))

        #expect(network.statuses.contains { $0.failure?.kind == .signalingLost })
        #expect(network.registers.count > count)
        #expect(network.statuses.last?.state == .registered)
    }

    @Test func `keeps a flow whose server never answered signs of life`() {
        let network = ServerNetwork(transport: .tcp) { .registered($0) }
        network.start()

        network.run(.seconds(500))

        #expect(network.statuses.count == 2)
    }

    @Test func `uses STUN towards a server that keeps flows, and registers when its answer tells of another address`() {
        var port: UInt16 = 5062
        let network = ServerNetwork { request in
            var response = SIPResponse.registered(request)
            response.headers.require = ["outbound"]
            var via = response.headers.topVia
            via?.received = ServerNetwork.ownAddress
            via?.rport = port
            response.headers.topVia = via
            return response
        }
        network.start()
        network.run(.seconds(30))
        #expect(network.signsOfLife.first?.bytes.prefix(2) == [0, 1])
        #expect(network.signsOfLife.first?.bytes.count == 20)

        network.receiveSignOfLife(seen: Endpoint(ServerNetwork.ownAddress, 5062))
        network.run(.seconds(1))
        #expect(network.registers.count == 1)
        port = 6000
        network.receiveSignOfLife(seen: Endpoint(ServerNetwork.ownAddress, 6000))
        network.run(.seconds(1))

        #expect(network.registers.count == 2)
    }

    @Test func `connects and registers again soon after the connection was cut`() {
        let network = ServerNetwork(transport: .tcp) { .registered($0) }
        network.start()

        network.loseConnection()
        #expect(network.statuses.last?.state == .failed)
        #expect(network.statuses.last?.failure?.reason == "the connection was cut")
        #expect((network.statuses.last?.retryAfter ?? .seconds(60)) <= .seconds(2))
        network.run(.seconds(3))

        #expect(network.statuses.last?.state == .registered)
    }

    @Test func `asks a server that takes it and breaks off each time less and less often`() {
        let network = ServerNetwork(transport: .tcp) { .registered($0) }
        network.start()

        for _ in 0..<3600 {
            if network.statuses.last?.state == .registered { network.loseConnection() }
            network.run(.seconds(1))
        }

        #expect((8...14).contains(network.registers.count))
    }

    @Test func `goes on soon after a connection that had stood for a while`() {
        let network = ServerNetwork(transport: .tcp) { .registered($0) }
        network.start()

        for _ in 0..<5 {
            network.run(.seconds(100))
            network.loseConnection()
            #expect((network.statuses.last?.retryAfter ?? .seconds(60)) <= .seconds(2))
        }
    }

    @Test func `a server's timer of a second does not make it flood`() {
        let network = ServerNetwork(transport: .tcp) { request in
            var response = SIPResponse.registered(request)
            response.headers.append("Flow-Timer", "1")
            return response
        }

        network.start()
        network.run(.seconds(100))

        #expect((18...26).contains(network.signsOfLife.count))
    }

    @Test func `looks for a lost server sooner than for one that was never there`() {
        let network = ServerNetwork(transport: .tcp) { .registered($0) }
        network.start()

        network.unreachable = [ServerNetwork.server]
        network.loseConnection()
        network.run(.seconds(40))
        #expect(network.statuses.count { $0.state == .failed } >= 3)
        network.unreachable = []
        network.run(.seconds(45))

        #expect(network.statuses.last?.state == .registered)
    }
}
