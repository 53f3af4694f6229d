internal import OffhookBasics

/// How a test picture carries its content: 80 cells, dark for 0 and light for 1, in four rows of 20 along the top, and the
/// same again along the bottom.
///
/// A cell is a twentieth of the picture wide and two forty-fifths high, so that it is found at any size and large enough to
/// outlive coarse coding. At the common sizes its edges are those of VP8's blocks, where changes cost the fewest bits. The
/// bits are the number (24), the clock (40) and a checksum of both (16), highest first.
enum TestPatternLayout {
    static let columns = 20
    static let rows = 4
    static let dark: UInt8 = 48
    static let light: UInt8 = 208

    /// How far down the picture a place in a bar's rows is, 0 to 1.
    static func place(row: Double, isBottom: Bool) -> Double {
        (isBottom ? Double(45 - 2 * rows) + 2 * row : 2 * row) / 45
    }

    /// The picture's row where a bar's row of cells begins; the row after the last gives the bar's end.
    static func firstRow(ofRow row: Int, isBottom: Bool, height: Int) -> Int {
        (isBottom ? 45 - 2 * rows + 2 * row : 2 * row) * height / 45
    }

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
        guard checksum(bytes[..<8]) == UInt16(bytes[8]) << 8 | UInt16(bytes[9]) else { return nil }
        return TestPattern(
            frameNumber: bytes[..<3].reduce(0) { $0 << 8 | Int($1) },
            clock: bytes[3..<8].reduce(0) { $0 << 8 | UInt64($1) })
    }

    private static func content(of pattern: TestPattern) -> [UInt8] {
        var writer = ByteWriter(reserving: 10)
        writer.writeUInt24(UInt32(pattern.frameNumber & 0xFF_FFFF))
        writer.write(UInt8(truncatingIfNeeded: pattern.clock >> 32))
        writer.write(UInt32(truncatingIfNeeded: pattern.clock))
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
