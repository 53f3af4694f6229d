extension CSeq {
    /// Reads number and method; nil if the number is 2^31 or more (RFC 3261 §8.1.1.5).
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        guard let value = CSeq(&scanner), scanner.finishes() else { return nil }
        self = value
    }

    fileprivate init?(_ scanner: inout FieldScanner) {
        scanner.skipBlanks()
        guard let number = scanner.number(), number < 1 << 31, scanner.current?.isBlank == true else { return nil }
        scanner.skipBlanks()
        guard let method = scanner.token() else { return nil }
        self.init(number, SIPMethod(scanner.text(method)))
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

extension MediaType {
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let type = scanner.token() else { return nil }
        scanner.skipBlanks()
        guard scanner.take(Character8.slash) else { return nil }
        scanner.skipBlanks()
        guard let subtype = scanner.token(), let parameters = scanner.parametersToEnd() else { return nil }
        self.init(scanner.text(type), scanner.text(subtype), parameters: parameters)
    }
}

extension TokenValue {
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let token = scanner.token(), let parameters = scanner.parametersToEnd() else { return nil }
        self.init(scanner.text(token), parameters: parameters)
    }
}

extension SessionExpires {
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let seconds = scanner.number(), let parameters = scanner.parametersToEnd() else { return nil }
        self.init(seconds: seconds, refresher: parameters["refresher"].flatMap { Refresher(rawValue: $0.lowercased()) })
    }
}

extension SIPReason {
    package init?(parsing text: String) {
        guard let value = TokenValue(parsing: text) else { return nil }
        let parameters = value.parameters
        self.init(protocolName: value.token, cause: parameters["cause"].flatMap { Int($0) }, text: parameters["text"])
    }
}

extension Replaces {
    /// Nil without both tags (RFC 3891 §6.1).
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        scanner.skipBlanks()
        guard let callID = scanner.run(while: { !$0.isBlank && $0 != Character8.semicolon }),
            let parameters = scanner.parametersToEnd(),
            let toTag = parameters["to-tag"], let fromTag = parameters["from-tag"]
        else { return nil }
        self.init(
            callID: scanner.text(callID), toTag: toTag, fromTag: fromTag,
            isEarlyOnly: parameters.contains("early-only"))
    }
}

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
