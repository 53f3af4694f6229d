/// The value of Content-Type, and of one range in Accept (RFC 3261 §20.15).
package struct MediaType: Equatable, Sendable {
    package var type: String
    package var subtype: String
    package var parameters: SIPParameters

    package init(_ type: String, _ subtype: String, parameters: SIPParameters = SIPParameters()) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// `type/subtype` in lower case, without parameters.
    package var essence: String { "\(type)/\(subtype)".lowercased() }
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

extension MediaType: CustomStringConvertible {
    package var description: String { "\(type)/\(subtype)\(parameters)" }
}
