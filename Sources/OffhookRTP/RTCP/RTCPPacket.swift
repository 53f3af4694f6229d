/// One packet of RTCP. Reports are few a second, so these are plain values with arrays in them.
package enum RTCPPacket: Hashable, Sendable {
    case senderReport(SenderReport)
    case receiverReport(ReceiverReport)
    case sourceDescription(SourceDescription)
    case goodbye(Goodbye)
    case applicationDefined(ApplicationDefined)
    case extendedReport(ExtendedReport)
    /// RFC 4585 §6.2.1.
    case negativeAcknowledgement(NegativeAcknowledgement)
    /// RFC 4585 §6.3.1.
    case pictureLossIndication(PictureLossIndication)
    /// RFC 5104 §4.3.1.
    case fullIntraRequest(FullIntraRequest)
    /// RFC 5104 §4.2.1.
    case temporaryMaximumBitrateRequest(TemporaryMaximumBitrate)
    /// RFC 5104 §4.2.2.
    case temporaryMaximumBitrateNotification(TemporaryMaximumBitrate)
    /// draft-alvestrand-rmcat-remb.
    case receiverEstimatedMaximumBitrate(ReceiverEstimatedMaximumBitrate)
    /// draft-holmer-rmcat-transport-wide-cc-extensions §3.1.
    case transportFeedback(TransportFeedback)
    /// Well formed, and of a kind that we do not use (SLI, RPSI, TSTR, VBCM, unknown types).
    case other(type: UInt8, format: UInt8)
}

/// Why RTCP could not be read.
package enum RTCPParseError: Error, Hashable, Sendable {
    case tooShort
    case badVersion
    case badPadding
    /// A length or a count that does not fit its content.
    case malformed
}

/// RFC 3550 §6.4.1.
package struct ReportBlock: Hashable, Sendable {
    package var ssrc: SSRC
    /// In 1/256.
    package var fractionLost: UInt8
    /// 24 bits, signed; negative where duplicates outweigh losses.
    package var cumulativeLost: Int32
    package var extendedHighestSequenceNumber: UInt32
    package var jitter: UInt32
    package var lastSenderReport: UInt32
    /// In 1/65536 s.
    package var delaySinceLastSenderReport: UInt32

    package init(
        ssrc: SSRC, fractionLost: UInt8, cumulativeLost: Int32, extendedHighestSequenceNumber: UInt32, jitter: UInt32,
        lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }
}

/// RFC 3550 §6.4.1.
package struct SenderReport: Hashable, Sendable {
    package var ssrc: SSRC
    package var time: NTPTimestamp
    package var timestamp: RTPTimestamp
    package var packetCount: UInt32
    package var octetCount: UInt32
    package var blocks: [ReportBlock]

    package init(
        ssrc: SSRC, time: NTPTimestamp, timestamp: RTPTimestamp, packetCount: UInt32, octetCount: UInt32,
        blocks: [ReportBlock]
    ) {
        self.ssrc = ssrc
        self.time = time
        self.timestamp = timestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
        self.blocks = blocks
    }
}

/// RFC 3550 §6.4.2.
package struct ReceiverReport: Hashable, Sendable {
    package var ssrc: SSRC
    package var blocks: [ReportBlock]

    package init(ssrc: SSRC, blocks: [ReportBlock]) {
        self.ssrc = ssrc
        self.blocks = blocks
    }
}

/// RFC 3550 §6.5.
package struct SourceDescription: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        /// 1 is CNAME, 15 is MID (RFC 8843 §15.2).
        package var type: UInt8
        package var value: [UInt8]

        package init(type: UInt8, value: [UInt8]) {
            self.type = type
            self.value = value
        }
    }

    package struct Chunk: Hashable, Sendable {
        package var ssrc: SSRC
        package var items: [Item]

        package init(ssrc: SSRC, items: [Item]) {
            self.ssrc = ssrc
            self.items = items
        }
    }

    package var chunks: [Chunk]

    package init(chunks: [Chunk]) {
        self.chunks = chunks
    }

    package init(ssrc: SSRC, canonicalName: String) {
        chunks = [Chunk(ssrc: ssrc, items: [Item(type: 1, value: Array(canonicalName.utf8.prefix(255)))])]
    }
}

/// RFC 3550 §6.6.
package struct Goodbye: Hashable, Sendable {
    package var sources: [SSRC]
    package var reason: [UInt8]

    package init(sources: [SSRC], reason: [UInt8] = []) {
        self.sources = sources
        self.reason = reason
    }
}

/// RFC 3550 §6.7.
package struct ApplicationDefined: Hashable, Sendable {
    package var subtype: UInt8
    package var ssrc: SSRC
    /// Four ASCII letters.
    package var name: UInt32
    package var data: [UInt8]

    package init(subtype: UInt8, ssrc: SSRC, name: UInt32, data: [UInt8]) {
        self.subtype = subtype
        self.ssrc = ssrc
        self.name = name
        self.data = data
    }
}

/// RFC 3611: the blocks that measure a receiver's round trip; all others are skipped.
package struct ExtendedReport: Hashable, Sendable {
    /// RFC 3611 §4.5.
    package struct LastReport: Hashable, Sendable {
        package var ssrc: SSRC
        package var lastReceiverReport: UInt32
        package var delaySinceLastReceiverReport: UInt32

        package init(ssrc: SSRC, lastReceiverReport: UInt32, delaySinceLastReceiverReport: UInt32) {
            self.ssrc = ssrc
            self.lastReceiverReport = lastReceiverReport
            self.delaySinceLastReceiverReport = delaySinceLastReceiverReport
        }
    }

    package var ssrc: SSRC
    /// RFC 3611 §4.4: when the receiver sent this.
    package var receiverReferenceTime: NTPTimestamp?
    package var lastReports: [LastReport]

    package init(ssrc: SSRC, receiverReferenceTime: NTPTimestamp? = nil, lastReports: [LastReport] = []) {
        self.ssrc = ssrc
        self.receiverReferenceTime = receiverReferenceTime
        self.lastReports = lastReports
    }
}
