import Offhook

/// Whom `call` and `phone` call: what a person wrote, with the transport that `--transport` asks for.
enum CallTarget {
    /// The address to call.
    static func address(_ text: String, options: Options) throws(UsageError) -> String {
        let text = try checked(text)
        guard let transport = options.transport, !options.hasServer else {
            guard text.lowercased().hasPrefix("tel:"), !options.hasServer else { return text }
            throw UsageError("a tel: number is called by a server; type --server HOST, or call sip:name@host")
        }
        switch transport {
        case .udp, .tcp, .tls: break
        case .webSocket, .secureWebSocket:
            throw UsageError(
                "--transport \(transport.word) needs a server, since calls from peer to peer go by udp, tcp or tls;"
                    + " type --server HOST")
        }
        let lower = text.lowercased()
        guard !lower.hasPrefix("tel:") else {
            throw UsageError("a tel: number is called by a server; type --server HOST, or call sip:name@host")
        }
        if lower.hasPrefix("sips:") {
            guard transport == .tls else {
                throw UsageError("sips: goes by TLS alone; type --transport tls, or call sip:name@host")
            }
            return text
        }
        return try with(transport, lower.hasPrefix("sip:") ? text : complete(text, options))
    }

    /// A URI with this transport; one that names another is refused.
    static func with(_ transport: SignalingTransport, _ uri: String) throws(UsageError) -> String {
        let (body, headers) = split(uri)
        for parameter in body.lowercased().split(separator: ";").dropFirst() where parameter.hasPrefix("transport=") {
            guard parameter.dropFirst(10) == transport.word else {
                throw UsageError("“\(uri)” and --transport \(transport.word) differ; name the transport once")
            }
            return uri
        }
        return "\(body);transport=\(transport.word)\(headers)"
    }

    /// What is refused at once: other schemes than SIP's.
    private static func checked(_ text: String) throws(UsageError) -> String {
        guard !text.isEmpty else { throw UsageError("call whom? Type: offhook call sip:user@host") }
        guard Endpoint(parsing: text) == nil, IPAddress(parsing: text) == nil, let colon = text.firstIndex(of: ":"),
            let first = text.first, first.isLetter,
            text[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return text }
        let rest = text[text.index(after: colon)...]
        guard !isScheme(text[..<colon]) else { return text }
        // A host and its port look like a scheme.
        if let port = UInt16(rest), port > 0 { return "sip:\(text)" }
        throw UsageError("“\(text)” cannot be called; type sip:name@host, sips:name@host or tel:number")
    }

    /// Whether an address names one of the schemes that can be called.
    static func isScheme(_ text: some StringProtocol) -> Bool {
        ["sip", "sips", "tel"].contains(text.lowercased())
    }

    /// The same as the library makes of names and addresses without a scheme.
    private static func complete(_ text: String, _ options: Options) -> String {
        if text.contains("@") || Endpoint(parsing: text) != nil || IPAddress(parsing: text) != nil {
            return "sip:\(text)"
        }
        guard let account = options.account, let at = account.lastIndex(of: "@") else { return "sip:\(text)" }
        return "sip:\(text)@\(account[account.index(after: at)...].prefix { !";?>".contains($0) })"
    }

    /// What comes before the header fields, and these.
    private static func split(_ uri: String) -> (String, String) {
        guard let mark = uri.firstIndex(of: "?") else { return (uri, "") }
        return (String(uri[..<mark]), String(uri[mark...]))
    }
}

extension Options {
    /// Whether requests go to a server, and not to the far end at once.
    var hasServer: Bool { registers || server != nil || outboundProxy != nil }
}

extension SignalingTransport {
    /// As `--transport` and a URI have it.
    var word: String {
        switch self {
        case .udp: "udp"
        case .tcp: "tcp"
        case .tls: "tls"
        case .webSocket: "ws"
        case .secureWebSocket: "wss"
        }
    }
}
