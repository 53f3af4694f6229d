/// Bytes of a number, lowest first, as IVF and WAV have them.
func littleEndianBytes<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
    (0..<MemoryLayout<Integer>.size).map { UInt8(truncatingIfNeeded: value >> Integer($0 * 8)) }
}

extension [UInt8] {
    /// The number at an offset, lowest byte first; 0 beyond the end.
    func littleEndian<Integer: FixedWidthInteger>(at offset: Int, as type: Integer.Type = Integer.self) -> Integer {
        guard offset >= 0, offset + MemoryLayout<Integer>.size <= count else { return 0 }
        return (0..<MemoryLayout<Integer>.size).reduce(0) { $0 | Integer(self[offset + $1]) << Integer($1 * 8) }
    }
}
