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
    let lines: [PeerLine]
    /// Each line as it is before anybody knows our ports and keys.
    let assessments: [Assessment]

    init(_ offer: SessionDescription, capabilities: MediaCapabilities, agreement: Agreement) {
        self.offer = offer
        self.capabilities = capabilities
        self.agreement = agreement
        let bundles = capabilities.canBundle ? offer.bundles : []
        lines = offer.media.indices.map { PeerLine(offer, $0, bundles: bundles) }
        assessments = lines.map { line in
            Self.assess(line, capabilities: capabilities, suiteInForce: agreement.suiteInForce(line.index), stream: nil)
        }
    }

    /// The line that carries this kind: the one in use if it still can, else the first that can.
    func index(of kind: StreamKind) -> Int? {
        if let index = agreement.indexInUse(kind), index < lines.count, isUsable(index, as: kind) { return index }
        return lines.first { isUsable($0.index, as: kind) }?.index
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
        if policy.allowsDTLS, capabilities.hasDTLS, stream.map({ $0.dtls != nil }) ?? true, let remote = line.dtls {
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
