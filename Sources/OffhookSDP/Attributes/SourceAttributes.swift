package import OffhookMedia

/// `a=ssrc` (RFC 5576 §4.1).
package struct SSRCAttribute: Hashable, Sendable {
    package var ssrc: UInt32
    /// `cname`, `msid` …
    package var name: String
    package var value: String?

    package init(ssrc: UInt32, name: String, value: String? = nil) {
        self.ssrc = ssrc
        self.name = name
        self.value = value
    }

    init?(parsing text: Substring) {
        guard let (number, rest) = text.firstField(), let ssrc = number.number(UInt32.self), !rest.isEmpty else {
            return nil
        }
        let (name, value) = rest.cut(at: ":")
        self.init(ssrc: ssrc, name: String(name), value: value.map(String.init))
    }

    package var text: String { "\(ssrc) \(name)" + (value.map { ":" + $0 } ?? "") }
}

/// `a=ssrc-group` (RFC 5576 §4.2).
package struct SSRCGroupAttribute: Hashable, Sendable {
    package var semantics: String
    package var sources: [UInt32]

    init?(parsing text: Substring) {
        let fields = text.fields()
        guard fields.count >= 2 else { return nil }
        semantics = String(fields[0])
        sources = fields[1...].compactMap { $0.number(UInt32.self) }
    }
}

/// `a=group` (RFC 5888 §5).
package struct GroupAttribute: Hashable, Sendable {
    package var semantics: String
    package var mids: [String]

    package init(semantics: String, mids: [String]) {
        self.semantics = semantics
        self.mids = mids
    }

    init?(parsing text: Substring) {
        let fields = text.fields()
        guard let first = fields.first else { return nil }
        self.init(semantics: String(first), mids: fields.dropFirst().map(String.init))
    }

    package var text: String { ([semantics] + mids).joined(separator: " ") }
}

/// `a=extmap`: a number for an RTP header extension (RFC 8285 §5).
package struct HeaderExtensionAttribute: Hashable, Sendable {
    package var id: UInt16
    package var direction: MediaDirection?
    package var uri: String
    /// What follows the URI.
    package var parameters: String

    package init(id: UInt16, direction: MediaDirection? = nil, uri: String, parameters: String = "") {
        self.id = id
        self.direction = direction
        self.uri = uri
        self.parameters = parameters
    }

    init?(parsing text: Substring) {
        guard let (head, rest) = text.firstField(), let (uri, parameters) = rest.firstField() else { return nil }
        let (number, direction) = head.cut(at: "/")
        guard let id = number.number(UInt16.self), id > 0 else { return nil }
        self.init(
            id: id, direction: direction.flatMap { MediaDirection(attribute: String($0)) }, uri: String(uri),
            parameters: String(parameters))
    }

    package var text: String {
        let head = direction.map { "\(id)/\($0.attributeName)" } ?? "\(id)"
        return parameters.isEmpty ? "\(head) \(uri)" : "\(head) \(uri) \(parameters)"
    }
}
