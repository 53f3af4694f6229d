import Foundation
import OffhookBasics
import OffhookICE
import Testing

@Suite struct `STUN messages` {
    private let password = STUNKey(shortTerm: "VOkJxbRl1RmTxUk/WvJxBt")

    @Test func `reads and verifies the sample request of RFC 5769 §2.1`() throws {
        let bytes = try fixture("rfc5769/req.stun")

        let message = try STUNMessage(bytes)

        #expect(message.messageClass == .request)
        #expect(message.method == .binding)
        #expect(message.attributes.contains(.software("STUN test client")))
        #expect(message.priority == 0x6E00_01FF)
        #expect(message.attributes.contains(.iceControlled(0x932F_F9B1_5126_3B36)))
        #expect(message.username == Array("evtj:h6vY".utf8))
        #expect(STUNMessage.isSigned(bytes, key: password))
        #expect(!STUNMessage.isSigned(bytes, key: STUNKey(shortTerm: "wrong")))
    }

    @Test func `reads and verifies the sample IPv6 response of RFC 5769 §2.3`() throws {
        let bytes = try fixture("rfc5769/respv6.stun")

        let message = try STUNMessage(bytes)

        #expect(message.messageClass == .success)
        #expect(message.mappedEndpoint == Endpoint("[2001:db8:1234:5678:11:2233:4455:6677]:32853"))
        #expect(STUNMessage.isSigned(bytes, key: password))
    }

    @Test func `reads and verifies the long-term SHA-256 request of RFC 8489 §B.1 with its length put right`() throws {
        let bytes = bytes(
            hexadecimal: """
                000100882112a44278ad3433c6ad72c029da412e001e00204a3cf38fef6992bda952c6780417da0f24819415569e60b205c46e41407f17\
                04001500296f624d61744a6f733241414143662f2f3439396b39353464364f4c33346f4c394653547679363473410000000014000b6578\
                616d706c652e6f726700001c0020234112fbd4e27f983eb4032836f998216f5b23f8d927753fbc4f882bfbdf0dec
                """)

        let message = try STUNMessage(bytes)
        let key = STUNKey(
            username: "マトリックス", realm: Array("example.org".utf8), password: "TheMatrIX", algorithm: .sha256,
            integrity: .sha256, authenticator: Authenticator())

        #expect(message.realm == Array("example.org".utf8))
        #expect(STUNMessage.isSigned(bytes, key: key))
    }

    @Test func `refuses the same request as published, with a length that its attributes do not have`() throws {
        let bytes = try fixture("rfc8489/b1-long-term-sha256-userhash.stun")

        #expect(throws: STUNParseError.self) { try STUNMessage(bytes) }
    }

    @Test func `reads what browsers sent to pion`() throws {
        struct Table: Decodable {
            struct Row: Decodable { var description: String }
            var cases: [Row]
        }
        let table = try JSONDecoder().decode(Table.self, from: Data(try fixture("pion/from-browsers.json")))
        let datagrams = table.cases.map { Array(Data(base64Encoded: $0.description) ?? Data()) }

        #expect(datagrams.map(\.count) == [28, 20, 28, 20])
        for datagram in datagrams {
            let message = try STUNMessage(datagram)
            #expect(message.messageClass == .request)
            #expect(message.method == .binding)
            #expect(message.contains(STUNAttributeType.fingerprint) == (datagram.count == 28))
            #expect(message.unknownRequiredAttributes.isEmpty)
        }
    }

    @Test func `reads what FreeSWITCH and a STUN server sent`() throws {
        let request = try STUNMessage(try fixture("aioice/binding_request_ice_controlled.bin"))
        let response = try STUNMessage(try fixture("aioice/binding_response.bin"))

        #expect(request.username == Array("AYeZ:sw7YvCSbcVex3bhi".utf8))
        #expect(request.priority == 1_685_987_071)
        #expect(request.attributes.contains(.iceControlled(5_491_930_053_772_927_353)))
        #expect(response.mappedEndpoint == Endpoint("198.51.100.92:53054"))
        #expect(response.unknownRequiredAttributes.isEmpty)
    }

    @Test func `reads a browser's request`() throws {
        #expect(try STUNMessage(try fixture("pion/ex1_chrome.stun")).method == .binding)
    }

    @Test func `prints every attribute so that it reads back`() throws {
        let version4 = Endpoint("192.0.2.1:32853")
        let version6 = Endpoint("[2001:db8::7]:9")
        let attributes: [STUNAttribute] = [
            .mappedAddress(version4), .mappedAddress(version6), .xorMappedAddress(version4),
            .xorMappedAddress(version6),
            .xorPeerAddress(version4), .xorRelayedAddress(version6), .alternateServer(version4),
            .username(Array("a:b".utf8)), .userHash([UInt8](repeating: 7, count: 32)), .realm(Array("r".utf8)),
            .nonce(Array("nonce".utf8)), .passwordAlgorithms([.sha256, .md5]), .passwordAlgorithm(.sha256),
            .errorCode(438, reason: "Stale Nonce"), .unknownAttributes([0x7001, 0x7002, 0x7003]), .software("Offhook"),
            .priority(1), .useCandidate, .iceControlled(2), .iceControlling(3), .channelNumber(0x4001), .lifetime(600),
            .data([1, 2, 3]), .requestedTransport(17), .requestedAddressFamily(2), .dontFragment, .evenPort(true),
            .reservationToken(9), .other(type: 0x7F00, value: [1]),
        ]
        let message = STUNMessage(
            .success, STUNMethod(0x0BC),
            transactionID: STUNTransactionID(high: 0xDEAD_BEEF, low: 0x0102_0304_0506_0708),
            attributes: attributes)

        let bytes = message.bytes(key: password, authenticator: Authenticator())
        let parsed = try STUNMessage(bytes)

        #expect(parsed.method == message.method)
        #expect(parsed.transactionID == message.transactionID)
        #expect(Array(parsed.attributes.dropLast(2)) == attributes)
        #expect(STUNMessage.isSigned(bytes, key: password))
        #expect(bytes.count % 4 == 0)
    }

    @Test func `passes over what comes after the signature`() throws {
        let message = STUNMessage(.request, .binding, transactionID: STUNTransactionID(high: 1, low: 2))
        var bytes = message.bytes(key: password, addingFingerprint: false, authenticator: Authenticator())
        bytes += [0x00, 0x25, 0x00, 0x00]
        bytes[3] += 4

        let parsed = try STUNMessage(bytes)

        #expect(!parsed.contains(STUNAttributeType.useCandidate))
        #expect(STUNMessage.isSigned(bytes, key: password))
    }

    @Test(arguments: 0..<100) func `notices every changed byte of a signed message`(offset: Int) throws {
        var bytes = try fixture("rfc5769/req.stun")
        bytes[offset] ^= 0x10

        let isAccepted = (try? STUNMessage(bytes)) != nil && STUNMessage.isSigned(bytes, key: password)

        #expect(!isAccepted)
    }

    @Test func `tells a keep-alive of 20 bytes on an RTCP port by its cookie`() {
        let keepAlive = bytes(hexadecimal: "000100002112a442000102030405060708090a0b")
        let report: [UInt8] = [0x80, 200, 0, 6] + [UInt8](repeating: 0, count: 24)

        #expect(keepAlive.withUnsafeBytes { STUNMessage.isSTUN($0.bytes) })
        #expect(!report.withUnsafeBytes { STUNMessage.isSTUN($0.bytes) })
    }

    @Test func `repeats a request seven times and waits 39,5 seconds in all`() {
        var retransmission = STUNRetransmission(at: .zero)
        var sentAt: [Int64] = [0]
        var gaveUpAt: Int64?

        while gaveUpAt == nil {
            let now = retransmission.deadline
            switch retransmission.step(at: now) {
            case .resend: sentAt.append(now.nanoseconds / 1_000_000)
            case .timedOut: gaveUpAt = now.nanoseconds / 1_000_000
            case .wait: Issue.record("a deadline that is none")
            }
        }

        #expect(sentAt == [0, 500, 1500, 3500, 7500, 15500, 31500])
        #expect(gaveUpAt == 39_500)
    }

    @Test func `does not repeat a request over a stream`() {
        var retransmission = STUNRetransmission(isReliable: true, at: .zero)

        #expect(retransmission.deadline == .zero + .milliseconds(39_500))
        #expect(retransmission.step(at: retransmission.deadline) == .timedOut)
    }

    @Test(arguments: ["libwebrtc", "pion-fuzz", "rfc5769", "aioice"])
    func `survives seeds and what seeded mutations make of them`(folder: String) throws {
        for (number, seed) in try fixtures(in: folder).enumerated() {
            var random = SeededRandom(seed: UInt64(number))
            for _ in 0..<300 {
                var bytes = seed
                for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
                if let message = try? STUNMessage(bytes) {
                    let printed = message.bytes(addingFingerprint: false, authenticator: Authenticator())
                    #expect(printed.count >= 20)
                }
            }
        }
    }
}
