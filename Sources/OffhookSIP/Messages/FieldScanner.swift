/// Reads the value of one header field, or one URI, from front to back.
///
/// Every step moves forward or fails, so reading takes linear time whatever the bytes are.
struct FieldScanner: ~Escapable {
    let bytes: Span<UInt8>
    private(set) var offset = 0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset >= bytes.count }

    var current: UInt8? {
        offset < bytes.count ? bytes[offset] : nil
    }

    func text(_ range: Range<Int>) -> String {
        bytes.text(range)
    }

    mutating func skipBlanks() {
        while offset < bytes.count, bytes[offset].isBlank { offset += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        offset += 1
        return true
    }

    /// Whether only blanks are left.
    mutating func finishes() -> Bool {
        skipBlanks()
        return isAtEnd
    }

    /// A run of bytes up to the first that is not allowed; nil if it is empty.
    mutating func run(while isAllowed: (UInt8) -> Bool) -> Range<Int>? {
        let start = offset
        while offset < bytes.count, isAllowed(bytes[offset]) { offset += 1 }
        return offset > start ? start..<offset : nil
    }

    mutating func token() -> Range<Int>? {
        run(while: \.isToken)
    }

    /// A quoted string with its quotes; nil if it does not end.
    mutating func quotedString() -> Range<Int>? {
        let start = offset
        guard take(Character8.quote) else { return nil }
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == Character8.quote { return start..<offset }
            if byte == Character8.backslash { offset = min(offset + 1, bytes.count) }
        }
        return nil
    }

    /// Digits; values beyond 2^32 - 1 give that.
    mutating func number() -> UInt32? {
        guard let digits = run(while: \.isDigit) else { return nil }
        var value: UInt64 = 0
        for index in digits {
            value = min(value * 10 + UInt64(bytes[index] - 0x30), UInt64(UInt32.max))
        }
        return UInt32(value)
    }

    /// A port; nil without digits or beyond 65535.
    mutating func port() -> UInt16? {
        number().flatMap { UInt16(exactly: $0) }
    }

    /// A host name, an IPv4 address or an IPv6 address in brackets.
    mutating func host() -> SIPHost? {
        guard current == Character8.openBracket else {
            return run { $0.isAlphanumeric || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }.map {
                SIPHost(verbatim: text($0))
            }
        }
        let start = offset
        _ = run { $0 != Character8.closeBracket }
        guard take(Character8.closeBracket) else { return nil }
        let host = SIPHost(verbatim: text(start..<offset))
        return host.address == nil ? nil : host
    }

    /// Parameters up to the end, each after a semicolon; nil if anything else is there. Empty ones are passed over.
    mutating func parametersToEnd() -> SIPParameters? {
        var parameters = SIPParameters()
        while true {
            skipBlanks()
            if isAtEnd { return parameters }
            guard take(Character8.semicolon) else { return nil }
            skipBlanks()
            if isAtEnd || current == Character8.semicolon { continue }
            guard let name = token() else { return nil }
            skipBlanks()
            var value: String?
            if take(Character8.equals) {
                skipBlanks()
                guard let range = parameterValue() else { return nil }
                value = text(range)
            }
            parameters.append(name: text(name), rawValue: value)
        }
    }

    /// A quoted string, or all up to a separator; may be empty.
    private mutating func parameterValue() -> Range<Int>? {
        if current == Character8.quote { return quotedString() }
        let start = offset
        return run {
            !$0.isBlank && $0 != Character8.semicolon && $0 != Character8.comma && $0 != Character8.quote
                && $0 != Character8.lessThan && $0 != Character8.greaterThan
        } ?? start..<start
    }
}

extension Span<UInt8> {
    /// The text of these bytes; what is not UTF-8 is replaced by U+FFFD.
    func text(_ range: Range<Int>) -> String {
        // The buffer lives only within this call.
        extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the range holds this ASCII text, in any case; `lowercase` must be in lower case.
    func matches(_ lowercase: StaticString, at range: Range<Int>) -> Bool {
        guard range.count == lowercase.utf8CodeUnitCount, range.upperBound <= count else { return false }
        return lowercase.withUTF8Buffer { wanted in
            for index in 0..<wanted.count where self[range.lowerBound + index].lowercased != wanted[index] {
                return false
            }
            return true
        }
    }
}
