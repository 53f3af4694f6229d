/// The name of a header field; compared without case, a compact form equals its long form (RFC 3261 §7.3.3).
package struct SIPHeaderName: Hashable, Sendable {
    private enum Base: Hashable {
        case standard(Standard)
        case other(OtherName)
    }

    private let base: Base

    /// Knows the standard names and the compact forms, keeps the spelling of others.
    package init(_ text: String) {
        self = StandardNames.name(for: text)
    }

    init(standard: Standard) {
        base = .standard(standard)
    }

    init(other text: String) {
        base = .other(OtherName(text: text))
    }

    /// Which of the standard names this is, if one.
    var standard: Standard? {
        if case .standard(let name) = base { name } else { nil }
    }

    /// As it is printed: the long form in the spelling of its RFC, or an unknown name as it came.
    package var text: String {
        switch base {
        case .standard(let name): name.rawValue
        case .other(let name): name.text
        }
    }

    /// Whether the name is one of those that this library interprets.
    package var isStandard: Bool {
        if case .standard = base { true } else { false }
    }

    private struct OtherName: Hashable {
        let text: String

        static func == (left: OtherName, right: OtherName) -> Bool {
            left.text.equalsIgnoringCase(right.text)
        }

        func hash(into hasher: inout Hasher) {
            text.hashIgnoringCase(into: &hasher)
        }
    }
}

extension SIPHeaderName {
    package static func == (left: SIPHeaderName, right: SIPHeaderName) -> Bool {
        switch (left.base, right.base) {
        case (.standard(let left), .standard(let right)): left == right
        case (.other(let left), .other(let right)): left == right
        case (.standard, .other), (.other, .standard): false
        }
    }
}

extension SIPHeaderName: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) {
        self.init(text)
    }
}

extension SIPHeaderName: CustomStringConvertible {
    package var description: String { text }
}
