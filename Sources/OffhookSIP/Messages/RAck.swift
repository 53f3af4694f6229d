/// The value of RAck (RFC 3262 §7.2).
package struct RAck: Hashable, Sendable {
    package var responseNumber: UInt32
    package var cseq: CSeq

    package init(responseNumber: UInt32, cseq: CSeq) {
        self.responseNumber = responseNumber
        self.cseq = cseq
    }
}

extension RAck {
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let number = scanner.number(), scanner.current?.isBlank == true, let cseq = CSeq(&scanner),
            scanner.finishes()
        else { return nil }
        self.init(responseNumber: number, cseq: cseq)
    }
}

extension RAck: CustomStringConvertible {
    package var description: String { "\(responseNumber) \(cseq)" }
}
