internal import OffhookBasics
package import OffhookMedia

/// Lines that belong together: the session's, or those of one stream.
package protocol SDPSection {
    /// All lines in the order in which they came.
    var lines: [SDPLine] { get set }
}

extension SDPSection {
    package var attributes: [SDPAttribute] {
        lines.compactMap { line in
            if case .attribute(let attribute) = line { attribute } else { nil }
        }
    }

    /// The values of the attributes with this name that have one; an attribute without the value it needs counts as absent.
    ///
    /// - Parameter limit: how many at most. What holds for several lines at once needs one: a hostile peer could have
    ///   thousands read again for each of its lines.
    package func values(of name: String, limit: Int = .max) -> [Substring] {
        var values: [Substring] = []
        for case .attribute(let attribute) in lines where attribute.name == name {
            guard let text = attribute.value?[...].trimmed, !text.isEmpty else { continue }
            guard values.count < limit else { break }
            values.append(text)
        }
        return values
    }

    /// The first value of the attribute.
    package func value(of name: String) -> Substring? {
        for line in lines {
            guard case .attribute(let attribute) = line, attribute.name == name, let value = attribute.value else {
                continue
            }
            let text = value[...].trimmed
            if !text.isEmpty { return text }
        }
        return nil
    }

    /// Whether the attribute is there, with or without a value.
    package func hasAttribute(_ name: String) -> Bool {
        lines.contains { line in
            if case .attribute(let attribute) = line { attribute.name == name } else { false }
        }
    }

    /// The texts of all lines of this type.
    package func texts(of field: SDPLine.Field) -> [String] {
        lines.compactMap { line in
            if case .field(field, let text) = line { text } else { nil }
        }
    }

    package mutating func append(_ name: String, _ value: String? = nil) {
        lines.append(.attribute(SDPAttribute(name, value)))
    }

    package mutating func append(_ field: SDPLine.Field, _ text: String) {
        lines.append(.field(field, text))
    }

    /// The direction that stands in this section, as the describing side sees it.
    package var statedDirection: MediaDirection? {
        for case .attribute(let attribute) in lines {
            if let direction = MediaDirection(attribute: attribute.name) { return direction }
        }
        return nil
    }

    /// The first `c=` line.
    package var statedConnection: ConnectionData? {
        texts(of: .connection).lazy.compactMap { ConnectionData(parsing: $0[...]) }.first
    }

    /// The `b=` lines; those that cannot be read are left out.
    package var bandwidths: [Bandwidth] {
        texts(of: .bandwidth).compactMap { Bandwidth(parsing: $0[...]) }
    }

    package var fingerprints: [FingerprintAttribute] {
        values(of: "fingerprint", limit: 16).compactMap { FingerprintAttribute(parsing: $0) }
    }

    package var setup: SetupRole? {
        values(of: "setup").lazy.compactMap { SetupRole(rawValue: $0.lowercasedASCII) }.first
    }

    /// `a=tls-id` (RFC 8842 §5.2).
    package var tlsID: String? { value(of: "tls-id").map(String.init) }

    package var iceUserFragment: String? { value(of: "ice-ufrag").map(String.init) }
    package var icePassword: String? { value(of: "ice-pwd").map(String.init) }

    /// The tags of all `a=ice-options` lines.
    package var iceOptions: [String] {
        values(of: "ice-options", limit: 16).flatMap { $0.fields().map(String.init) }
    }

    package var headerExtensions: [HeaderExtensionAttribute] {
        values(of: "extmap").compactMap { HeaderExtensionAttribute(parsing: $0) }
    }
}

extension MediaDirection {
    /// The direction that an attribute name says.
    init?(attribute name: String) {
        switch name {
        case "sendrecv": self = .sendReceive
        case "sendonly": self = .sendOnly
        case "recvonly": self = .receiveOnly
        case "inactive": self = .inactive
        default: return nil
        }
    }

    /// The attribute name that says this direction; a direction not yet known is `inactive`, which promises nothing.
    package var attributeName: String {
        switch self {
        case .sendReceive: "sendrecv"
        case .sendOnly: "sendonly"
        case .receiveOnly: "recvonly"
        case .inactive, .undefined: "inactive"
        }
    }
}
