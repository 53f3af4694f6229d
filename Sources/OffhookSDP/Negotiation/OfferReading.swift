internal import OffhookMedia

/// The peer's offer read with our capabilities and what was agreed before.
struct OfferReading: Sendable {
    /// What could be made of a line.
    enum Assessment: Sendable {
        case usable(UsableLine)
        case refused(DisabledReason)
    }

    struct UsableLine: Sendable {
        var peer: PeerLine
        var match: FormatMatch
        var security: Security
    }

    /// How a line would be secured.
    enum Security: Sendable {
        case plain
        case sdes(CryptoAttribute, SDESSuite)
        case dtls(DTLSDescription)
    }

    let offer: SessionDescription
    let capabilities: MediaCapabilities
    let agreement: Agreement
    private(set) var lines: [PeerLine] = []
    /// Each line as it is before anybody knows our ports and keys.
    private(set) var assessments: [Assessment] = []
    /// The bundles as they can be taken: without the lines that are refused, and the one whose transport it is first.
    private(set) var bundles: [[Int]]

    /// - Parameter kinds: what is wanted at all. A line that is not is in no bundle, and its own assessment stays as it was.
    init(
        _ offer: SessionDescription, capabilities: MediaCapabilities, agreement: Agreement,
        kinds: [StreamKind] = StreamKind.allCases
    ) {
        self.offer = offer
        self.capabilities = capabilities
        self.agreement = agreement
        bundles = capabilities.canBundle && capabilities.hasRTCPMux ? offer.bundles : []
        settleBundles(StreamKind.allCases)
        guard kinds.count < StreamKind.allCases.count else { return }
        let all = (lines, assessments)
        settleBundles(kinds)
        for index in lines.indices {
            guard let kind = lines[index].kind, !kinds.contains(kind) else { continue }
            (lines[index], assessments[index]) = (all.0[index], all.1[index])
        }
    }

    /// Takes the lines out of the bundles that are refused, until the rest can be taken: the address of a bundle is that of
    /// its first line which is not refused and has one; where there is none, there is no bundle (RFC 9143 §7.3.1).
    private mutating func settleBundles(_ kinds: [StreamKind]) {
        while true {
            lines = offer.media.indices.map { PeerLine(offer, $0, bundles: bundles) }
            assessments = lines.map { line in
                Self.assess(
                    line, capabilities: capabilities, suiteInForce: agreement.suiteInForce(line.index), stream: nil)
            }
            let taken = kinds.compactMap { index(of: $0) }
            let kept = bundles.compactMap { bundle in
                bundle.filter { taken.contains($0) && lines[$0].hasRTCPMux }.taggedFirst { offer.media[$0].port != 0 }
            }
            guard kept != bundles else { return }
            bundles = kept
        }
    }

    func isBundled(_ index: Int) -> Bool { bundles.contains { $0.contains(index) } }

    /// The line that carries this kind: the one in use if it still can, else the first that can, one on which nothing is to
    /// flow last: browsers leave such a line where a camera was.
    func index(of kind: StreamKind) -> Int? {
        if let index = agreement.indexInUse(kind), index < lines.count, isUsable(index, as: kind) { return index }
        let usable = lines.filter { isUsable($0.index, as: kind) }
        return (usable.first { $0.direction != .inactive } ?? usable.first)?.index
    }

    /// The direction of a line as we would see it.
    func offeredDirection(_ index: Int) -> MediaDirection { lines[index].direction.mirrored }

    private func isUsable(_ index: Int, as kind: StreamKind) -> Bool {
        guard lines[index].kind == kind, case .usable = assessments[index] else { return false }
        return true
    }

    /// - Parameter stream: our side of the line, which must have the keys; nil while only capabilities count.
    static func assess(
        _ line: PeerLine, capabilities: MediaCapabilities, suiteInForce: SDESSuite?, stream: LocalStream?
    ) -> Assessment {
        guard let kind = line.kind else { return .refused(.unsupportedMedia) }
        guard !line.isOff else { return .refused(line.media.isBundleOnly ? .unsupportedMedia : .remoteUser) }
        let policy = capabilities.security
        guard let profile = line.profile, !profile.isSecure || policy != .off,
            !profile.isDTLS || policy.allowsDTLS && capabilities.hasDTLS
        else { return .refused(.unsupportedProfile) }
        guard
            let security = security(
                line, profile, capabilities: capabilities, suiteInForce: suiteInForce, stream: stream)
        else { return .refused(.securityMismatch) }
        guard line.isReachable(with: capabilities) else { return .refused(.unsupportedAddress) }
        let match = FormatMatch(
            line.media.peerFormats(), codecs: kind == .audio ? capabilities.audio : capabilities.video,
            hasTelephoneEvents: kind == .audio && capabilities.hasTelephoneEvents)
        guard !match.codecs.isEmpty else { return .refused(.noCommonCodec) }
        return .usable(UsableLine(peer: line, match: match, security: security))
    }

    /// How the line can be secured under our policy; nil where it cannot.
    private static func security(
        _ line: PeerLine, _ profile: TransportProfile, capabilities: MediaCapabilities, suiteInForce: SDESSuite?,
        stream: LocalStream?
    ) -> Security? {
        let policy = capabilities.security
        let hasKey = { (suite: SDESSuite) in stream.map { $0.keys[suite]?.count == suite.inlineLength } ?? true }
        var sdes: Security?
        if policy.allowsSDES, !profile.isDTLS,
            let choice = line.media.cryptoLines.choice(
                capabilities: capabilities, inForce: suiteInForce, hasKey: hasKey)
        {
            sdes = .sdes(choice.line, choice.suite)
        }
        var dtls: Security?
        if policy.allowsDTLS, capabilities.hasDTLS, stream.map({ $0.dtls != nil }) ?? true, let remote = line.dtls,
            capabilities.canVerify(remote)
        {
            dtls = .dtls(remote)
        }
        if profile.isDTLS { return dtls }
        // Older WebRTC stacks say SAVPF for DTLS; a key in the line itself is the plainer word.
        if profile.isSecure { return sdes ?? dtls }
        // RFC 8643: keys beside a plain profile are an invitation to those who can take it. To the other policies
        // they are no keys at all (RFC 4568 §3.1.1), so the line is plain: taken with `off`, refused where keys must be.
        if policy == .bestEffort { return dtls ?? sdes ?? .plain }
        return policy.allowsPlain ? .plain : nil
    }
}
