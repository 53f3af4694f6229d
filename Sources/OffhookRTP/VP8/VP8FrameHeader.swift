internal import OffhookBasics

/// The first bytes of an encoded VP8 frame (RFC 6386 §9.1).
package struct VP8FrameHeader: Hashable, Sendable {
    package let isKeyFrame: Bool
    package let isShown: Bool
    /// Of key frames alone; nil as well where a key frame's start code is wrong.
    package let size: Size?

    package struct Size: Hashable, Sendable {
        package let width: Int
        package let height: Int
    }

    /// Nil where there are not enough bytes for a header.
    package init?(parsing frame: RawSpan) {
        var reader = ByteReader(frame)
        guard let first = reader.readUInt8(), reader.skip(2) else { return nil }
        isKeyFrame = first & 0x01 == 0
        isShown = first & 0x10 != 0
        guard isKeyFrame else {
            size = nil
            return
        }
        guard reader.readUInt24() == 0x9D012A, let width = reader.readUInt16(), let height = reader.readUInt16() else {
            size = nil
            return
        }
        // Little-endian, with two bits of scaling above each.
        size = Size(width: Int(width.byteSwapped & 0x3FFF), height: Int(height.byteSwapped & 0x3FFF))
    }
}
