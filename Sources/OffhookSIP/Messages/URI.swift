/// What a request or an address points to: a SIP URI, or one of another scheme kept as it came (RFC 3261 §19.1).
package enum URI: Equatable, Sendable {
    case sip(SIPURI)
    /// Scheme and all, verbatim.
    case other(String)

    /// The SIP or SIPS URI, if it is one.
    package var sip: SIPURI? {
        if case .sip(let uri) = self { uri } else { nil }
    }

    /// The scheme in lower case.
    package var scheme: String {
        switch self {
        case .sip(let uri): uri.isSecure ? "sips" : "sip"
        case .other(let text): text.prefix { $0 != ":" }.lowercased()
        }
    }

    /// The number of a `tel:` URI without its visual separators and parameters (RFC 3966 §3).
    package var telephoneNumber: String? {
        guard case .other(let text) = self, scheme == "tel" else { return nil }
        let number = text.utf8.dropFirst(4).prefix { $0 != Character8.semicolon }
        let separators: [UInt8] = [0x2D, 0x2E, 0x28, 0x29]
        return String(decoding: number.filter { !separators.contains($0) }, as: UTF8.self)
    }
}

extension URI: CustomStringConvertible {
    package var description: String {
        switch self {
        case .sip(let uri): uri.description
        case .other(let text): text
        }
    }
}
