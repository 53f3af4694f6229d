import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `RTCP` {
    /// What each file says about its packet types, kept beside the name of the file.
    private static let tables = [
        "application_defined", "full_intra_request", "goodbye", "picture_loss_indication",
        "rapid_resynchronization_request", "receiver_report", "sender_report", "slice_loss_indication",
        "source_description", "transport_layer_nack",
    ]

    @Test(arguments: tables)
    func `agrees with another stack on what can be read`(table: String) throws {
        var seen = 0
        for row in try Fixture.cases("rtcp-pion/\(table).json") {
            guard let test = row["test"] as? String, test.hasSuffix("Unmarshal"),
                let content = row["case"] as? [String: Any],
                var bytes = (content["Data"] as? String).flatMap({ [UInt8](hexadecimal: $0) })
            else { continue }
            seen += 1
            // The readers these rows are for do not look at the length, and it is often wrong.
            if bytes.count % 4 == 0 { bytes[3] = UInt8(bytes.count / 4 - 1) }
            let name = content["Name"] as? String ?? ""
            let error = content["WantError"] as? String
            let verdict = Result { try bytes.parsedReports() }
            switch (error, verdict) {
            case (nil, .success(let packets)): #expect(!packets.isEmpty, "\(table): \(name)")
            case (nil, .failure(let failure)): Issue.record("\(table): \(name) was refused: \(failure)")
            case (.some("errWrongType"), _): break  // Another packet type than the one that table reads.
            case (.some, .failure): break
            case (.some(let error), .success(let packets)):
                Issue.record("\(table): \(name) should fail with \(error): \(packets)")
            }
        }
        #expect(seen > 0)
    }

    @Test func `reads the fields of a sender report`() throws {
        let bytes = try #require(
            [UInt8](
                hexadecimal:
                    "80c800062b7ec0c5e020a2a952a53fc02e48a552000000460000121d81ca00062b7ec0c501104c6349667a586f6e446f7264536557360000"
            ))
        let packets = try bytes.parsedReports()

        #expect(
            packets.first
                == .senderReport(
                    SenderReport(
                        ssrc: SSRC(729_727_173), time: NTPTimestamp(rawValue: 16_150_087_111_870_332_864),
                        timestamp: RTPTimestamp(776_512_850), packetCount: 70, octetCount: 4637, blocks: [])))
        #expect(
            packets.last
                == .sourceDescription(SourceDescription(ssrc: SSRC(729_727_173), canonicalName: "LcIfzXonDordSeW6")))
    }

    @Test(arguments: [
        ("rtcp_bye_no_sources.bin", true), ("rtcp_bye_padding.bin", true), ("rtcp_psfb_pli.bin", true),
        ("rtcp_sdes.bin", true), ("rtcp_psfb_invalid.bin", false), ("rtcp_sdes_item_truncated.bin", false),
        ("rtcp_sdes_source_truncated.bin", false),
    ])
    func `accepts and refuses whole files`(file: String, isGood: Bool) throws {
        let bytes = try Fixture.bytes("rtcp/" + file)
        if isGood {
            let packets = try bytes.parsedReports()
            #expect(packets.count == 1)
            if !file.contains("padding") { #expect(packets[0].written == bytes) }
        } else {
            #expect(throws: RTCPParseError.self) { try bytes.parsedReports() }
        }
    }

    static let examples: [RTCPPacket] = [
        .senderReport(
            SenderReport(
                ssrc: SSRC(1), time: NTPTimestamp(rawValue: 0x0102_0304_0506_0708), timestamp: RTPTimestamp(9),
                packetCount: 10, octetCount: 11,
                blocks: [
                    ReportBlock(
                        ssrc: SSRC(2), fractionLost: 3, cumulativeLost: -4, extendedHighestSequenceNumber: 5, jitter: 6,
                        lastSenderReport: 7, delaySinceLastSenderReport: 8)
                ])),
        .receiverReport(ReceiverReport(ssrc: SSRC(1), blocks: [])),
        .sourceDescription(SourceDescription(ssrc: SSRC(1), canonicalName: "somebody")),
        .sourceDescription(SourceDescription(ssrc: SSRC(1), canonicalName: "abc")),
        .goodbye(Goodbye(sources: [SSRC(1), SSRC(2)], reason: Array("so long".utf8))),
        .applicationDefined(ApplicationDefined(subtype: 5, ssrc: SSRC(1), name: 0x4142_4344, data: [1, 2, 3, 4])),
        .extendedReport(
            ExtendedReport(
                ssrc: SSRC(1), receiverReferenceTime: NTPTimestamp(rawValue: 77),
                lastReports: [.init(ssrc: SSRC(2), lastReceiverReport: 3, delaySinceLastReceiverReport: 4)])),
        .negativeAcknowledgement(
            NegativeAcknowledgement(
                sender: SSRC(1), media: SSRC(2), missing: [65530, 65534, 3, 40].map { SequenceNumber($0) })),
        .pictureLossIndication(PictureLossIndication(sender: SSRC(1), media: SSRC(2))),
        .fullIntraRequest(FullIntraRequest(sender: SSRC(1), entries: [.init(media: SSRC(2), sequenceNumber: 200)])),
        .temporaryMaximumBitrateRequest(
            TemporaryMaximumBitrate(
                sender: SSRC(1), entries: [.init(media: SSRC(2), bitsPerSecond: 131_071 << 3, overhead: 40)])),
        .temporaryMaximumBitrateNotification(TemporaryMaximumBitrate(sender: SSRC(1), entries: [])),
        .receiverEstimatedMaximumBitrate(
            ReceiverEstimatedMaximumBitrate(sender: SSRC(1), bitsPerSecond: 250_000 << 2, sources: [SSRC(2), SSRC(3)])),
        .transportFeedback(
            TransportFeedback(
                sender: SSRC(1), media: SSRC(2), base: SequenceNumber(65530), referenceTime: -5, feedbackCount: 6,
                arrivals: [.received(delta: 4), .lost, .received(delta: -300), .received(delta: 255)]
                    + Array(repeating: .lost, count: 20) + [.received(delta: 256)])),
    ]

    @Test(arguments: examples)
    func `whatever is written is read again`(packet: RTCPPacket) throws {
        let bytes = packet.written
        #expect(bytes.count % 4 == 0)
        #expect(try bytes.parsedReports() == [packet])
    }

    @Test func `a compound packet is read whole, and up to its fault`() throws {
        let bytes = Self.examples.flatMap(\.written)
        #expect(try bytes.parsedReports() == Self.examples)

        var packets: [RTCPPacket] = []
        let broken = Self.examples[0].written + [0x80, 0xC9, 0, 9, 0, 0, 0, 1]
        #expect(throws: RTCPParseError.tooShort) { try broken.parseReports(into: &packets) }
        #expect(packets == [Self.examples[0]])
    }

    @Test func `transport feedback reads as in another stack`() throws {
        let bytes = try #require([UInt8](hexadecimal: "afcd0006fa17fa17193dd8bb0001000e10636d00ba00100c0c100003"))
        guard case .transportFeedback(let feedback) = try bytes.parsedReports().first else {
            Issue.record("no transport feedback")
            return
        }
        #expect(feedback.sender == SSRC(4_195_875_351))
        #expect(feedback.base == SequenceNumber(1))
        #expect(feedback.referenceTime == 1_074_029)
        #expect(feedback.arrivals.count == 14)
        #expect(
            feedback.arrivals.prefix(5) == [
                .received(delta: 16), .received(delta: 12), .received(delta: 12), .lost, .received(delta: 16),
            ])
    }

    @Test func `a rate beyond all numbers is clamped`() throws {
        let bytes = try #require(
            [UInt8](hexadecimal: "8fce00050000000100000000" + "52454d42" + "01ffffff" + "00000002"))
        guard case .receiverEstimatedMaximumBitrate(let estimate) = try bytes.parsedReports().first else {
            Issue.record("no estimate")
            return
        }
        #expect(estimate.bitsPerSecond == .max)
    }

    @Test func `missing packets become as few entries as hold them`() {
        let missing = [10, 11, 26, 27, 65535].map { SequenceNumber($0) }
        let feedback = NegativeAcknowledgement(sender: SSRC(1), media: SSRC(2), missing: missing)
        #expect(feedback.entries.count == 3)
        #expect(feedback.missing == missing)
    }
}
