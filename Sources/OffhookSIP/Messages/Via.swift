package import OffhookBasics

/// One hop of a Via header field (RFC 3261 §20.42, RFC 3581).
package struct Via: Equatable, Sendable {
    /// In upper case: `UDP`, `TCP`, `TLS`, `WS`.
    package var transport: String
    package var host: SIPHost
    package var port: UInt16?
    package var parameters: SIPParameters

    package init(
        transport: String, host: SIPHost, port: UInt16? = nil, parameters: SIPParameters = SIPParameters()
    ) {
        self.transport = transport
        self.host = host
        self.port = port
        self.parameters = parameters
    }

    package var branch: String? {
        get { parameters["branch"] }
        set { parameters["branch"] = newValue }
    }

    /// The address the request came from; brackets around IPv6 are tolerated and not written (RFC 5118 §4.5).
    package var received: IPAddress? {
        get { parameters["received"].flatMap { IPAddress(parsing: $0) } }
        set {
            guard let newValue else { return parameters["received"] = nil }
            parameters.set("received", raw: newValue.description)
        }
    }

    package var maddr: String? { parameters["maddr"] }

    /// The port the request came from; nil as long as a lone `rport` asks for it (RFC 3581 §4). Setting nil removes the
    /// parameter.
    package var rport: UInt16? {
        get { parameters["rport"].flatMap { UInt16($0) } }
        set {
            guard let newValue else { return parameters["rport"] = nil }
            parameters.set("rport", raw: "\(newValue)")
        }
    }

    /// Whether `rport` is there, with or without a value.
    package var wantsResponsePort: Bool {
        get { parameters.contains("rport") }
        set {
            if !newValue {
                parameters["rport"] = nil
            } else if !wantsResponsePort {
                parameters.setFlag("rport")
            }
        }
    }
}

extension Via: CustomStringConvertible {
    package var description: String {
        var text = "SIP/2.0/"
        text += transport
        text += " "
        text += host.text
        if let port {
            text += ":\(port)"
        }
        text += parameters.description
        return text
    }
}
