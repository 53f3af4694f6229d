internal import OffhookBasics
internal import OffhookMedia

/// One line of the peer's description with what holds for it from elsewhere: the session's lines, and its bundle.
struct PeerLine: Sendable {
    let index: Int
    let media: MediaDescription
    let kind: StreamKind?
    let profile: TransportProfile?
    /// Port 0: refused or taken away.
    let isOff: Bool
    /// Port 0 and `bundle-only`: there, but only in its bundle.
    let isBundleOnly: Bool
    /// The line whose address holds: the first of the bundle, or this one.
    let transportIndex: Int
    let connection: ConnectionData?
    let ice: ICEDescription?
    let dtls: DTLSDescription?
    /// As the peer says it; what is sent to `0.0.0.0` is not received.
    let direction: MediaDirection
    let bandwidth: BandwidthLimits
    /// Whether RTCP may share RTP's port; in a bundle the first line says so for all (RFC 8859 §5.3).
    let hasRTCPMux: Bool
    /// Whether RTCP may be of reduced size, likewise.
    let hasReducedSizeRTCP: Bool
    let headerExtensions: [HeaderExtensionAttribute]
    private let transport: MediaDescription

    init(_ description: SessionDescription, _ index: Int, bundles: [[Int]] = []) {
        let media = description.media[index]
        self.index = index
        self.media = media
        kind = StreamKind(rawValue: media.kind.lowercasedASCII)
        profile = TransportProfile(media.profile)
        let bundle = bundles.first { $0.contains(index) }
        isBundleOnly = media.port == 0 && media.isBundleOnly && bundle != nil
        isOff = media.port == 0 && !isBundleOnly
        transportIndex = isOff ? index : bundle?.first ?? index
        let transport = description.media[transportIndex]
        self.transport = transport
        hasRTCPMux = media.hasRTCPMux || transport.hasRTCPMux
        hasReducedSizeRTCP = media.hasReducedSizeRTCP || transport.hasReducedSizeRTCP
        headerExtensions = description.headerExtensions(of: media)
        connection = description.connection(of: transport)
        let ice = description.ice(of: transport)
        let hasAddress = connection?.ipAddress?.isUnspecified == false && transport.port > 9
        self.ice = hasAddress && ice?.isWithoutWay == true ? nil : ice
        dtls = description.dtls(of: transport)
        let stated = description.direction(of: media)
        // The hold of RFC 2543. With ICE the address is a filler until candidates have come (RFC 8840 §4.1.1).
        let isNowhere = connection?.ipAddress?.isUnspecified == true && ice == nil
        direction = isNowhere ? stated.intersection(.sendOnly) : stated
        var limits = BandwidthLimits()
        for line in description.bandwidths(of: media).reversed() {
            if line.kind == .applicationSpecific { limits.applicationSpecific = line.value }
            if line.kind == .transportIndependent { limits.transportIndependent = line.value }
        }
        bandwidth = limits
    }

    var rtpDestination: RemoteDestination { Self.destination(connection, transport.port) }

    func rtcpDestination(isMuxed: Bool) -> RemoteDestination {
        if isMuxed { return rtpDestination }
        if let rtcp = transport.rtcp { return Self.destination(rtcp.connection ?? connection, rtcp.port) }
        return transport.port == .max ? .none : Self.destination(connection, transport.port + 1)
    }

    /// Whether an answer without `rtcp-mux` means it all the same: it has candidates, none of them for RTCP.
    ///
    /// Linphone 5 answers so where it is offered a bundle.
    var isMuxedByCandidates: Bool {
        guard let ice, !ice.candidates.isEmpty, !ice.isLite else { return false }
        return ice.candidates.allSatisfy { $0.component == 1 }
    }

    /// Whether an address of the line is no candidate: somebody on the way has put in its own (RFC 8839 §4.2.5).
    ///
    /// A filler for candidates to come and a name are no mismatch.
    var isICEMismatched: Bool {
        guard let ice, !ice.candidates.isEmpty else { return false }
        var defaults: [(component: UInt16, destination: RemoteDestination)] = [(1, rtpDestination)]
        if transport.rtcp != nil, !hasRTCPMux { defaults.append((2, rtcpDestination(isMuxed: false))) }
        return defaults.contains { component, destination in
            guard case .endpoint(let endpoint) = destination else { return false }
            return !ice.candidates.contains { $0.component == component && $0.endpoint == endpoint }
        }
    }

    private static func destination(_ connection: ConnectionData?, _ port: UInt16) -> RemoteDestination {
        guard let connection, port != 0 else { return .none }
        guard let address = connection.ipAddress else { return .name(connection.host, port: port) }
        return address.isUnspecified ? .none : .endpoint(Endpoint(address, port))
    }

    /// Whether what we send can get there: a unicast address or name of a family we have, or ICE candidates that may be.
    func isReachable(with capabilities: MediaCapabilities) -> Bool {
        if let ice {
            let families = ice.candidates.compactMap { $0.endpoint?.address.isVersion4 }
            if families.isEmpty || families.contains(where: { Self.canSend(version4: $0, capabilities) }) {
                return true
            }
        }
        guard let connection, connection.networkType.isEqualIgnoringCase("IN") else { return false }
        if connection.ipAddress?.isMulticast == true { return false }
        return Self.canSend(version4: !connection.isVersion6, capabilities)
    }

    private static func canSend(version4: Bool, _ capabilities: MediaCapabilities) -> Bool {
        version4 ? capabilities.canSendVersion4 : capabilities.canSendVersion6
    }
}

extension ICEDescription {
    /// Whether it has no candidate and none will trickle in: credentials of the session that this line makes no use of.
    fileprivate var isWithoutWay: Bool {
        candidates.isEmpty && !isLite && !options.contains("trickle")
    }
}

extension SessionDescription {
    /// The lines of each BUNDLE group that are there, by index: the first that has an address has it for all (RFC 9143 §7.3.1).
    var bundles: [[Int]] {
        let groups = groups.filter { $0.semantics == "BUNDLE" }
        guard !groups.isEmpty else { return [] }
        var indexes: [String: Int] = [:]
        for (index, stream) in media.enumerated() {
            if let mid = stream.mid, indexes[mid] == nil { indexes[mid] = index }
        }
        // A line is in one group (RFC 9143 §5), whatever a description says; so a hostile one costs no more than its lines.
        var taken: Set<Int> = []
        return groups.compactMap { group in
            let lines = group.mids.compactMap { indexes[$0] }.filter { index in
                (media[index].port != 0 || media[index].isBundleOnly) && taken.insert(index).inserted
            }
            return lines.taggedFirst { media[$0].port != 0 }
        }
    }
}

extension [Int] {
    /// The first line that can be a bundle's tagged one, and the others behind it; nil where none can.
    func taggedFirst(where canBeTagged: (Int) -> Bool) -> [Int]? {
        guard let tagged = first(where: canBeTagged) else { return nil }
        return [tagged] + filter { $0 != tagged }
    }
}
