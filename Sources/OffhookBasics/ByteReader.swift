/// Reads big-endian numbers and runs of bytes from the front of a span, and never past its end.
package struct ByteReader: ~Escapable {
    private let bytes: RawSpan
    /// How many bytes have been read.
    package private(set) var offset = 0

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan) {
        self.bytes = bytes
    }

    package var remaining: Int {
        bytes.byteCount - offset
    }

    package mutating func readUInt8() -> UInt8? {
        guard remaining >= 1 else { return nil }
        defer { offset += 1 }
        return bytes.loadByte(at: offset)
    }

    package mutating func readUInt16() -> UInt16? {
        guard remaining >= 2 else { return nil }
        defer { offset += 2 }
        return UInt16(bytes.loadByte(at: offset)) << 8 | UInt16(bytes.loadByte(at: offset + 1))
    }

    package mutating func readUInt24() -> UInt32? {
        guard remaining >= 3, let high = readUInt8(), let low = readUInt16() else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    package mutating func readUInt32() -> UInt32? {
        guard remaining >= 4, let high = readUInt16(), let low = readUInt16() else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    package mutating func readUInt64() -> UInt64? {
        guard remaining >= 8, let high = readUInt32(), let low = readUInt32() else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    /// The next bytes as a span of their own.
    @_lifetime(copy self)
    package mutating func readSpan(_ count: Int) -> RawSpan? {
        guard count >= 0, remaining >= count else { return nil }
        defer { offset += count }
        return bytes.extracting(offset..<offset + count)
    }

    package mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, remaining >= count else { return false }
        offset += count
        return true
    }
}

extension RawSpan {
    /// One byte; traps outside the span, like any subscript.
    package func loadByte(at offset: Int) -> UInt8 {
        // A byte has no alignment and every bit pattern is one, and the call checks the bounds.
        unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
