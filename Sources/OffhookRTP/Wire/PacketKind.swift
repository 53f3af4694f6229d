internal import OffhookBasics

/// What a datagram on a media port is, told by its first bytes (RFC 7983, RFC 5761 §4).
package enum PacketKind: Hashable, Sendable {
    case stun
    case zrtp
    case dtls
    case turnChannel
    case rtp
    case rtcp
    case unknown

    package init(classifying bytes: RawSpan) {
        guard bytes.byteCount > 0 else {
            self = .unknown
            return
        }
        switch bytes.loadByte(at: 0) {
        case 0...3: self = STUNHeader(parsing: bytes) == nil ? .unknown : .stun
        case 16...19: self = .zrtp
        case 20...63: self = .dtls
        case 64...79: self = .turnChannel
        case 128...191: self = Self.mediaKind(bytes)
        default: self = .unknown
        }
    }

    /// RTCP packet types 192 to 223 lie where RTP would have a marker and a payload type of 64 to 95 (RFC 5761 §4).
    private static func mediaKind(_ bytes: RawSpan) -> PacketKind {
        guard bytes.byteCount >= 2 else { return .unknown }
        if (192...223).contains(bytes.loadByte(at: 1)) {
            return bytes.byteCount >= 4 ? .rtcp : .unknown
        }
        return bytes.byteCount >= RTPHeader.minimumSize ? .rtp : .unknown
    }
}

/// The first 20 bytes of a STUN message (RFC 8489 §5).
package struct STUNHeader: Hashable, Sendable {
    package static let size = 20
    package static let magicCookie: UInt32 = 0x2112_A442

    /// Method and class as they stand on the wire; 0x0001 is a Binding request.
    package let type: UInt16
    /// Bytes of attributes after the header.
    package let length: Int

    /// Nil unless the cookie is there and the length is that of a STUN message of this size.
    package init?(parsing bytes: RawSpan) {
        var reader = ByteReader(bytes)
        guard let type = reader.readUInt16(), type < 0x4000, let length = reader.readUInt16(),
            reader.readUInt32() == Self.magicCookie, bytes.byteCount >= Self.size
        else { return nil }
        guard length % 4 == 0, Self.size + Int(length) == bytes.byteCount else { return nil }
        self.type = type
        self.length = Int(length)
    }

    /// A Binding request, with or without attributes; a bare one is somebody's keep-alive.
    package var isBindingRequest: Bool {
        type == 0x0001
    }
}
