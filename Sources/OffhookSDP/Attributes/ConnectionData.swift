package import OffhookBasics

/// The `c=` line: where a stream is to be sent (RFC 8866 §5.7).
package struct ConnectionData: Hashable, Sendable {
    package var networkType: String
    package var addressType: String
    /// The address as written, with its `/ttl` where it has one; a host name is allowed.
    package var address: String

    package init(_ address: IPAddress) {
        networkType = "IN"
        addressType = address.isVersion4 ? "IP4" : "IP6"
        self.address = address.description
    }

    /// Reads what follows `c=`.
    init?(parsing text: Substring) {
        let fields = text.fields()
        guard fields.count >= 3 else { return nil }
        networkType = String(fields[0])
        addressType = String(fields[1])
        address = String(fields[2])
    }

    /// The address without TTL and count.
    package var host: String { String(address[...].cut(at: "/").head) }

    /// The address where it is one and no name, on the Internet.
    package var ipAddress: IPAddress? {
        guard networkType.isEqualIgnoringCase("IN"), let parsed = IPAddress(parsing: host) else { return nil }
        return parsed
    }

    /// Whether the line says an IPv6 address or name.
    package var isVersion6: Bool { ipAddress.map { !$0.isVersion4 } ?? addressType.isEqualIgnoringCase("IP6") }

    package var text: String { "\(networkType) \(addressType) \(address)" }
}
