/// Bytes that the grammar names (RFC 3261 §25.1).
enum Character8 {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let percent: UInt8 = 0x25
    static let ampersand: UInt8 = 0x26
    static let asterisk: UInt8 = 0x2A
    static let comma: UInt8 = 0x2C
    static let slash: UInt8 = 0x2F
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let lessThan: UInt8 = 0x3C
    static let equals: UInt8 = 0x3D
    static let greaterThan: UInt8 = 0x3E
    static let questionMark: UInt8 = 0x3F
    static let at: UInt8 = 0x40
    static let openBracket: UInt8 = 0x5B
    static let backslash: UInt8 = 0x5C
    static let closeBracket: UInt8 = 0x5D
}

extension UInt8 {
    /// The lower-case letter for an ASCII capital, any other byte as it is.
    var lowercased: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }

    var isBlank: Bool { self == Character8.space || self == Character8.tab }
    var isDigit: Bool { (0x30...0x39).contains(self) }

    var isAlphanumeric: Bool {
        isDigit || (0x61...0x7A).contains(self | 0x20)
    }

    /// Whether RFC 3261's `token` may hold it.
    var isToken: Bool {
        // One bit a character: digits and !%'*+-. below 64, letters and _`~ above.
        let bits: UInt64 = self < 64 ? 0x03FF_6CA2_0000_0000 : 0x47FF_FFFF_87FF_FFFE
        return self < 128 && bits >> UInt64(self & 63) & 1 == 1
    }

    /// Whether a URI's scheme may hold it (RFC 3986 §3.1).
    var isSchemeCharacter: Bool {
        isAlphanumeric || self == 0x2B || self == 0x2D || self == 0x2E
    }

    /// Whether it must be escaped in every part of a URI: controls, the space, quotes and angle brackets.
    var isBarredFromURI: Bool {
        let bits: UInt64 = self < 64 ? 0x5000_0005_FFFF_FFFF : 0x8000_0000_0000_0000
        return self < 128 && bits >> UInt64(self & 63) & 1 == 1
    }

    var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

extension String {
    func contains(byte: UInt8) -> Bool {
        let bytes = utf8.span
        for index in 0..<bytes.count where bytes[index] == byte { return true }
        return false
    }

    /// Compares without regard to the case of ASCII letters.
    func equalsIgnoringCase(_ other: String) -> Bool {
        let left = utf8.span
        let right = other.utf8.span
        guard left.count == right.count else { return false }
        for index in 0..<left.count where left[index].lowercased != right[index].lowercased { return false }
        return true
    }

    /// With spaces for line ends.
    var onOneLine: String {
        guard contains(byte: Character8.lineFeed) || contains(byte: Character8.carriageReturn) else { return self }
        let bytes = utf8.map { $0 == Character8.lineFeed || $0 == Character8.carriageReturn ? Character8.space : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    func hashIgnoringCase(into hasher: inout Hasher) {
        for byte in utf8 { hasher.combine(byte.lowercased) }
    }

    /// As a quoted string (RFC 3261 §25.1).
    var quoted: String {
        var bytes: [UInt8] = [Character8.quote]
        for byte in utf8 {
            if byte == Character8.quote || byte == Character8.backslash { bytes.append(Character8.backslash) }
            bytes.append(byte)
        }
        bytes.append(Character8.quote)
        return String(decoding: bytes, as: UTF8.self)
    }

    var quotedUnlessToken: String {
        !isEmpty && utf8.allSatisfy(\.isToken) ? self : quoted
    }

    /// Without quotes and backslashes, if it is a quoted string.
    var unquoted: String {
        guard utf8.count >= 2, utf8.first == Character8.quote, utf8.last == Character8.quote else { return self }
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in utf8.dropFirst().dropLast() {
            if byte == Character8.backslash, !isEscaped {
                isEscaped = true
            } else {
                bytes.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
