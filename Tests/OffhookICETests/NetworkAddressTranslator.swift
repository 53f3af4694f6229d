import OffhookBasics

/// A NAT as a value, of the four kinds that RFC 3489 §5 names.
struct NetworkAddressTranslator {
    enum Kind: CaseIterable {
        case fullCone
        case addressRestricted
        case portRestricted
        case symmetric
    }

    private struct Mapping {
        let local: Endpoint
        /// The only destination of a symmetric NAT's mapping.
        let destination: Endpoint?
        let port: UInt16
        var contacted: Set<Endpoint> = []
    }

    let kind: Kind
    let address: IPAddress
    private var mappings: [Mapping] = []
    private var nextPort: UInt16 = 20_000

    init(_ kind: Kind, address: IPAddress) {
        self.kind = kind
        self.address = address
    }

    /// Where a datagram seems to come from outside.
    mutating func translate(_ local: Endpoint, to destination: Endpoint) -> Endpoint {
        let index =
            mappings.firstIndex { $0.local == local && ($0.destination == nil || $0.destination == destination) }
            ?? {
                mappings.append(
                    Mapping(
                        local: local, destination: kind == .symmetric ? destination : nil, port: nextPort))
                nextPort += 1
                return mappings.count - 1
            }()
        mappings[index].contacted.insert(destination)
        return Endpoint(address, mappings[index].port)
    }

    /// Who inside gets a datagram; nil where it is filtered.
    func admit(to port: UInt16, from source: Endpoint) -> Endpoint? {
        guard let mapping = mappings.first(where: { $0.port == port }) else { return nil }
        switch kind {
        case .fullCone: return mapping.local
        case .addressRestricted:
            return mapping.contacted.contains { $0.address == source.address } ? mapping.local : nil
        case .portRestricted, .symmetric: return mapping.contacted.contains(source) ? mapping.local : nil
        }
    }

    /// Forgets all mappings, as after a restart; ports are new from now on.
    mutating func forget() {
        mappings = []
    }
}
