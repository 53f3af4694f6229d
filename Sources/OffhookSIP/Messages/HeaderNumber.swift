/// Header fields whose value is a number.
enum HeaderNumber {
    /// The number and nothing else; larger ones than 2^32 - 1 read as that.
    static func clamped(_ text: String) -> UInt32? {
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let number = scanner.number(), scanner.finishes() else { return nil }
        return number
    }

    /// The number that the value starts with, whatever follows.
    static func leading(_ text: String) -> UInt32? {
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        return scanner.number()
    }

    /// The number and nothing else; nil if it does not fit.
    static func exact(_ text: String) -> UInt32? {
        UInt32(text)
    }
}
