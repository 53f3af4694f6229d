/// A challenge or credentials: a scheme and its parameters (RFC 3261 §25.1, RFC 7616 §3.3 and §3.4).
///
/// A scheme whose text is no list of parameters keeps it in `opaqueText`.
package struct AuthenticationValue: Equatable, Sendable {
    /// Such as `Digest`.
    package var scheme: String
    /// Separated by commas here.
    package var parameters: SIPParameters
    package var opaqueText: String?

    package init(scheme: String, parameters: SIPParameters = SIPParameters(), opaqueText: String? = nil) {
        self.scheme = scheme
        self.parameters = parameters
        self.opaqueText = opaqueText
    }

    package var isDigest: Bool { scheme.equalsIgnoringCase("Digest") }

    /// The tokens of the `qop` parameter in lower case.
    package var qualitiesOfProtection: [String] {
        (parameters["qop"] ?? "").utf8.split { $0 == 0x2C || $0 == 0x20 || $0 == 0x09 }
            .map { String(decoding: $0, as: UTF8.self).lowercased() }
    }

    /// Whether `stale` says true, in any case.
    package var isStale: Bool { parameters["stale"]?.equalsIgnoringCase("true") ?? false }
}

extension AuthenticationValue: CustomStringConvertible {
    package var description: String {
        if let opaqueText { return "\(scheme) \(opaqueText)" }
        let list = parameters.list.map { parameter in
            parameter.name + (parameter.rawValue.map { "=\($0)" } ?? "")
        }
        return list.isEmpty ? scheme : scheme + " " + list.joined(separator: ", ")
    }
}
