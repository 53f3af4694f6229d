package import OffhookBasics

extension RTCPPacket {
    /// Appends the packet; nothing is appended where it does not fit the buffer any more, and the result is false.
    @discardableResult
    package func write(to buffer: PacketBuffer) -> Bool {
        var writer = ByteWriter(reserving: 256)
        let head: (type: UInt8, count: UInt8)
        switch self {
        case .senderReport(let report):
            head = (200, UInt8(min(31, report.blocks.count)))
            writer.write(report.ssrc.rawValue)
            writer.write(report.time.rawValue)
            writer.write(report.timestamp.rawValue)
            writer.write(report.packetCount)
            writer.write(report.octetCount)
            Self.write(report.blocks, to: &writer)
        case .receiverReport(let report):
            head = (201, UInt8(min(31, report.blocks.count)))
            writer.write(report.ssrc.rawValue)
            Self.write(report.blocks, to: &writer)
        case .sourceDescription(let description):
            head = (202, UInt8(min(31, description.chunks.count)))
            Self.write(description, to: &writer)
        case .goodbye(let goodbye):
            head = (203, UInt8(min(31, goodbye.sources.count)))
            for source in goodbye.sources.prefix(31) { writer.write(source.rawValue) }
            if !goodbye.reason.isEmpty {
                writer.write(UInt8(min(255, goodbye.reason.count)))
                writer.write(goodbye.reason.prefix(255))
                Self.fillWord(&writer)
            }
        case .applicationDefined(let content):
            head = (204, content.subtype & 0x1F)
            writer.write(content.ssrc.rawValue)
            writer.write(content.name)
            writer.write(content.data)
            Self.fillWord(&writer)
        case .extendedReport(let report):
            head = (207, 0)
            Self.write(report, to: &writer)
        case .negativeAcknowledgement(let feedback):
            head = (205, 1)
            Self.write(feedback.sender, feedback.media, to: &writer)
            for entry in feedback.entries {
                writer.write(entry.packet.rawValue)
                writer.write(entry.following)
            }
        case .pictureLossIndication(let feedback):
            head = (206, 1)
            Self.write(feedback.sender, feedback.media, to: &writer)
        case .fullIntraRequest(let request):
            head = (206, 4)
            Self.write(request.sender, SSRC(0), to: &writer)
            for entry in request.entries {
                writer.write(entry.media.rawValue)
                writer.write(UInt32(entry.sequenceNumber) << 24)
            }
        case .temporaryMaximumBitrateRequest(let content):
            head = (205, 3)
            Self.write(content, to: &writer)
        case .temporaryMaximumBitrateNotification(let content):
            head = (205, 4)
            Self.write(content, to: &writer)
        case .receiverEstimatedMaximumBitrate(let content):
            head = (206, 15)
            Self.write(content, to: &writer)
        case .transportFeedback(let feedback):
            head = (205, 15)
            feedback.write(to: &writer)
            Self.fillWord(&writer)
        case .other(let type, let format):
            head = (type, format & 0x1F)
        }
        guard buffer.count + 4 + writer.bytes.count <= PacketBuffer.capacity - Self.tailRoom else { return false }
        buffer.append(0x80 | head.count)
        buffer.append(head.type)
        buffer.appendBigEndian(UInt16(truncatingIfNeeded: writer.bytes.count / 4))
        buffer.append(writer.bytes.span.bytes)
        return true
    }

    /// What SRTCP may append: index, master key identifier and tag.
    private static let tailRoom = 64

    private static func write(_ sender: SSRC, _ media: SSRC, to writer: inout ByteWriter) {
        writer.write(sender.rawValue)
        writer.write(media.rawValue)
    }

    private static func write(_ blocks: [ReportBlock], to writer: inout ByteWriter) {
        for block in blocks.prefix(31) {
            writer.write(block.ssrc.rawValue)
            writer.write(block.fractionLost)
            writer.writeUInt24(UInt32(bitPattern: min(0x7F_FFFF, max(-0x80_0000, block.cumulativeLost))))
            writer.write(block.extendedHighestSequenceNumber)
            writer.write(block.jitter)
            writer.write(block.lastSenderReport)
            writer.write(block.delaySinceLastSenderReport)
        }
    }

    private static func write(_ description: SourceDescription, to writer: inout ByteWriter) {
        for chunk in description.chunks.prefix(31) {
            writer.write(chunk.ssrc.rawValue)
            for item in chunk.items {
                writer.write(item.type)
                writer.write(UInt8(min(255, item.value.count)))
                writer.write(item.value.prefix(255))
            }
            writer.write(UInt8(0))
            fillWord(&writer)
        }
    }

    private static func write(_ report: ExtendedReport, to writer: inout ByteWriter) {
        writer.write(report.ssrc.rawValue)
        if let time = report.receiverReferenceTime {
            writer.write(UInt32(0x0400_0002))
            writer.write(time.rawValue)
        }
        if !report.lastReports.isEmpty {
            writer.write(UInt16(0x0500))
            writer.write(UInt16(truncatingIfNeeded: report.lastReports.count * 3))
            for last in report.lastReports {
                writer.write(last.ssrc.rawValue)
                writer.write(last.lastReceiverReport)
                writer.write(last.delaySinceLastReceiverReport)
            }
        }
    }

    private static func write(_ content: TemporaryMaximumBitrate, to writer: inout ByteWriter) {
        write(content.sender, SSRC(0), to: &writer)
        for entry in content.entries {
            let (mantissa, exponent) = split(entry.bitsPerSecond, mantissaBits: 17)
            writer.write(entry.media.rawValue)
            writer.write(exponent << 26 | mantissa << 9 | UInt32(min(0x1FF, max(0, entry.overhead))))
        }
    }

    private static func write(_ content: ReceiverEstimatedMaximumBitrate, to writer: inout ByteWriter) {
        let (mantissa, exponent) = split(content.bitsPerSecond, mantissaBits: 18)
        write(content.sender, SSRC(0), to: &writer)
        writer.write(ReceiverEstimatedMaximumBitrate.name)
        writer.write(UInt32(min(255, content.sources.count)) << 24 | exponent << 18 | mantissa)
        for source in content.sources.prefix(255) { writer.write(source.rawValue) }
    }

    private static func split(_ bitsPerSecond: Int, mantissaBits: Int) -> (mantissa: UInt32, exponent: UInt32) {
        let rate = max(0, bitsPerSecond)
        let exponent = max(0, Int.bitWidth - rate.leadingZeroBitCount - mantissaBits)
        return (UInt32(rate >> exponent), UInt32(exponent))
    }

    private static func fillWord(_ writer: inout ByteWriter) {
        while writer.bytes.count % 4 != 0 { writer.write(UInt8(0)) }
    }
}

extension ReceiverEstimatedMaximumBitrate {
    /// `REMB`
    static let name: UInt32 = 0x5245_4D42
}
