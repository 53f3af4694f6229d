/// A `sip:` or `sips:` URI (RFC 3261 §19.1).
///
/// Parts keep the escapes they came with, so that printing gives back what was read. `==` compares as §19.1.4 says,
/// by which for example a missing port differs from 5060.
package struct SIPURI: Sendable {
    /// Whether the scheme is `sips`.
    package var isSecure: Bool
    /// The user part with its escapes, without password.
    package var escapedUser: String?
    package var escapedPassword: String?
    package var host: SIPHost
    package var port: UInt16?
    package var parameters: SIPParameters
    /// What follows `?`, with its escapes, in order.
    package var headers: [Header]

    package struct Header: Equatable, Sendable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a URI; `user` is plain text and is escaped where it must be.
    package init(
        isSecure: Bool = false, user: String? = nil, host: SIPHost, port: UInt16? = nil,
        parameters: SIPParameters = SIPParameters()
    ) {
        self.isSecure = isSecure
        escapedUser = user.map { PercentEscaping.escape($0, for: .user) }
        self.host = host
        self.port = port
        self.parameters = parameters
        headers = []
    }

    init(
        isSecure: Bool, escapedUser: String?, escapedPassword: String?, host: SIPHost, port: UInt16?,
        parameters: SIPParameters, headers: [Header]
    ) {
        self.isSecure = isSecure
        self.escapedUser = escapedUser
        self.escapedPassword = escapedPassword
        self.host = host
        self.port = port
        self.parameters = parameters
        self.headers = headers
    }

    /// The user part as plain text.
    package var user: String? {
        get { escapedUser.map(PercentEscaping.unescape) }
        set { escapedUser = newValue.map { PercentEscaping.escape($0, for: .user) } }
    }

    /// The `transport` parameter in lower case.
    package var transport: String? {
        get { parameters["transport"]?.lowercased() }
        set { parameters["transport"] = newValue }
    }

    /// Whether the `lr` parameter is there, with or without a value: a loose router (RFC 3261 §19.1.1).
    package var isLooseRouter: Bool { parameters.contains("lr") }
}

extension SIPURI: CustomStringConvertible {
    package var description: String {
        var text = isSecure ? "sips:" : "sip:"
        if let escapedUser {
            text += escapedUser
            if let escapedPassword {
                text += ":"
                text += escapedPassword
            }
            text += "@"
        }
        text += host.text
        if let port {
            text += ":\(port)"
        }
        text += parameters.description
        for (index, header) in headers.enumerated() {
            text += index == 0 ? "?" : "&"
            text += header.name
            text += "="
            text += header.value
        }
        return text
    }
}
