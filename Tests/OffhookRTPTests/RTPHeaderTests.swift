import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `RTP header` {
    @Test func `reads a plain packet and prints it again`() throws {
        let bytes = try Fixture.bytes("rtp/rtp.bin")
        let header = try bytes.parsedHeader()

        #expect(!header.marker)
        #expect(header.payloadType == 0)
        #expect(header.sequenceNumber == SequenceNumber(15743))
        #expect(header.timestamp == RTPTimestamp(3_937_035_252))
        #expect(header.payloadRange.count == 160)
        let buffer = PacketBuffer()
        header.write(to: buffer)
        buffer.append(bytes.span.bytes.extracting(header.payloadRange))
        #expect([UInt8](copying: buffer.bytes) == bytes)
    }

    @Test func `reads contributing sources`() throws {
        let bytes = try Fixture.bytes("rtp/rtp_with_csrc.bin")
        let header = try bytes.parsedHeader()

        #expect(header.contributingSourceCount == 2)
        #expect(try bytes.contributingSources() == [SSRC(2_882_400_001), SSRC(3_735_928_559)])
        #expect(header.payloadRange.count == 160)
    }

    @Test func `reads one-byte extensions`() throws {
        let bytes = try Fixture.bytes("rtp/packet3.raw")
        let header = try bytes.parsedHeader()

        #expect(header.payloadType == 111)
        #expect(header.sequenceNumber == SequenceNumber(19354))
        #expect(try bytes.extensionElements() == [3: [0x65, 0x34, 0x1E], 1: [0xD0]])
        #expect(bytes[header.payloadRange.lowerBound] == 0x09)
    }

    @Test func `reads an identification`() throws {
        let bytes = try Fixture.bytes("rtp/rtp_with_sdes_mid.bin")
        let header = try bytes.parsedHeader()

        #expect(header.marker)
        #expect(header.payloadRange.count == 54)
        #expect(try Array(bytes.extensionElements().values) == [[UInt8(ascii: "0")]])
    }

    @Test func `reads two-byte extensions with padding and empty elements`() throws {
        let bytes = try #require(
            [UInt8](
                hexadecimal: "906000010000000000000001" + "1000" + "0003" + "2001aa" + "00" + "2100" + "2202bbcc"
                    + "0000" + "77"))
        let header = try bytes.parsedHeader()
        let elements = try bytes.extensionElements()

        #expect(elements == [0x20: [0xAA], 0x21: [], 0x22: [0xBB, 0xCC]])
        #expect(Array(bytes[header.payloadRange]) == [0x77])
    }

    @Test func `steps over padding, stops at identifier 15 and at an overlong element`() throws {
        for row in try Fixture.cases("reports/R141.json") {
            let bytes = try #require((row["hex"] as? String).flatMap { [UInt8](hexadecimal: $0) })
            let expected = try #require(row["elements"] as? [String: String])
            let header = try bytes.parsedHeader()
            var elements: [String: [UInt8]] = [:]
            header.forEachExtensionElement(in: bytes.span.bytes) { elements[String($0)] = Array(bytes[$1]) }

            #expect(
                elements.map { "\($0): \($1)" }.sorted()
                    == expected.map { "\($0): \([UInt8](hexadecimal: $1) ?? [])" }.sorted())
        }
    }

    @Test func `refuses what is too short for what it claims`() throws {
        for row in try Fixture.cases("rtp/packet.json") {
            let input = try #require(
                ((row["case"] as? [String: Any])?["input"] as? String).flatMap { [UInt8](hexadecimal: $0) })
            #expect(throws: RTPParseError.self) { try input.parsedHeader() }
        }
    }

    @Test(
        arguments: [
            ("a0600001000000000000000101020304", nil), ("a06000010000000000000001aabb0002", 2),
            ("a0600001000000000000000100000000", nil), ("a06000010000000000000001aabbccff", nil),
            ("a060000100000000000000010000aa04", 0),
        ] as [(String, Int?)])
    func `padding lies inside the payload`(hexadecimal: String, payload: Int?) throws {
        let bytes = try #require([UInt8](hexadecimal: hexadecimal))
        if hexadecimal.hasSuffix("01020304") {
            #expect(try bytes.parsedHeader().payloadRange.isEmpty)
        } else if let payload {
            #expect(try bytes.parsedHeader().payloadRange.count == payload)
        } else {
            #expect(throws: RTPParseError.badPadding) { try bytes.parsedHeader() }
        }
    }

    @Test func `numbers wrap`() {
        #expect(SequenceNumber(2) - SequenceNumber(65534) == 4)
        #expect(SequenceNumber(65534) - SequenceNumber(2) == -4)
        #expect(SequenceNumber(65535).advanced(by: 2) == SequenceNumber(1))
        #expect(RTPTimestamp(5) - RTPTimestamp(.max) == 6)
        #expect(RTPTimestamp(5).advanced(by: -6) == RTPTimestamp(.max))
    }

    @Test func `wall-clock time adds and subtracts`() {
        let time = NTPTimestamp(unixNanoseconds: 1_500_000_000)
        #expect(time.rawValue >> 32 == 2_208_988_801)
        #expect(UInt32(truncatingIfNeeded: time.rawValue) == 0x8000_0000)
        #expect(time.advanced(by: .milliseconds(-1500)) - time == .milliseconds(-1500))
        #expect(time.advanced(by: .seconds(90)) - time == .seconds(90))
    }

    @Test(
        arguments: [
            ("00010000" + "2112a442" + "000102030405060708090a0b", .stun),
            ("00010004" + "2112a442" + "000102030405060708090a0b" + "80220000", .stun),
            ("00010000" + "2112a443" + "000102030405060708090a0b", .unknown),
            ("00010004" + "2112a442" + "000102030405060708090a0b", .unknown),
            ("1000", .zrtp), ("16fefd", .dtls), ("3f", .dtls), ("40000001aa", .turnChannel), ("4f", .turnChannel),
            ("800000010000000000000001", .rtp), ("806000010000000000000001", .rtp), ("80e000010000000000000001", .rtp),
            ("80c80001", .rtcp), ("81cd0002", .rtcp), ("80df0001", .rtcp), ("80c8", .unknown),
            ("80bf00010000000000000001", .rtp),
            ("8000", .unknown), ("c0", .unknown), ("50", .unknown), ("0a", .unknown), ("", .unknown),
        ] as [(String, PacketKind)])
    func `datagrams are told apart by their first bytes`(hexadecimal: String, kind: PacketKind) throws {
        let bytes = try #require([UInt8](hexadecimal: hexadecimal))
        #expect(bytes.packetKind == kind)
    }

    @Test func `a bare binding request is known as one`() throws {
        let bytes = try #require([UInt8](hexadecimal: "000100002112a442000102030405060708090a0b"))
        let header = try #require(bytes.stunHeader)
        #expect(header.isBindingRequest)
        #expect(header.length == 0)
    }
}
