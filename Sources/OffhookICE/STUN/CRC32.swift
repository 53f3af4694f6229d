internal import OffhookBasics

/// The checksum of ITU V.42, which FINGERPRINT uses (RFC 8489 §14.7).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }

    static func checksum(of bytes: RawSpan) -> UInt32 {
        var value = UInt32.max
        let table = table
        for offset in 0..<bytes.byteCount {
            value = value >> 8 ^ table[Int((value ^ UInt32(bytes.loadByte(at: offset))) & 0xFF)]
        }
        return ~value
    }
}
