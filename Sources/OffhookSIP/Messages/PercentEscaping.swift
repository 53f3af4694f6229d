/// `%HEXHEX` in URIs (RFC 3261 §19.1.2).
package enum PercentEscaping {
    enum Part {
        case user
        case header

        /// Marks that need no escape here beside letters, digits and those of `unreserved`.
        fileprivate var marks: StaticString {
            switch self {
            case .user: "&=+$,;?/"
            case .header: "[]/?:+$"
            }
        }
    }

    /// Escapes all that must not stand in this part as it is.
    static func escape(_ text: String, for part: Part) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) || part.marks.withUTF8Buffer({ $0.contains(byte) }) {
                bytes.append(byte)
            } else {
                appendEscape(of: byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Turns every escape into its byte; what is no escape stays.
    package static func unescape(_ text: String) -> String {
        replaceEscapes(in: text) { $1.append($0) }
    }

    /// Turns escapes of unreserved characters into these and writes the others with capital digits, so that
    /// equivalent texts become equal.
    static func normalize(_ text: String) -> String {
        replaceEscapes(in: text) { byte, bytes in
            if isUnreserved(byte) { bytes.append(byte) } else { appendEscape(of: byte, to: &bytes) }
        }
    }

    private static func replaceEscapes(in text: String, _ replace: (UInt8, inout [UInt8]) -> Void) -> String {
        guard text.contains(byte: Character8.percent) else { return text }
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            if source[index] == Character8.percent, index + 2 < source.count,
                let high = source[index + 1].hexadecimalValue, let low = source[index + 2].hexadecimalValue
            {
                replace(high << 4 | low, &bytes)
                index += 3
            } else {
                bytes.append(source[index])
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        if byte.isAlphanumeric { return true }
        switch byte {
        case 0x2D, 0x5F, 0x2E, 0x21, 0x7E, 0x2A, 0x27, 0x28, 0x29: return true
        default: return false
        }
    }

    private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        let digits: StaticString = "0123456789ABCDEF"
        bytes.append(Character8.percent)
        digits.withUTF8Buffer {
            bytes.append($0[Int(byte >> 4)])
            bytes.append($0[Int(byte & 15)])
        }
    }
}
