// Session descriptions are ASCII between the free texts, so all cutting is done on bytes: a combining mark after a
// colon must not hide the colon, which it would for `Character`s.

extension Substring {
    /// The runs between spaces and tabs.
    func fields() -> [Substring] {
        utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map { Substring($0) }
    }

    /// The first field and what follows it, both without blanks around them; nil where there is no field.
    func firstField() -> (field: Substring, rest: Substring)? {
        let text = trimmed
        guard !text.isEmpty else { return nil }
        guard let end = text.utf8.firstIndex(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else {
            return (text, text[text.endIndex...])
        }
        return (text[..<end], text[end...].trimmed)
    }

    /// The text before the first such byte, and the text after it where there is one.
    func cut(at separator: Unicode.Scalar) -> (head: Substring, tail: Substring?) {
        let byte = UInt8(truncatingIfNeeded: separator.value)
        guard let index = utf8.firstIndex(of: byte) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// The parts between such bytes, empty ones included.
    func parts(separatedBy separator: Unicode.Scalar) -> [Substring] {
        let byte = UInt8(truncatingIfNeeded: separator.value)
        return utf8.split(separator: byte, omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// The text without blanks at its ends.
    var trimmed: Substring {
        var view = utf8
        while view.first == UInt8(ascii: " ") || view.first == UInt8(ascii: "\t") { view = view.dropFirst() }
        while view.last == UInt8(ascii: " ") || view.last == UInt8(ascii: "\t") { view = view.dropLast() }
        return Substring(view)
    }

    /// The number that the digits say; nil with anything but digits, or past 64 bits.
    var decimal: UInt64? {
        guard !utf8.isEmpty else { return nil }
        var value: UInt64 = 0
        for byte in utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    /// The number that the digits say where it fits the type.
    func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        decimal.flatMap { Number(exactly: $0) }
    }
}

extension StringProtocol {
    /// The text with the letters A to Z made small, for names that ignore case.
    var lowercasedASCII: String {
        String(
            decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether both texts are the same but for the case of A to Z.
    func isEqualIgnoringCase(_ other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { left, right in
                left == right
                    || (left | 0x20 == right | 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(left | 0x20))
            }
    }
}
