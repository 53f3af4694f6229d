package import OffhookBasics

/// `a=candidate` (RFC 8839 §5.1, RFC 6544 §4.5 for TCP).
package struct ICECandidateAttribute: Hashable, Sendable {
    /// A word and its value at the end of the line.
    package struct Extension: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var foundation: String
    /// 1 for RTP, 2 for RTCP.
    package var component: UInt16
    /// In small letters: `udp`, `tcp`.
    package var transport: String
    package var priority: UInt32
    /// An address, or a name such as `….local`, which may be passed over.
    package var address: String
    package var port: UInt16
    /// In small letters: `host`, `srflx`, `prflx`, `relay`.
    package var kind: String
    package var relatedAddress: String?
    package var relatedPort: UInt16?
    package var extensions: [Extension]

    package init(
        foundation: String, component: UInt16, transport: String = "udp", priority: UInt32, address: String,
        port: UInt16, kind: String, relatedAddress: String? = nil, relatedPort: UInt16? = nil,
        extensions: [Extension] = []
    ) {
        self.foundation = foundation
        self.component = component
        self.transport = transport
        self.priority = priority
        self.address = address
        self.port = port
        self.kind = kind
        self.relatedAddress = relatedAddress
        self.relatedPort = relatedPort
        self.extensions = extensions
    }

    /// Reads what follows `a=candidate:`.
    package init?(parsing text: Substring) {
        let fields = text.fields()
        guard fields.count >= 8, let component = fields[1].number(UInt16.self),
            let priority = fields[3].number(UInt32.self), let port = fields[5].number(UInt16.self),
            fields[6].isEqualIgnoringCase("typ")
        else { return nil }
        self.init(
            foundation: String(fields[0]), component: component, transport: fields[2].lowercasedASCII,
            priority: priority, address: String(fields[4]), port: port, kind: fields[7].lowercasedASCII)
        var index = 8
        while index + 1 < fields.count {
            let (name, value) = (fields[index], fields[index + 1])
            switch name {
            case "raddr": relatedAddress = String(value)
            case "rport": relatedPort = value.number(UInt16.self)
            default: extensions.append(Extension(String(name), String(value)))
            }
            index += 2
        }
    }

    /// The address and port; nil for a name.
    package var endpoint: Endpoint? { IPAddress(parsing: address).map { Endpoint($0, port) } }

    /// What follows `a=candidate:`.
    package var text: String {
        var text = "\(foundation) \(component) \(transport) \(priority) \(address) \(port) typ \(kind)"
        if let relatedAddress { text += " raddr \(relatedAddress)" }
        if let relatedPort { text += " rport \(relatedPort)" }
        for part in extensions { text += " \(part.name) \(part.value)" }
        return text
    }
}

/// What one side says of ICE on a stream.
package struct ICEDescription: Hashable, Sendable {
    package var userFragment: String
    package var password: String
    package var options: [String]
    /// `a=ice-lite`: the side only answers checks.
    package var isLite: Bool
    package var candidates: [ICECandidateAttribute]
    /// `a=end-of-candidates`: no more will trickle in (RFC 8840 §8.2).
    package var isComplete: Bool
    /// `a=ice-mismatch`: the side saw a default address that is no candidate, and does no ICE here.
    package var isMismatch: Bool

    package init(
        userFragment: String, password: String, options: [String] = [], isLite: Bool = false,
        candidates: [ICECandidateAttribute] = [], isComplete: Bool = false, isMismatch: Bool = false
    ) {
        self.userFragment = userFragment
        self.password = password
        self.options = options
        self.isLite = isLite
        self.candidates = candidates
        self.isComplete = isComplete
        self.isMismatch = isMismatch
    }
}
