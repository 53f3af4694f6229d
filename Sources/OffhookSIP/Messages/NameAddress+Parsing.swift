extension NameAddress {
    /// Reads one address; nil if it is wrong.
    ///
    /// Blanks about the URI are passed over. A display name that is not quoted may hold more than tokens, but no quote, comma, semicolon or colon. An
    /// address without angle brackets ends at its first semicolon and may hold no `?` or comma (RFC 3261 §20.10).
    package init?(parsing text: String) {
        let text = text
        var scanner = FieldScanner(text.utf8.span)
        self.init(&scanner)
    }

    private init?(_ scanner: inout FieldScanner) {
        scanner.skipBlanks()
        var displayName: String?
        if scanner.current == Character8.quote {
            guard let range = scanner.quotedString() else { return nil }
            displayName = scanner.text(range).unquoted
            scanner.skipBlanks()
            guard scanner.current == Character8.lessThan else { return nil }
        } else if let range = scanner.bytes.unquotedDisplayName(from: scanner.offset) {
            _ = scanner.run { $0 != Character8.lessThan }
            displayName = scanner.text(range)
        }
        let range: Range<Int>
        if scanner.take(Character8.lessThan) {
            guard let inner = scanner.run(while: { $0 != Character8.greaterThan }),
                scanner.take(Character8.greaterThan), let uri = scanner.bytes.trimmed(inner)
            else { return nil }
            range = uri
        } else {
            guard let bare = scanner.run(while: { !$0.isBlank && $0 != Character8.semicolon }),
                scanner.bytes.isBareAddress(bare)
            else { return nil }
            range = bare
        }
        guard let uri = URI(scanner.bytes, range), let parameters = scanner.parametersToEnd() else { return nil }
        self.init(displayName: displayName?.isEmpty == true ? nil : displayName, uri: uri, parameters: parameters)
    }
}

extension Span<UInt8> {
    /// What stands before the first angle bracket, if it can be a display name; without blanks behind it.
    fileprivate func unquotedDisplayName(from start: Int) -> Range<Int>? {
        var end = start
        for index in start..<count {
            switch self[index] {
            case Character8.lessThan: return start..<end
            case Character8.quote, Character8.comma, Character8.semicolon, Character8.colon: return nil
            case Character8.space, Character8.tab: break
            default: end = index + 1
            }
        }
        return nil
    }

    fileprivate func isBareAddress(_ range: Range<Int>) -> Bool {
        for index in range where self[index] == Character8.questionMark || self[index] == Character8.comma {
            return false
        }
        return true
    }
}
