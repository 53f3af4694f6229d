internal import OffhookBasics

/// Cuts a TURN connection's bytes into STUN messages and ChannelData (RFC 8656 §12.5), however they arrive.
package struct STUNStreamFramer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    /// Something that is neither came: nothing after it can be told apart.
    package private(set) var isBroken = false

    package init() {}

    package mutating func append(_ more: RawSpan) {
        guard !isBroken else { return }
        if start > 0, start * 2 >= bytes.count {
            bytes.removeFirst(start)
            start = 0
        }
        more.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// The next whole message, without the padding of ChannelData.
    package mutating func next() -> [UInt8]? {
        guard !isBroken, bytes.count - start >= 4 else { return nil }
        let length = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
        let size: Int
        let padding: Int
        switch bytes[start] {
        case 0x00...0x03:
            size = STUNMessage.headerSize + length
            padding = 0
        case 0x40...0x7F:
            size = 4 + length
            padding = -length & 3
        default:
            isBroken = true
            return nil
        }
        guard bytes.count - start >= size + padding else { return nil }
        defer { start += size + padding }
        return Array(bytes[start..<start + size])
    }
}
