internal import OffhookBasics

/// Writes the header extensions that a line agreed on (RFC 8285).
struct HeaderExtensionWriter {
    private static let longestIdentification = 16

    private var identifiers = HeaderExtensionIdentifiers()
    private var mediaIdentification: [UInt8] = []

    mutating func set(_ identifiers: HeaderExtensionIdentifiers, mediaIdentification: String?) {
        self.identifiers = identifiers
        self.mediaIdentification = Array((mediaIdentification ?? "").utf8.prefix(Self.longestIdentification))
    }

    /// Appends the extension block after a fixed header, and marks it there; appends nothing where none was agreed on.
    func append(to buffer: PacketBuffer, time: NTPTimestamp, transportSequence: inout UInt16) {
        let identification = mediaIdentification.isEmpty ? nil : Self.valid(identifiers.mediaIdentification)
        let sendTime = Self.valid(identifiers.absoluteSendTime)
        let sequence = Self.valid(identifiers.transportSequenceNumber)
        let highest = max(identification ?? 0, sendTime ?? 0, sequence ?? 0)
        guard highest > 0 else { return }
        // Two-byte elements only where an identifier needs them.
        let isLong = highest > 14
        buffer[0] |= 0x10
        buffer.appendBigEndian(UInt16(isLong ? 0x1000 : 0xBEDE))
        let lengthOffset = buffer.count
        buffer.appendBigEndian(UInt16(0))
        if let identification {
            Self.head(identification, length: mediaIdentification.count, isLong: isLong, to: buffer)
            buffer.append(mediaIdentification.span.bytes)
        }
        if let sendTime {
            Self.head(sendTime, length: 3, isLong: isLong, to: buffer)
            let value = Self.absoluteSendTime(time)
            buffer.append(UInt8(value >> 16))
            buffer.appendBigEndian(UInt16(truncatingIfNeeded: value))
        }
        if let sequence {
            Self.head(sequence, length: 2, isLong: isLong, to: buffer)
            buffer.appendBigEndian(transportSequence)
            transportSequence &+= 1
        }
        while (buffer.count - lengthOffset) % 4 != 2 { buffer.append(0) }
        let words = (buffer.count - lengthOffset - 2) / 4
        buffer[lengthOffset] = UInt8(truncatingIfNeeded: words >> 8)
        buffer[lengthOffset + 1] = UInt8(truncatingIfNeeded: words)
    }

    /// 24 bits, 6.18 fixed point seconds.
    static func absoluteSendTime(_ time: NTPTimestamp) -> UInt32 {
        UInt32(truncatingIfNeeded: time.rawValue >> 14) & 0xFF_FFFF
    }

    private static func valid(_ identifier: UInt8?) -> UInt8? {
        identifier.flatMap { $0 == 0 || $0 == 15 ? nil : $0 }
    }

    private static func head(_ identifier: UInt8, length: Int, isLong: Bool, to buffer: PacketBuffer) {
        if isLong {
            buffer.append(identifier)
            buffer.append(UInt8(length))
        } else {
            buffer.append(identifier << 4 | UInt8(length - 1))
        }
    }
}
