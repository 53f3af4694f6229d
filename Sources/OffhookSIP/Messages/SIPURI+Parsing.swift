extension URI {
    /// Reads a URI without anything around it; nil if it has blanks or no scheme, or is a SIP URI that is wrong.
    package init?(parsing text: String) {
        let text = text
        let bytes = text.utf8.span
        self.init(bytes, 0..<bytes.count)
    }

    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        guard let colon = URI.checkedSchemeEnd(bytes, range) else { return nil }
        if bytes.matches("sip", at: range.lowerBound..<colon) {
            guard let uri = SIPURI(isSecure: false, bytes, colon + 1..<range.upperBound) else { return nil }
            self = .sip(uri)
        } else if bytes.matches("sips", at: range.lowerBound..<colon) {
            guard let uri = SIPURI(isSecure: true, bytes, colon + 1..<range.upperBound) else { return nil }
            self = .sip(uri)
        } else {
            self = .other(bytes.text(range))
        }
    }

    /// Where the scheme's colon is, if the scheme is good and no byte is one that URIs must escape.
    private static func checkedSchemeEnd(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var colon = range.lowerBound
        while colon < range.upperBound, bytes[colon].isSchemeCharacter { colon += 1 }
        guard colon > range.lowerBound, colon + 1 < range.upperBound, bytes[colon] == Character8.colon,
            !bytes[range.lowerBound].isDigit
        else { return nil }
        for index in colon + 1..<range.upperBound where bytes[index].isBarredFromURI { return nil }
        return colon
    }
}

extension SIPURI {
    /// Reads a `sip:` or `sips:` URI without anything around it.
    package init?(parsing text: String) {
        guard let uri = URI(parsing: text)?.sip else { return nil }
        self = uri
    }

    /// Reads what follows the scheme's colon.
    fileprivate init?(isSecure: Bool, _ bytes: Span<UInt8>, _ range: Range<Int>) {
        var scanner = FieldScanner(bytes.extracting(range))
        var user: String?
        var password: String?
        if let at = scanner.bytes.firstIndex(of: Character8.at) {
            guard let name = scanner.run(while: { $0 != Character8.colon && $0 != Character8.at }) else { return nil }
            user = scanner.text(name)
            if scanner.take(Character8.colon) {
                let start = scanner.offset
                password = scanner.text(scanner.run { $0 != Character8.at } ?? start..<start)
            }
            guard scanner.offset == at, scanner.take(Character8.at) else { return nil }
        }
        guard let host = scanner.host() else { return nil }
        var port: UInt16?
        if scanner.take(Character8.colon) {
            guard let number = scanner.port() else { return nil }
            port = number
        }
        let parameters = scanner.uriParameters()
        guard let headers = scanner.uriHeaders(), scanner.isAtEnd else { return nil }
        self.init(
            isSecure: isSecure, escapedUser: user, escapedPassword: password, host: host, port: port,
            parameters: parameters, headers: headers)
    }
}

extension FieldScanner {
    fileprivate mutating func uriParameters() -> SIPParameters {
        var parameters = SIPParameters()
        while take(Character8.semicolon) {
            let isInName = { (byte: UInt8) in
                byte != Character8.equals && byte != Character8.semicolon && byte != Character8.questionMark
            }
            guard let name = run(while: isInName) else { continue }
            var value: String?
            if take(Character8.equals) {
                let start = offset
                value = text(run { $0 != Character8.semicolon && $0 != Character8.questionMark } ?? start..<start)
            }
            parameters.append(name: text(name), rawValue: value)
        }
        return parameters
    }

    fileprivate mutating func uriHeaders() -> [SIPURI.Header]? {
        var headers: [SIPURI.Header] = []
        guard take(Character8.questionMark) else { return headers }
        repeat {
            guard let name = run(while: { $0 != Character8.equals && $0 != Character8.ampersand }),
                take(Character8.equals)
            else { return nil }
            let start = offset
            let value = run { $0 != Character8.ampersand } ?? start..<start
            headers.append(SIPURI.Header(name: text(name), value: text(value)))
        } while take(Character8.ampersand)
        return headers
    }
}

extension Span<UInt8> {
    fileprivate func firstIndex(of byte: UInt8) -> Int? {
        for index in 0..<count where self[index] == byte { return index }
        return nil
    }
}
