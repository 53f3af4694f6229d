package import OffhookBasics

/// Why a packet is no RTP packet.
package enum RTPParseError: Error, Hashable, Sendable {
    case tooShort
    case badVersion
    case badContributingSources
    case badExtension
    case badPadding
}

/// The header of an RTP packet, and where its parts lie (RFC 3550 §5.1, §5.3.1).
package struct RTPHeader: Hashable, Sendable {
    package static let minimumSize = 12

    package var marker: Bool
    package var payloadType: UInt8
    package var sequenceNumber: SequenceNumber
    package var timestamp: RTPTimestamp
    package var ssrc: SSRC
    package private(set) var contributingSourceCount = 0
    /// `0xBEDE` for one-byte elements, `0x100x` for two-byte ones (RFC 8285 §4); nil without an extension.
    package private(set) var extensionProfile: UInt16?
    /// Where the extension's content lies in the packet, without its four-byte heading.
    package private(set) var extensionRange = 0..<0
    /// Where the payload lies in the packet, without padding.
    package private(set) var payloadRange = 0..<0
    package private(set) var paddingCount = 0

    /// A header to be written, with no contributing sources.
    package init(
        marker: Bool = false, payloadType: UInt8, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, ssrc: SSRC
    ) {
        self.marker = marker
        self.payloadType = payloadType
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
    }

    package init(parsing bytes: RawSpan) throws(RTPParseError) {
        var reader = ByteReader(bytes)
        guard let first = reader.readUInt8(), let second = reader.readUInt8(), let sequence = reader.readUInt16(),
            let timestamp = reader.readUInt32(), let ssrc = reader.readUInt32()
        else { throw .tooShort }
        guard first >> 6 == 2 else { throw .badVersion }
        marker = second & 0x80 != 0
        payloadType = second & 0x7F
        sequenceNumber = SequenceNumber(sequence)
        self.timestamp = RTPTimestamp(timestamp)
        self.ssrc = SSRC(ssrc)

        contributingSourceCount = Int(first & 0x0F)
        guard reader.skip(contributingSourceCount * 4) else { throw .badContributingSources }

        if first & 0x10 != 0 {
            guard let profile = reader.readUInt16(), let words = reader.readUInt16() else { throw .badExtension }
            let start = reader.offset
            guard reader.skip(Int(words) * 4) else { throw .badExtension }
            extensionProfile = profile
            extensionRange = start..<reader.offset
        }

        var end = bytes.byteCount
        if first & 0x20 != 0 {
            let padding = Int(bytes.loadByte(at: end - 1))
            guard padding >= 1, padding <= reader.remaining else { throw .badPadding }
            paddingCount = padding
            end -= padding
        }
        payloadRange = reader.offset..<end
    }

    /// One of the sources that a mixer mixed; nil past the last.
    package func contributingSource(_ index: Int, in bytes: RawSpan) -> SSRC? {
        guard index >= 0, index < contributingSourceCount else { return nil }
        var reader = ByteReader(bytes)
        guard reader.skip(Self.minimumSize + index * 4), let value = reader.readUInt32() else { return nil }
        return SSRC(value)
    }

    /// Calls `body` with the identifier and the place of each extension element.
    ///
    /// Padding is passed over; identifier 15 of the one-byte form and an element that is longer than the block end the
    /// reading, and what was read before them counts (RFC 8285 §4.2, §4.3).
    package func forEachExtensionElement(in bytes: RawSpan, _ body: (_ identifier: UInt8, _ place: Range<Int>) -> Void)
    {
        guard let profile = extensionProfile, extensionRange.upperBound <= bytes.byteCount else { return }
        let usesOneByteForm = profile == 0xBEDE
        guard usesOneByteForm || profile & 0xFFF0 == 0x1000 else { return }
        var offset = extensionRange.lowerBound
        while offset < extensionRange.upperBound {
            let head = bytes.loadByte(at: offset)
            offset += 1
            if head == 0 { continue }
            let identifier: UInt8
            let length: Int
            if usesOneByteForm {
                identifier = head >> 4
                length = Int(head & 0x0F) + 1
                if identifier == 15 { return }
            } else {
                guard offset < extensionRange.upperBound else { return }
                identifier = head
                length = Int(bytes.loadByte(at: offset))
                offset += 1
            }
            guard length <= extensionRange.upperBound - offset else { return }
            // An identifier of 0 that has a length is padding too, though it should not be there.
            if identifier != 0 { body(identifier, offset..<offset + length) }
            offset += length
        }
    }

    /// Where the element with this identifier lies; the first one counts.
    package func extensionElement(_ identifier: UInt8, in bytes: RawSpan) -> Range<Int>? {
        var found: Range<Int>?
        forEachExtensionElement(in: bytes) { candidate, place in
            if candidate == identifier, found == nil { found = place }
        }
        return found
    }

    /// Writes the fixed header; elements and payload are appended after it.
    package func write(to buffer: PacketBuffer) {
        buffer.count = 0
        buffer.append(0x80)
        buffer.append((marker ? 0x80 : 0) | payloadType & 0x7F)
        buffer.appendBigEndian(sequenceNumber.rawValue)
        buffer.appendBigEndian(timestamp.rawValue)
        buffer.appendBigEndian(ssrc.rawValue)
    }
}
