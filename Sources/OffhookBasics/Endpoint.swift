/// An IP address and a port: one end of a flow.
public struct Endpoint: Hashable, Sendable {
    /// The address.
    public var address: IPAddress
    /// The UDP or TCP port.
    public var port: UInt16

    /// Makes an end from its parts.
    public init(_ address: IPAddress, _ port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads `192.0.2.1:5060` or `[2001:db8::1]:5060`; nil without a port.
    public init?(parsing text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon]
        guard host.hasPrefix("[") || !host.contains(":"), let address = IPAddress(parsing: host) else { return nil }
        self.init(address, port)
    }
}

extension Endpoint: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads.
    public var description: String {
        address.isVersion4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}
