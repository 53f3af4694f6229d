/// `a=fmtp`: the parameters of one format (RFC 8866 §6.15).
package struct FormatParametersAttribute: Hashable, Sendable {
    package var format: String
    package var parameters: FormatParameters

    package init(format: String, parameters: FormatParameters) {
        self.format = format
        self.parameters = parameters
    }

    init?(parsing text: Substring) {
        guard let (format, rest) = text.firstField(), !rest.isEmpty else { return nil }
        self.init(format: String(format), parameters: FormatParameters(rest))
    }

    package var text: String { "\(format) \(parameters.text)" }
}

/// The parameters of a codec: `name=value` between semicolons for nearly all, any text for the rest.
package struct FormatParameters: Hashable, Sendable, ExpressibleByStringLiteral {
    /// As written.
    package var text: String

    package init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    package init(stringLiteral text: String) {
        self.text = text
    }

    package var isEmpty: Bool { text.isEmpty }

    /// The value of a parameter, `""` where it stands without one; names ignore case.
    package subscript(name: String) -> String? {
        for part in text[...].parts(separatedBy: ";") {
            let (head, tail) = part.cut(at: "=")
            if head.trimmed.isEqualIgnoringCase(name) { return tail.map { String($0.trimmed) } ?? "" }
        }
        return nil
    }

    /// The value of a parameter that is a number.
    package func number(_ name: String) -> Int? {
        self[name].flatMap { $0[...].number(Int.self) }
    }

    /// Whether a parameter is there and is 1.
    package func flag(_ name: String) -> Bool { number(name) == 1 }
}
