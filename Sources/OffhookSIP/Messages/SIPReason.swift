/// One value of Reason (RFC 3326 §2).
package struct SIPReason: Equatable, Sendable {
    /// Such as `SIP` or `Q.850`.
    package var protocolName: String
    package var cause: Int?
    package var text: String?

    package init(protocolName: String, cause: Int? = nil, text: String? = nil) {
        self.protocolName = protocolName
        self.cause = cause
        self.text = text
    }
}

extension SIPReason {
    package init?(parsing text: String) {
        guard let value = TokenValue(parsing: text) else { return nil }
        let parameters = value.parameters
        self.init(protocolName: value.token, cause: parameters["cause"].flatMap { Int($0) }, text: parameters["text"])
    }
}

extension SIPReason: CustomStringConvertible {
    package var description: String {
        protocolName + (cause.map { ";cause=\($0)" } ?? "") + (text.map { ";text=\($0.quoted)" } ?? "")
    }
}
