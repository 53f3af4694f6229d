/// Base64 by RFC 4648 §4.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 {
                for shift in [18, 12, 6, 0] as [UInt32] { text.append(alphabet[Int(group >> shift & 63)]) }
                (group, held) = (0, 0)
            }
        }
        if held > 0 {
            group <<= UInt32(8 * (3 - held))
            for shift in ([18, 12, 6] as [UInt32]).prefix(held + 1) { text.append(alphabet[Int(group >> shift & 63)]) }
            text.append(contentsOf: repeatElement(padding, count: 3 - held))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for anything outside the alphabet; padding may be left out, as some peers do with keys.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var symbols = Array(text.utf8)
        var padded = 0
        while symbols.last == padding, padded < 2 {
            symbols.removeLast()
            padded += 1
        }
        guard symbols.count % 4 != 1, padded == 0 || (symbols.count + padded) % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(symbols.count * 3 / 4)
        var group: UInt32 = 0
        var bits: UInt32 = 0
        for symbol in symbols {
            guard let value = value(symbol) else { return nil }
            group = group << 6 | value
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        return bytes
    }

    private static func value(_ symbol: UInt8) -> UInt32? {
        switch symbol {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(symbol) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(symbol) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(symbol) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
