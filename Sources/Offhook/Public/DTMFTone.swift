/// One key of a telephone.
public struct DTMFTone: Hashable, Sendable, CustomStringConvertible {
    /// The event code of RFC 4733 §3.2: 0 to 9, 10 for `*`, 11 for `#`, 12 to 15 for `A` to `D`.
    public let eventCode: UInt8

    private static let keys = Array("0123456789*#ABCD")

    /// Makes the tone of an event code; nil above 15.
    public init?(eventCode: UInt8) {
        guard eventCode < 16 else { return nil }
        self.eventCode = eventCode
    }

    /// Makes the tone of a key, letters in either case; nil for what is no key.
    public init?(_ key: Character) {
        guard let index = Self.keys.firstIndex(where: { String($0) == key.uppercased() }) else { return nil }
        eventCode = UInt8(index)
    }

    /// The key.
    public var key: Character { Self.keys[Int(eventCode)] }

    /// The key as text.
    public var description: String { String(key) }
}
