internal import OffhookBasics

extension RTCPPacket {
    /// Reads the packets of a compound or a reduced-size packet (RFC 3550 §6.1, RFC 5506).
    ///
    /// Those before a fault stay in the list.
    package static func parse(_ bytes: RawSpan, into packets: inout [RTCPPacket]) throws(RTCPParseError) {
        guard bytes.byteCount >= 4 else { throw .tooShort }
        var reader = ByteReader(bytes)
        while reader.remaining > 0 {
            guard let first = reader.readUInt8(), let type = reader.readUInt8(), let words = reader.readUInt16() else {
                throw .tooShort
            }
            guard first >> 6 == 2 else { throw .badVersion }
            guard let whole = reader.readSpan(Int(words) * 4) else { throw .tooShort }
            var body = whole
            if first & 0x20 != 0 {
                guard body.byteCount > 0 else { throw .badPadding }
                let padding = Int(body.loadByte(at: body.byteCount - 1))
                guard padding >= 1, padding <= body.byteCount else { throw .badPadding }
                body = body.extracting(0..<body.byteCount - padding)
            }
            let count = first & 0x1F
            guard let packet = parse(type: type, count: count, body: body, whole: whole) else { throw .malformed }
            packets.append(packet)
        }
    }

    /// `whole` has the padding too: what tells its own length is read from it, since some senders count padding
    /// wrongly.
    private static func parse(type: UInt8, count: UInt8, body: RawSpan, whole: RawSpan) -> RTCPPacket? {
        switch (type, count) {
        case (200, _): parseSenderReport(count: count, body: body)
        case (201, _): parseReceiverReport(count: count, body: body)
        case (202, _): parseSourceDescription(count: count, body: body)
        case (203, _): parseGoodbye(count: count, body: body)
        case (204, _): parseApplicationDefined(subtype: count, body: body)
        case (205, 1): parseNegativeAcknowledgement(body)
        case (205, 3): parseTemporaryMaximumBitrate(body).map { .temporaryMaximumBitrateRequest($0) }
        case (205, 4): parseTemporaryMaximumBitrate(body).map { .temporaryMaximumBitrateNotification($0) }
        case (205, 15): TransportFeedback(parsing: whole).map { .transportFeedback($0) }
        case (206, 1): parsePictureLossIndication(body)
        case (206, 4): parseFullIntraRequest(body)
        case (206, 15): parseApplicationLayerFeedback(body)
        case (205...206, _): body.byteCount >= 8 ? .other(type: type, format: count) : nil
        case (207, _): parseExtendedReport(body)
        default: .other(type: type, format: count)
        }
    }

    // MARK: Reports

    private static func readBlocks(_ count: UInt8, from reader: inout ByteReader) -> [ReportBlock]? {
        guard reader.remaining >= Int(count) * 24 else { return nil }
        var blocks: [ReportBlock] = []
        blocks.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let ssrc = reader.readUInt32(), let fraction = reader.readUInt8(), let lost = reader.readUInt24(),
                let highest = reader.readUInt32(), let jitter = reader.readUInt32(), let last = reader.readUInt32(),
                let delay = reader.readUInt32()
            else { return nil }
            blocks.append(
                ReportBlock(
                    ssrc: SSRC(ssrc), fractionLost: fraction, cumulativeLost: Int32(bitPattern: lost << 8) >> 8,
                    extendedHighestSequenceNumber: highest, jitter: jitter, lastSenderReport: last,
                    delaySinceLastSenderReport: delay))
        }
        return blocks
    }

    private static func parseSenderReport(count: UInt8, body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        guard let ssrc = reader.readUInt32(), let time = reader.readUInt64(), let timestamp = reader.readUInt32(),
            let packets = reader.readUInt32(), let octets = reader.readUInt32(),
            let blocks = readBlocks(count, from: &reader)
        else { return nil }
        return .senderReport(
            SenderReport(
                ssrc: SSRC(ssrc), time: NTPTimestamp(rawValue: time), timestamp: RTPTimestamp(timestamp),
                packetCount: packets, octetCount: octets, blocks: blocks))
    }

    private static func parseReceiverReport(count: UInt8, body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        guard let ssrc = reader.readUInt32(), let blocks = readBlocks(count, from: &reader) else { return nil }
        return .receiverReport(ReceiverReport(ssrc: SSRC(ssrc), blocks: blocks))
    }

    private static func parseSourceDescription(count: UInt8, body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        var chunks: [SourceDescription.Chunk] = []
        for _ in 0..<count {
            guard let ssrc = reader.readUInt32() else { return nil }
            var items: [SourceDescription.Item] = []
            while true {
                guard let type = reader.readUInt8() else { return nil }
                if type == 0 { break }
                guard let length = reader.readUInt8(), let value = reader.readSpan(Int(length)) else { return nil }
                items.append(SourceDescription.Item(type: type, value: [UInt8](copying: value)))
            }
            // The list ends with at least one null and fills its last word (RFC 3550 §6.5).
            guard reader.skip((4 - reader.offset % 4) % 4) else { return nil }
            chunks.append(SourceDescription.Chunk(ssrc: SSRC(ssrc), items: items))
        }
        return .sourceDescription(SourceDescription(chunks: chunks))
    }

    private static func parseGoodbye(count: UInt8, body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        var sources: [SSRC] = []
        for _ in 0..<count {
            guard let ssrc = reader.readUInt32() else { return nil }
            sources.append(SSRC(ssrc))
        }
        guard let length = reader.readUInt8() else { return .goodbye(Goodbye(sources: sources)) }
        guard let reason = reader.readSpan(Int(length)) else { return nil }
        return .goodbye(Goodbye(sources: sources, reason: [UInt8](copying: reason)))
    }

    private static func parseApplicationDefined(subtype: UInt8, body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        guard let ssrc = reader.readUInt32(), let name = reader.readUInt32(),
            let data = reader.readSpan(reader.remaining)
        else { return nil }
        return .applicationDefined(
            ApplicationDefined(subtype: subtype, ssrc: SSRC(ssrc), name: name, data: [UInt8](copying: data)))
    }

    /// RFC 3611 §4.4 and §4.5; blocks of other types are passed over by their length.
    private static func parseExtendedReport(_ body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        guard let ssrc = reader.readUInt32() else { return nil }
        var report = ExtendedReport(ssrc: SSRC(ssrc))
        while reader.remaining > 0 {
            guard let type = reader.readUInt8(), reader.skip(1), let words = reader.readUInt16(),
                let block = reader.readSpan(Int(words) * 4)
            else { return nil }
            var content = ByteReader(block)
            switch type {
            case 4:
                guard let time = content.readUInt64() else { return nil }
                report.receiverReferenceTime = NTPTimestamp(rawValue: time)
            case 5:
                while let source = content.readUInt32(), let last = content.readUInt32(),
                    let delay = content.readUInt32()
                {
                    report.lastReports.append(
                        ExtendedReport.LastReport(
                            ssrc: SSRC(source), lastReceiverReport: last, delaySinceLastReceiverReport: delay))
                }
            default: break
            }
        }
        return .extendedReport(report)
    }

    // MARK: Feedback

    private static func parseNegativeAcknowledgement(_ body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        guard let sender = reader.readUInt32(), let media = reader.readUInt32() else { return nil }
        var entries: [NegativeAcknowledgement.Entry] = []
        while let packet = reader.readUInt16(), let following = reader.readUInt16() {
            entries.append(.init(packet: SequenceNumber(packet), following: following))
        }
        guard !entries.isEmpty else { return nil }
        return .negativeAcknowledgement(
            NegativeAcknowledgement(sender: SSRC(sender), media: SSRC(media), entries: entries))
    }

    private static func parsePictureLossIndication(_ body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        guard let sender = reader.readUInt32(), let media = reader.readUInt32() else { return nil }
        return .pictureLossIndication(PictureLossIndication(sender: SSRC(sender), media: SSRC(media)))
    }

    private static func parseFullIntraRequest(_ body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        guard let sender = reader.readUInt32(), reader.skip(4) else { return nil }
        var entries: [FullIntraRequest.Entry] = []
        while let media = reader.readUInt32(), let number = reader.readUInt8(), reader.skip(3) {
            entries.append(.init(media: SSRC(media), sequenceNumber: number))
        }
        return entries.isEmpty ? nil : .fullIntraRequest(FullIntraRequest(sender: SSRC(sender), entries: entries))
    }

    private static func parseTemporaryMaximumBitrate(_ body: RawSpan) -> TemporaryMaximumBitrate? {
        var reader = ByteReader(body)
        guard let sender = reader.readUInt32(), reader.skip(4) else { return nil }
        var entries: [TemporaryMaximumBitrate.Entry] = []
        while let media = reader.readUInt32(), let word = reader.readUInt32() {
            let rate = bitrate(mantissa: word >> 9 & 0x1FFFF, exponent: word >> 26)
            entries.append(.init(media: SSRC(media), bitsPerSecond: rate, overhead: Int(word & 0x1FF)))
        }
        return TemporaryMaximumBitrate(sender: SSRC(sender), entries: entries)
    }

    private static func parseApplicationLayerFeedback(_ body: RawSpan) -> RTCPPacket? {
        var reader = ByteReader(body)
        guard let sender = reader.readUInt32(), reader.skip(4) else { return nil }
        guard let name = reader.readUInt32(), name == ReceiverEstimatedMaximumBitrate.name else {
            return .other(type: 206, format: 15)
        }
        guard let count = reader.readUInt8(), let high = reader.readUInt8(), let low = reader.readUInt16(),
            reader.remaining >= Int(count) * 4
        else { return nil }
        var sources: [SSRC] = []
        for _ in 0..<count {
            guard let source = reader.readUInt32() else { return nil }
            sources.append(SSRC(source))
        }
        let mantissa = UInt32(high & 0x03) << 16 | UInt32(low)
        return .receiverEstimatedMaximumBitrate(
            ReceiverEstimatedMaximumBitrate(
                sender: SSRC(sender), bitsPerSecond: bitrate(mantissa: mantissa, exponent: UInt32(high >> 2)),
                sources: sources))
    }

    /// Clamped to what an `Int` holds.
    private static func bitrate(mantissa: UInt32, exponent: UInt32) -> Int {
        guard mantissa > 0 else { return 0 }
        guard exponent + UInt32(UInt32.bitWidth - mantissa.leadingZeroBitCount) <= 62 else { return .max }
        return Int(mantissa) << Int(exponent)
    }
}

extension [UInt8] {
    /// The bytes of a span.
    init(copying span: RawSpan) {
        self = span.withUnsafeBytes { [UInt8]($0) }
    }
}
