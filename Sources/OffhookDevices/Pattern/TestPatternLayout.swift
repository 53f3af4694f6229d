internal import OffhookBasics

/// How a test picture carries its content: 72 cells, dark for 0 and light for 1, in three rows of 24 along the top, and the
/// same again along the bottom.
///
/// A cell is a twenty-fourth of the picture wide and high, so that it is found at any size, and large enough to outlive
/// coarse coding. The bits are the number (24), the clock (32) and a checksum of both (16), highest first.
enum TestPatternLayout {
    static let columns = 24
    static let rows = 3
    static let dark: UInt8 = 32
    static let light: UInt8 = 224
    /// A bar's height is this part of the picture's.
    static let rowsInPicture = 24

    /// The cells' values, row by row.
    static func bits(of pattern: TestPattern) -> [Bool] {
        let bytes = content(of: pattern)
        let check = checksum(bytes)
        let all = bytes + [UInt8(check >> 8), UInt8(check & 0xFF)]
        return all.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 == 1 } }
    }

    /// What cells say; nil where the checksum does not fit.
    static func pattern(of bits: [Bool]) -> TestPattern? {
        guard bits.count == columns * rows else { return nil }
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        guard checksum(bytes[..<7]) == UInt16(bytes[7]) << 8 | UInt16(bytes[8]) else { return nil }
        return TestPattern(
            frameNumber: bytes[..<3].reduce(0) { $0 << 8 | Int($1) },
            clock: bytes[3..<7].reduce(0) { $0 << 8 | UInt32($1) })
    }

    private static func content(of pattern: TestPattern) -> [UInt8] {
        var writer = ByteWriter(reserving: 9)
        writer.writeUInt24(UInt32(pattern.frameNumber & 0xFF_FFFF))
        writer.write(pattern.clock)
        return writer.bytes
    }

    /// CRC-16 with the polynomial of CCITT.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var check: UInt16 = 0xFFFF
        for byte in bytes {
            check ^= UInt16(byte) << 8
            for _ in 0..<8 { check = check & 0x8000 != 0 ? check << 1 ^ 0x1021 : check << 1 }
        }
        return check
    }
}
