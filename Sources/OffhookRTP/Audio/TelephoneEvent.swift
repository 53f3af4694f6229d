/// A named event of RFC 4733: a key press.
package struct TelephoneEvent: Hashable, Sendable {
    /// 0–9, 10 `*`, 11 `#`, 12–15 `A`–`D`, 16 hook flash (RFC 4733 §3.2).
    package var code: UInt8

    package init(code: UInt8) {
        self.code = code
    }

    /// The event of a key; nil where no key is written so.
    package init?(key: Character) {
        guard let index = Self.keys.firstIndex(of: Character(key.uppercased())) else { return nil }
        code = UInt8(index)
    }

    /// How the key is written; nil for events that are no key.
    package var key: Character? {
        code < Self.keys.count ? Self.keys[Int(code)] : nil
    }

    private static let keys: [Character] = Array("0123456789*#ABCD")
}
