/// An address with an optional display name and parameters: the value of From, To, Contact, Route and others
/// (RFC 3261 §20.10).
package struct NameAddress: Equatable, Sendable {
    /// Without quotes and escapes.
    package var displayName: String?
    package var uri: URI
    /// The header field's own parameters, not those of the URI.
    package var parameters: SIPParameters

    package init(displayName: String? = nil, uri: URI, parameters: SIPParameters = SIPParameters()) {
        self.displayName = displayName
        self.uri = uri
        self.parameters = parameters
    }

    package var tag: String? {
        get { parameters["tag"] }
        set { parameters["tag"] = newValue }
    }
}

extension NameAddress: CustomStringConvertible {
    /// Always with angle brackets.
    package var description: String {
        var text = ""
        if let displayName, !displayName.isEmpty {
            text += displayName.quoted
            text += " "
        }
        text += "<"
        text += uri.description
        text += ">"
        text += parameters.description
        return text
    }
}
