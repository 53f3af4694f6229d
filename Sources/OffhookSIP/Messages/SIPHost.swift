package import OffhookBasics

/// A host as messages name it: a name, an IPv4 address, or an IPv6 address in brackets.
///
/// Keeps its spelling; compares names without case and IPv6 addresses by value.
package struct SIPHost: Sendable {
    /// As written in messages: an IPv6 address has its brackets.
    package let text: String

    /// Takes a name or address; brackets are put around a bare IPv6 address.
    package init(_ text: String) {
        self.text =
            text.contains(byte: Character8.colon) && text.utf8.first != Character8.openBracket ? "[\(text)]" : text
    }

    package init(_ address: IPAddress) {
        text = address.isVersion4 ? address.description : "[\(address)]"
    }

    init(verbatim text: String) {
        self.text = text
    }

    /// The address, if this is not a name.
    package var address: IPAddress? {
        IPAddress(parsing: text)
    }
}

extension SIPHost: Hashable {
    private var isReference: Bool { text.utf8.first == Character8.openBracket }

    package static func == (left: SIPHost, right: SIPHost) -> Bool {
        if left.text.equalsIgnoringCase(right.text) { return true }
        guard left.isReference, right.isReference, let one = left.address else { return false }
        return one == right.address
    }

    package func hash(into hasher: inout Hasher) {
        if isReference, let address {
            hasher.combine(address)
        } else {
            text.hashIgnoringCase(into: &hasher)
        }
    }
}

extension SIPHost: CustomStringConvertible {
    package var description: String { text }
}
