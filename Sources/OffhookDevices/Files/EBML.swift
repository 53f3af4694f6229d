/// Elements of EBML, which WebM is made of (RFC 8794): an identifier, a length, and the content.
enum EBML {
    /// An element with its content. Identifiers are written with their marker bits, as RFC 9559 lists them.
    static func element(_ identifier: UInt32, _ content: [UInt8]) -> [UInt8] {
        bytes(ofIdentifier: identifier) + length(content.count) + content
    }

    static func unsigned(_ identifier: UInt32, _ value: UInt64) -> [UInt8] {
        element(identifier, bigEndian(value))
    }

    static func float(_ identifier: UInt32, _ value: Double) -> [UInt8] {
        element(identifier, (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (56 - 8 * UInt64($0))) })
    }

    static func text(_ identifier: UInt32, _ value: String) -> [UInt8] {
        element(identifier, Array(value.utf8))
    }

    /// An element that says nothing and is `size` bytes long altogether: 2 to 129 or 9 and more.
    static func void(size: Int) -> [UInt8] {
        guard size >= 9 else { return element(0xEC, [UInt8](repeating: 0, count: max(0, size - 2))) }
        return [0xEC] + longLength(size - 9) + [UInt8](repeating: 0, count: size - 9)
    }

    static func bytes(ofIdentifier identifier: UInt32) -> [UInt8] {
        bigEndian(UInt64(identifier))
    }

    /// A length in as few bytes as it takes; all bits set would mean that it is not known.
    static func length(_ count: Int) -> [UInt8] {
        var size = 1
        while size < 8, count >= (1 << (7 * size)) - 1 { size += 1 }
        let marked = UInt64(count) | 1 << UInt64(7 * size)
        return (0..<size).map { UInt8(truncatingIfNeeded: marked >> UInt64(8 * (size - 1 - $0))) }
    }

    /// A length in eight bytes, which can be put right later.
    static func longLength(_ count: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: (UInt64(count) | 1 << 56) >> UInt64(8 * (7 - $0))) }
    }

    /// What stands for a length that is not known yet.
    static let unknownLength: [UInt8] = [0x01] + [UInt8](repeating: 0xFF, count: 7)

    /// A number, highest byte first, in as few bytes as it takes.
    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        let size = max(1, (64 - value.leadingZeroBitCount + 7) / 8)
        return (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (size - 1 - $0))) }
    }
}
