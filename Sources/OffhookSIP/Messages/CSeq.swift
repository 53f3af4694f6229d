/// The value of CSeq (RFC 3261 §20.16).
package struct CSeq: Hashable, Sendable {
    package var number: UInt32
    package var method: SIPMethod

    package init(_ number: UInt32, _ method: SIPMethod) {
        self.number = number
        self.method = method
    }
}

extension CSeq {
    /// Reads number and method; nil if the number is 2^31 or more (RFC 3261 §8.1.1.5).
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        guard let value = CSeq(&scanner), scanner.finishes() else { return nil }
        self = value
    }

    init?(_ scanner: inout FieldScanner) {
        scanner.skipBlanks()
        guard let number = scanner.number(), number < 1 << 31, scanner.current?.isBlank == true else { return nil }
        scanner.skipBlanks()
        guard let method = scanner.token() else { return nil }
        self.init(number, SIPMethod(scanner.text(method)))
    }
}

extension CSeq: CustomStringConvertible {
    package var description: String { "\(number) \(method.name)" }
}
