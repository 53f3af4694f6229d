internal import OffhookBasics

/// What an app or a person may write to name the far end of a call, made into a URI.
enum CallAddress {
    /// A SIP or tel URI as it is; `bob@example.org` and `192.0.2.1:5070` as SIP URIs; `bob` or `1001` at the domain of
    /// the account. Whether the result is an address is for the parser to say.
    static func complete(_ text: String, account: String) -> String {
        let lower = text.lowercased()
        if ["sip:", "sips:", "tel:"].contains(where: { lower.hasPrefix($0) }) || text.contains(where: \.isWhitespace) {
            return text
        }
        if text.isEmpty || text.contains("@") || Endpoint(parsing: text) != nil || IPAddress(parsing: text) != nil {
            return text.isEmpty ? text : "sip:\(text)"
        }
        guard let at = account.lastIndex(of: "@") else { return "sip:\(text)" }
        let scheme = account.lowercased().hasPrefix("sips:") ? "sips" : "sip"
        let domain = account[account.index(after: at)...].prefix { !";?>".contains($0) }
        return "\(scheme):\(text)@\(domain)"
    }
}
