/// Splits header values at commas outside quotes and angle brackets (RFC 3261 §7.3.1, §25.1).
enum CommaList {
    /// The values without blanks around them; empty ones are left out.
    static func split(_ text: String) -> [String] {
        guard text.contains(byte: Character8.comma) else { return text.isEmpty ? [] : [text] }
        let bytes = text.utf8.span
        var values: [String] = []
        var start = 0
        while start < bytes.count {
            let end = bytes.endOfValue(from: start)
            if let range = bytes.trimmed(start..<end) { values.append(bytes.text(range)) }
            start = end + 1
        }
        return values
    }

    /// The first value, without looking at the others.
    static func first(_ text: String) -> String? {
        let bytes = text.utf8.span
        let end = bytes.endOfValue(from: 0)
        if end == bytes.count { return text.isEmpty ? nil : text }
        return bytes.trimmed(0..<end).map { bytes.text($0) }
    }
}

extension Span<UInt8> {
    fileprivate func endOfValue(from start: Int) -> Int {
        var index = start
        var isQuoted = false
        var isBracketed = false
        while index < count {
            switch self[index] {
            case Character8.backslash where isQuoted: index += 1
            case Character8.quote: isQuoted.toggle()
            case Character8.lessThan where !isQuoted: isBracketed = true
            case Character8.greaterThan where !isQuoted: isBracketed = false
            case Character8.comma where !isQuoted && !isBracketed: return index
            default: break
            }
            index += 1
        }
        return count
    }

    /// The range without blanks at its ends, or nil if nothing else is in it.
    func trimmed(_ range: Range<Int>) -> Range<Int>? {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return start < end ? start..<end : nil
    }
}
