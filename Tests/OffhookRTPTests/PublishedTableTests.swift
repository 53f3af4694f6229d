import Foundation
import OffhookBasics
import OffhookRTP
import Testing

/// Tables of RFCs and other stacks that need more than one row at a time.
@Suite struct `Published tables` {
    private func rows(_ file: String) throws -> [(test: String, row: [String: Any])] {
        try Fixture.cases(file).map { ($0["test"] as? String ?? "", $0["case"] as? [String: Any] ?? [:]) }
    }

    // MARK: RTCP

    /// The rows are headers alone; the bodies here are of the length that they tell.
    @Test func `RTCP headers of pion's table`() throws {
        for (_, row) in try rows("rtcp-pion/header.json") {
            let header = try #require((row["Data"] as? String).flatMap { [UInt8](hexadecimal: $0) })
            let want = try #require(row["Want"] as? [String: Any])
            let length = 4 * (try #require(want["Length"] as? Int))
            let isPadded = try #require(want["Padding"] as? Bool)
            let body = [UInt8](repeating: 0, count: length - 1) + [isPadded ? 4 : 0]

            let packets = try (header + body).parsedReports()

            switch (want["Type"] as? String, packets.first) {
            case ("TypeApplicationDefined", .applicationDefined(let packet)):
                #expect(Int(packet.subtype) == want["Count"] as? Int)
                #expect(packet.data.count == length - 8 - (isPadded ? 4 : 0))
            case ("TypeReceiverReport", .receiverReport(let report)):
                #expect(report.blocks.count == want["Count"] as? Int)
            default:
                Issue.record("\(row["Name"] ?? "") reads as \(packets)")
            }
            #expect(throws: RTCPParseError.tooShort) { try (header + body.dropLast(4)).parsedReports() }
        }
    }

    @Test func `the application's packet of pion's table`() throws {
        let (_, row) = try #require(rows("rtcp-pion/packet.json").first)
        let data = try #require((row["Data"] as? String).flatMap { [UInt8](hexadecimal: $0) })
        let source = UInt32(try #require(row["SSRC"] as? Int))
        let name = try #require(row["Name"] as? String).utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let packet = RTCPPacket.applicationDefined(
            ApplicationDefined(subtype: 0, ssrc: SSRC(source), name: name, data: data))

        #expect(packet.written == [UInt8](hexadecimal: "80cc0003" + "4baae1ab" + "4e414d45" + "41424344"))
        #expect(try packet.written.parsedReports() == [packet])
    }

    /// Nobody here asks for feedback of RFC 8888; a report of it is passed over and hides nothing.
    @Test func `a report of RFC 8888 is passed over, and what follows is read`() throws {
        let reports = try rows("rtcp-pion/rfc8888.json").filter { $0.test == "TestCCFeedbackReportUnmarshalMarshal" }
        #expect(!reports.isEmpty)
        for (_, row) in reports {
            let bytes = try #require((row["Data"] as? String).flatMap { [UInt8](hexadecimal: $0) })
            let goodbye = RTCPPacket.goodbye(Goodbye(sources: [SSRC(1)], reason: []))
            #expect(try (bytes + goodbye.written).parsedReports() == [.other(type: 205, format: 11), goodbye])
        }
    }

    // MARK: VP8

    /// What an assignment of libwebrtc's table stands for, such as `0x80 | 0x12` and `0b01'1'10001`.
    private func value(_ text: Substring) throws -> UInt8 {
        try text.split(separator: "|").reduce(UInt8(0)) { sum, part in
            let digits = part.filter { $0 != "'" && $0 != " " }
            let number =
                digits.hasPrefix("0b")
                ? UInt8(digits.dropFirst(2), radix: 2)
                : digits.hasPrefix("0x") ? UInt8(digits.dropFirst(2), radix: 16) : UInt8(digits)
            return sum | (try #require(number))
        }
    }

    @Test func `VP8 descriptors of libwebrtc's table`() throws {
        var seen: [String] = []
        for content in try Fixture.cases("vp8/libwebrtc-video_rtp_depacketizer_vp8_unittest.json") {
            guard let test = content["test"] as? String, test != "WithPacketizer",
                let assignments = content["assignments"] as? [String], let facts = content["facts"] as? [String]
            else { continue }
            var bytes: [UInt8] = []
            for assignment in assignments {
                let sides = assignment.split(separator: "=", maxSplits: 1)
                let index = try #require(Int(sides[0].drop { $0 != "[" }.dropFirst().dropLast()))
                if sides[1].hasPrefix("{") {
                    bytes = [UInt8](repeating: 0, count: index)
                } else {
                    bytes[index] = try value(sides[1])
                }
            }
            seen.append(test)
            if facts.first?.hasSuffix("&unused), 0") == true {
                #expect(throws: VP8ParseError.tooShort, "\(test)") { try bytes.parsedDescriptor() }
                continue
            }
            let (descriptor, size) = try bytes.parsedDescriptor()
            // Booleans that the facts name may be expected to be false, which the facts do not tell.
            for fact in facts {
                let words = fact.split(separator: ", ")
                guard words.count == 2 else { continue }
                // Names, and the one number that is longer than a byte, stand for themselves below.
                let isNumber = !words[1].hasPrefix("k") && !words[0].hasSuffix("pictureId") && words[0].first != "p"
                let number = isNumber && words[1].first?.isNumber == true ? try value(words[1]) : nil
                switch words[0] {
                case "offset": #expect(size == number.map(Int.init), "\(test)")
                case "vp8_header.partitionId": #expect(descriptor.partitionIndex == number, "\(test)")
                case "vp8_header.tl0PicIdx": #expect(descriptor.baseLayerPictureIndex == number, "\(test)")
                case "vp8_header.temporalIdx": #expect(descriptor.temporalIndex == number, "\(test)")
                case "vp8_header.keyIdx": #expect(descriptor.keyFrameIndex == number, "\(test)")
                case "vp8_header.pictureId":
                    #expect(descriptor.pictureID == (words[1] == "kNoPictureId" ? nil : .long(0x1234)), "\(test)")
                default: break
                }
            }
        }
        #expect(seen == ["TooShortHeader", "BasicHeader", "TwoBytePictureID", "MultipleExtensions"])
    }

    /// The sizes of libwebrtc's packets beside those of their payloads.
    @Test func `VP8 descriptors are as long as libwebrtc's`() throws {
        var layers = VP8PayloadDescriptor()
        layers.baseLayerPictureIndex = 117
        layers.temporalIndex = 2
        var keys = VP8PayloadDescriptor()
        keys.temporalIndex = 1
        keys.keyFrameIndex = 5
        let sizes = ["Tl0PicIdxAndTID": layers.size, "TIDAndKeyIdx": keys.size]
        for content in try Fixture.cases("vp8/libwebrtc-rtp_format_vp8_unittest.json") {
            let test = try #require(content["test"] as? String)
            let assignment = try #require((content["assignments"] as? [String])?.first)
            let size = try #require(sizes[test])
            #expect(assignment.hasSuffix("helper.payload_size() + \(size)}"), "\(test)")
        }
    }

    // MARK: Digits

    /// RFC 4733 §5, table 5, and the packet of figure 3 bit by bit.
    @Test func `the digits of the RFC's example are heard once each`() throws {
        let text = try #require(Fixture.object("dtmf/rfc4733-examples.json")["text"] as? String)
        let table = try #require(text.range(of: "Table 5: Example")).lowerBound
        let cells = text[..<table].split(separator: "\n").map { line in
            line.split(separator: "|").map { $0.filter { $0 != " " && $0 != "\"" } }
        }
        let session = RTPSession(configuration: SimulatedCall.configuration(.audio, seed: 1))
        var pool = PacketPool()
        var actions: [RTPSession.Action] = []
        session.setReceivePayloads(SimulatedCall.audioFormats)
        session.setDirections(sends: false, receives: true, at: .zero, pool: &pool, actions: &actions)
        var packets: [[UInt8]] = []
        for row in cells where row.count == 9 && row[2] == "RTP" {
            let numbers = row.map { Int($0) ?? 0 }
            let packet = pool.take()
            RTPHeader(
                marker: numbers[3] == 1, payloadType: 101, sequenceNumber: SequenceNumber(UInt16(numbers[5])),
                timestamp: RTPTimestamp(UInt32(numbers[4])), ssrc: SSRC(0x5234A8)
            ).write(to: packet)
            let payload = [
                UInt8(numbers[6]), UInt8(numbers[8] << 7 | 20), UInt8(numbers[7] >> 8), UInt8(numbers[7] & 0xFF),
            ]
            packet.append(payload.span.bytes)
            packets.append([UInt8](copying: packet.bytes))
            session.receiveRTP(
                packet, at: .zero + .milliseconds(numbers[1]), pool: &pool, actions: &actions)
        }

        #expect(packets.count == 14)
        // Figure 3, with the payload type that this session has.
        #expect(packets.contains([UInt8](hexadecimal: "8065" + "0012" + "00002bc0" + "005234a8" + "019406e0") ?? []))
        let digits = actions.compactMap { action -> Character? in
            if case .digit(let event) = action { event.key } else { nil }
        }
        #expect(String(digits) == "911")
    }
}
