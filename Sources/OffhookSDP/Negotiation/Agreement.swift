internal import OffhookBasics
internal import OffhookMedia

/// What both sides last agreed on, and what the rules of a session have to remember of it.
struct Agreement: Sendable {
    var media: [NegotiatedMedia] = []
    /// One for each of `media`.
    var lines: [LineMemory] = []
    var isRemotelyHeld = false

    /// The line of this kind in use.
    func indexInUse(_ kind: StreamKind) -> Int? {
        media.first { $0.kind == kind && $0.isEnabled }?.index
    }

    /// The transport of ours that the line of this kind uses.
    func transport(inUseBy kind: StreamKind) -> StreamKind? {
        media.first { $0.kind == kind && $0.isEnabled }?.transportKind
    }

    /// The DTLS association on a transport of ours.
    func association(on transport: StreamKind) -> DTLSAssociation? {
        let users = media.filter { $0.isEnabled && $0.transportKind == transport && $0.index < lines.count }
        return users.lazy.compactMap { lines[$0.index].association }.first
    }

    /// The suite of SDES in force on a line.
    func suiteInForce(_ index: Int) -> SDESSuite? {
        guard index < media.count, media[index].isEnabled, case .sdes(let local, _) = media[index].security else {
            return nil
        }
        return local.suite
    }
}

/// What has to be kept of one line for later offers and answers.
struct LineMemory: Sendable {
    /// The first word of the m-line.
    var kind: String
    var profile: String
    /// What stands in the line while it is zeroed.
    var formats: [String]
    var mid: String?
    /// Our `a=crypto` in force.
    var crypto: CryptoAttribute?
    var association: DTLSAssociation?
    /// The numbers of RTP header extensions, by URI.
    var extensionIDs: [String: UInt16] = [:]

    init(_ media: MediaDescription) {
        kind = media.kind
        profile = media.profile
        formats = media.formats
        mid = media.mid
    }

    /// The line at port 0.
    var zeroed: MediaDescription {
        var media = MediaDescription(
            kind: kind, port: 0, profile: profile, formats: formats.isEmpty ? ["0"] : formats)
        if let mid { media.append("mid", mid) }
        return media
    }
}

/// The DTLS association of a line: while nothing of this changes, the roles stay (RFC 8842 §4).
struct DTLSAssociation: Hashable, Sendable {
    /// Ours: active or passive.
    var role: SetupRole
    var localFingerprints: Set<FingerprintAttribute>
    var remoteFingerprints: Set<FingerprintAttribute>
    var localID: String?
    var remoteID: String?

    init(role: SetupRole, local: DTLSDescription, remote: DTLSDescription) {
        self.role = role
        localFingerprints = Set(local.fingerprints)
        remoteFingerprints = Set(remote.fingerprints)
        localID = local.tlsID
        remoteID = remote.tlsID
    }

    /// Whether descriptions are of this association. Who names none at times begins nothing new by that.
    func isSame(_ local: DTLSDescription, _ remote: DTLSDescription) -> Bool {
        let other = DTLSAssociation(role: role, local: local, remote: remote)
        func isSame(_ left: String?, _ right: String?) -> Bool { left == nil || right == nil || left == right }
        return localFingerprints == other.localFingerprints && remoteFingerprints == other.remoteFingerprints
            && isSame(localID, other.localID) && isSame(remoteID, other.remoteID)
    }
}

/// An offer of ours with what is needed to understand its answer.
struct LocalOffer: Sendable {
    var description: SessionDescription
    /// The lines in use, by index.
    var lines: [Int: LocalLine]
    var requestedDirections: [StreamKind: MediaDirection]
    /// What was agreed when the offer was made: an answer told again starts from there.
    var before: Agreement
}

/// The `o=` of our descriptions, and what was sent last under it.
struct LocalIdentity: Sendable {
    let sessionID: UInt64
    var version: UInt64
    let address: IPAddress
    var lastSent: SessionDescription?

    /// Gives a description its origin: the version goes up by one if the content differs from what was sent last
    /// (RFC 3264 §8), agreed or not.
    mutating func sign(lines: [SDPLine], media: [MediaDescription]) -> SessionDescription {
        if let lastSent, lastSent.lines != lines || lastSent.media != media { version &+= 1 }
        let origin = Origin(
            sessionID: String(sessionID), sessionVersion: String(version),
            addressType: address.isVersion4 ? "IP4" : "IP6", address: address.description)
        let description = SessionDescription(origin: origin, lines: lines, media: media)
        lastSent = description
        return description
    }
}
