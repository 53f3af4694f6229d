import OffhookBasics
import OffhookCrypto
import Testing

@Suite struct `SRTP context` {
    static func rtp(_ sequenceNumber: UInt16, ssrc: UInt32 = 0x1234_5678, payloadLength: Int = 20) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(0x80))
        writer.write(UInt8(96))
        writer.write(sequenceNumber)
        writer.write(UInt32(sequenceNumber) &* 960)
        writer.write(ssrc)
        writer.write(repeatElement(UInt8(truncatingIfNeeded: sequenceNumber), count: payloadLength))
        return writer.bytes
    }

    static let senderReport = bytes("80c80006 12345678 0000000000000000 00000000 00000001 00000014")

    private func pair(
        _ suite: SRTPSuite = .aesCM128HMACSHA1Tag80, identifier: [UInt8] = []
    ) throws -> (sender: SRTPContext, receiver: SRTPContext) {
        var keys = SRTPKeys.random(suite: suite)
        keys.masterKeyIdentifier = identifier
        return (try SRTPContext(outbound: keys, inbound: nil), try SRTPContext(outbound: nil, inbound: keys))
    }

    @Test(arguments: SRTPSuite.allCases) func `carries RTP and RTCP, with tags of the right length`(
        _ suite: SRTPSuite
    ) throws {
        let (sender, receiver) = try pair(suite)
        let media = packet(Self.rtp(7))
        let report = packet(Self.senderReport)

        try sender.protectRTP(media)
        try sender.protectRTCP(report)

        #expect(media.count == Self.rtp(7).count + suite.tagLength)
        // The short tag is for RTP alone (RFC 4568 §6.2.2).
        #expect(report.count == Self.senderReport.count + 4 + max(suite.tagLength, 10))
        #expect(media.content[12..<32] != Self.rtp(7)[12..<32])
        try receiver.unprotectRTP(media)
        try receiver.unprotectRTCP(report)
        #expect(media.content == Self.rtp(7))
        #expect(report.content == Self.senderReport)
    }

    // R033.
    @Test(arguments: [1, 2, 4, 5, 16, 128]) func `puts in and takes out an MKI of any length`(_ length: Int) throws {
        let identifier = (1...length).map { UInt8(truncatingIfNeeded: $0) }
        let (sender, receiver) = try pair(identifier: identifier)
        let media = packet(Self.rtp(1))
        let report = packet(Self.senderReport)

        try sender.protectRTP(media)
        try sender.protectRTCP(report)

        #expect(Array(media.content.dropLast(10).suffix(length)) == identifier)
        try receiver.unprotectRTP(media)
        try receiver.unprotectRTCP(report)
        #expect(media.content == Self.rtp(1))
        #expect(report.content == Self.senderReport)
    }

    @Test func `refuses an MKI that was not signalled`() throws {
        let keys = SRTPKeys.random(suite: .aesCM128HMACSHA1Tag80)
        var sent = keys
        sent.masterKeyIdentifier = [1, 2]
        var expected = keys
        expected.masterKeyIdentifier = [1, 3]
        let media = packet(Self.rtp(1))

        try SRTPContext(outbound: sent, inbound: nil).protectRTP(media)

        let receiver = try SRTPContext(outbound: nil, inbound: expected)
        #expect(throws: SRTPError.unknownMasterKey) { try receiver.unprotectRTP(media) }
    }

    // R159: RFC 3711 §3.3.
    @Test(arguments: SRTPSuite.allCases) func `is not moved by a forged packet`(_ suite: SRTPSuite) throws {
        let (sender, receiver) = try pair(suite)

        for number: UInt16 in [10, 11, 40000, 12, 13] {
            let media = packet(Self.rtp(number))
            if number == 40000 {
                media.append(UInt8(0))
                for _ in 0..<suite.tagLength { media.append(UInt8(0xEE)) }
                #expect(throws: SRTPError.authenticationFailed) { try receiver.unprotectRTP(media) }
            } else {
                try sender.protectRTP(media)
                try receiver.unprotectRTP(media)
                #expect(media.content == Self.rtp(number))
            }
        }
    }

    @Test func `refuses a packet that it has had`() throws {
        let (sender, receiver) = try pair()
        let media = packet(Self.rtp(1))
        try sender.protectRTP(media)
        let again = packet(media.content)

        try receiver.unprotectRTP(media)

        #expect(throws: SRTPError.replayed) { try receiver.unprotectRTP(again) }
    }

    @Test func `protects a retransmission just as it did the first time`() throws {
        let (sender, _) = try pair(.aeadAES128GCM)
        let first = packet(Self.rtp(1))
        let later = packet(Self.rtp(2))
        let again = packet(Self.rtp(1))

        for media in [first, later, again] { try sender.protectRTP(media) }

        #expect(first.content == again.content)
    }

    @Test func `follows every SSRC by itself, and its sequence numbers past their end`() throws {
        let (sender, receiver) = try pair()

        for step in 0..<70 {
            for ssrc: UInt32 in [1, 0xFFFF_FFFF] {
                let number = UInt16(truncatingIfNeeded: 65500 + step)
                let media = packet(Self.rtp(number, ssrc: ssrc))
                try sender.protectRTP(media)
                // Every third is lost.
                guard step % 3 != 0 else { continue }
                try receiver.unprotectRTP(media)
                #expect(media.content == Self.rtp(number, ssrc: ssrc))
            }
        }
    }

    // R162.
    @Test func `keeps counters and replay list when the same keys are set again`() throws {
        let keys = SRTPKeys.random(suite: .aesCM128HMACSHA1Tag80)
        let sender = try SRTPContext(outbound: keys, inbound: nil)
        let receiver = try SRTPContext(outbound: nil, inbound: keys)
        for number: UInt16 in [65535, 0, 1] {
            let media = packet(Self.rtp(number))
            try sender.protectRTP(media)
            try receiver.unprotectRTP(media)
        }
        let old = packet(Self.rtp(2))
        try sender.protectRTP(old)
        let replayed = packet(old.content)
        try receiver.unprotectRTP(old)

        try sender.setOutboundKeys(keys)
        try receiver.setInboundKeys(keys)

        // With the counter back at 0 this would fail to authenticate.
        let next = packet(Self.rtp(3))
        try sender.protectRTP(next)
        try receiver.unprotectRTP(next)
        #expect(next.content == Self.rtp(3))
        #expect(throws: SRTPError.replayed) { try receiver.unprotectRTP(replayed) }
    }

    @Test func `takes what was under way while keys changed`() throws {
        let (sender, receiver) = try pair(.aeadAES128GCM)
        let first = packet(Self.rtp(1))
        let delayed = packet(Self.rtp(2))
        try sender.protectRTP(first)
        try sender.protectRTP(delayed)
        try receiver.unprotectRTP(first)

        let new = SRTPKeys.random(suite: .aesCM256HMACSHA1Tag80)
        try sender.setOutboundKeys(new)
        try receiver.setInboundKeys(new)
        let fresh = packet(Self.rtp(3))
        try sender.protectRTP(fresh)
        try receiver.unprotectRTP(fresh)
        try receiver.unprotectRTP(delayed)

        #expect(fresh.content == Self.rtp(3))
        #expect(delayed.content == Self.rtp(2))
        #expect(receiver.inboundKeys == new)
    }

    @Test func `refuses what has no keys, no header or no room`() throws {
        let (sender, receiver) = try pair()
        #expect(throws: SRTPError.noKeys) { try receiver.protectRTP(packet(Self.rtp(1))) }
        #expect(throws: SRTPError.noKeys) { try sender.unprotectRTCP(packet(Self.senderReport)) }
        for count in 0..<12 {
            #expect(throws: SRTPError.malformed) {
                try sender.protectRTP(packet([UInt8](repeating: 0x80, count: count)))
            }
            #expect(throws: SRTPError.self) {
                try receiver.unprotectRTP(packet([UInt8](repeating: 0x80, count: count)))
            }
        }
        let full = packet(Self.rtp(1, payloadLength: PacketBuffer.capacity - 12 - 9))
        #expect(throws: SRTPError.noRoom) { try sender.protectRTP(full) }
        // A header that claims more contributing sources than there are bytes.
        #expect(throws: SRTPError.malformed) { try sender.protectRTP(packet([0x8F] + Self.rtp(1).dropFirst())) }
    }

    @Test func `survives the inputs of a fuzzer, and random ones`() throws {
        var random = SeededRandom(seed: 3711)
        let seeds = try fixtures(in: "fuzz-srtp")
        #expect(seeds.count == 185)
        for suite in SRTPSuite.allCases {
            var keys = SRTPKeys.random(suite: suite)
            for identifierLength in [0, 3] {
                keys.masterKeyIdentifier = random.bytes(identifierLength)
                let context = try SRTPContext(outbound: keys, inbound: keys)
                for seed in seeds where seed.bytes.count <= 1800 {
                    var variant = seed.bytes
                    if variant.count > 2 { variant[0] = 0x80 | variant[0] & 0x3F }
                    for input in [seed.bytes, variant] {
                        _ = try? context.unprotectRTP(packet(input))
                        _ = try? context.unprotectRTCP(packet(input))
                        _ = try? context.protectRTP(packet(input))
                        _ = try? context.protectRTCP(packet(input))
                    }
                }
                // After all that a good packet still gets through.
                let media = packet(Self.rtp(9, ssrc: 0xFEED))
                let other = try SRTPContext(outbound: keys, inbound: nil)
                try other.protectRTP(media)
                try context.unprotectRTP(media)
            }
        }
    }

    @Test func `starts the library once, on however many threads`() async throws {
        let results = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let keys = SRTPKeys.random(suite: .aeadAES128GCM)
                    guard let context = try? SRTPContext(outbound: keys, inbound: keys) else { return false }
                    let media = packet(`SRTP context`.rtp(1))
                    return (try? context.protectRTP(media)) != nil && (try? context.unprotectRTP(media)) != nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == [Bool](repeating: true, count: 8))
    }
}
