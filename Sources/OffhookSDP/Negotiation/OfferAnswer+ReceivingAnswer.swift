internal import OffhookMedia

extension OfferAnswer {
    /// Takes the peer's answer to our open offer in.
    ///
    /// The answer to the newest offer may come again with another content, as a 183 and the 200 after it often have it;
    /// the newest holds.
    package mutating func receiveAnswer(_ answer: SessionDescription) -> AnswerOutcome {
        let offer: LocalOffer
        switch state {
        case .localOffer(let open): offer = open
        case .stable(let last?): offer = last
        case .stable(nil), .remoteOffer: return .unexpected
        }
        var next = offer.before
        var failure: DisabledReason?
        names.note(answer)
        let bundles = capabilities.canBundle ? answer.bundles : []
        for (index, offered) in offer.description.media.enumerated() {
            var memory = LineMemory(offered)
            guard let line = offer.lines[index] else {
                next.keepOff(index, offered, memory)
                continue
            }
            let result = agree(line, index, answer, bundles, offer, &memory)
            var media = NegotiatedMedia(index: index, kind: line.kind, reason: .remoteUser)
            switch result {
            case .success(let agreed): media = agreed
            case .failure(let reason):
                media.disabledReason = reason.reason
                if reason.reason != .remoteUser { failure = failure ?? reason.reason }
            }
            media.requestedDirection = offer.requestedDirections[line.kind] ?? .inactive
            next.set(media, memory)
        }
        guard offer.lines.isEmpty || next.media.contains(where: \.isEnabled) else {
            return .unusable(reason: Self.text(of: failure))
        }
        next.isRemotelyHeld = isHeld(by: answer, offer, next)
        if isBundleMisunderstood(answer, offer, next) {
            capabilities.canBundle = false
            wantsOfferWithoutBundle = true
            for index in next.lines.indices { next.lines[index].mid = nil }
        }
        agreement = next
        state = .stable(lastOffer: offer)
        return .accepted
    }

    /// Whether the answer repeats the group that we offered though it names no lines, or others, or lines whose RTCP has a port
    /// of its own and so cannot share a transport (RFC 9143 §9.3): the far end has read the group and not what it means, and
    /// nobody can tell which way it takes for the lines after the first.
    private func isBundleMisunderstood(
        _ answer: SessionDescription, _ offer: LocalOffer, _ next: Agreement
    ) -> Bool {
        guard capabilities.canBundle, !offer.description.groups.isEmpty,
            let group = answer.groups.first(where: { $0.semantics == "BUNDLE" })
        else { return false }
        let mids = answer.media.compactMap(\.mid)
        let enabled = next.media.filter(\.isEnabled)
        return enabled.count > 1
            && (group.mids.contains { !mids.contains($0) }
                || enabled.contains { $0.transportIndex != $0.index && !$0.hasRTCPMux })
    }

    private static func text(of failure: DisabledReason?) -> String {
        switch failure {
        case .noCommonCodec: "The answer has no codec of the offer"
        case .securityMismatch: "The answer has no usable key"
        case .unsupportedProfile: "The answer has another transport profile"
        case .unsupportedAddress: "The answer has an address that cannot be sent to"
        case .localUser, .remoteUser, .unsupportedMedia, nil: "The answer refuses all media"
        }
    }

    private struct Refusal: Error {
        var reason: DisabledReason
    }

    private func agree(
        _ local: LocalLine, _ index: Int, _ answer: SessionDescription, _ bundles: [[Int]], _ offer: LocalOffer,
        _ memory: inout LineMemory
    ) -> Result<NegotiatedMedia, Refusal> {
        // Fewer lines than were offered break RFC 3264 §6, but audio-only devices answer so.
        guard index < answer.media.count else { return .failure(Refusal(reason: .remoteUser)) }
        let peer = PeerLine(answer, index, bundles: bundles)
        guard peer.kind == local.kind, !peer.isOff else { return .failure(Refusal(reason: .remoteUser)) }
        guard let profile = peer.profile, let offered = TransportProfile(local.profile),
            profile.isDTLS == offered.isDTLS, !offered.isSecure || profile.isSecure
        else { return .failure(Refusal(reason: .unsupportedProfile)) }
        guard let security = security(local, peer, profile, &memory, offer.before.association(on: local.transport))
        else {
            return .failure(Refusal(reason: .securityMismatch))
        }
        guard peer.isReachable(with: capabilities) else { return .failure(Refusal(reason: .unsupportedAddress)) }
        let match = FormatMatch(
            peer.media.peerFormats(known: local.maps),
            codecs: local.kind == .audio ? capabilities.audio : capabilities.video,
            hasTelephoneEvents: local.kind == .audio && capabilities.hasTelephoneEvents
        ).offered(local)
        guard !match.codecs.isEmpty else { return .failure(Refusal(reason: .noCommonCodec)) }
        var agreed = local
        agreed.hasRTCPMux = local.hasRTCPMux && (peer.hasRTCPMux || peer.isMuxedByCandidates)
        agreed.hasReducedSizeRTCP = local.hasReducedSizeRTCP && peer.hasReducedSizeRTCP
        agreed.direction = local.direction.intersection(peer.direction.mirrored)
        if let first = match.codecs.first {
            agreed.feedback.formIntersection(
                RTCPFeedback(peer.media.feedback, payloadType: first.peer.payloadType))
        }
        agreed.extensions = local.extensions.compactMap { own in
            guard let answered = peer.headerExtensions.first(where: { $0.uri == own.uri }) else { return nil }
            return HeaderExtensionAttribute(id: own.id, direction: answered.direction?.mirrored, uri: own.uri)
        }
        for line in agreed.extensions { memory.extensionIDs[line.uri] = line.id }
        var media = NegotiatedMedia(local: agreed, peer: peer, match: match, security: security)
        if let bundle = bundles.first(where: { $0.contains(index) }), let tagged = bundle.first {
            media.transportIndex = tagged
            media.transportKind = offer.lines[tagged]?.transport ?? local.transport
        }
        return .success(media)
    }

    /// How the line is secured by the answer; nil where it is not as it must be.
    private func security(
        _ local: LocalLine, _ peer: PeerLine, _ profile: TransportProfile, _ memory: inout LineMemory,
        _ former: DTLSAssociation?
    ) -> NegotiatedSecurity? {
        if !profile.isDTLS, let (own, remote) = cryptoPair(local, peer), let key = own.key {
            memory.crypto = own
            return .sdes(local: key, remote: remote)
        }
        if let own = local.dtls, let remote = peer.dtls, capabilities.canVerify(remote) {
            let role = offeringRole(own, remote, former)
            memory.association = DTLSAssociation(role: role, local: own, remote: remote)
            return .dtls(role: role, remote: remote)
        }
        return profile.isSecure || !capabilities.security.allowsPlain ? nil : NegotiatedSecurity.none
    }

    /// Our line and the peer's key for it: the answer names the tag and the suite of one of ours (RFC 4568 §5.1.3).
    private func cryptoPair(_ local: LocalLine, _ peer: PeerLine) -> (own: CryptoAttribute, remote: SDESKey)? {
        for answered in peer.media.cryptoLines where answered.isUsable(with: capabilities) {
            guard let own = local.crypto.first(where: { $0.tag == answered.tag && $0.suite == answered.suite }),
                let remote = answered.key
            else { continue }
            return (own, remote)
        }
        return nil
    }

    /// Our role after an answer: the peer's choice turned round.
    private func offeringRole(
        _ local: DTLSDescription, _ remote: DTLSDescription, _ association: DTLSAssociation?
    ) -> SetupRole {
        switch remote.setup {
        case .active: return .passive
        case .passive: return .active
        // No answer may say so; most who do act as clients.
        case .activeOrPassive, .holdConnection, nil:
            if let association, association.isSame(local, remote) { return association.role }
            return local.setup == .active ? .active : .passive
        }
    }

    /// An answer tells of a hold only where our offer asked to send: a peer that then does not receive holds the call.
    private func isHeld(by answer: SessionDescription, _ offer: LocalOffer, _ next: Agreement) -> Bool {
        guard let index = next.indexInUse(.audio), let offered = offer.lines[index]?.direction, offered.sends else {
            return offer.before.isRemotelyHeld
        }
        return !PeerLine(answer, index).direction.receives
    }
}

extension FormatMatch {
    /// Only what we have offered.
    fileprivate func offered(_ local: LocalLine) -> FormatMatch {
        var match = self
        match.codecs.removeAll { codec in !local.codecs.contains { $0.map.codecKey == codec.peer.map.codecKey } }
        match.telephoneEvents.removeAll { event in
            !local.telephoneEvents.contains { $0.map.codecKey == event.map.codecKey }
        }
        return match
    }
}

extension Agreement {
    /// A line that we have offered at port 0: taken away by us if it was in use.
    fileprivate mutating func keepOff(_ index: Int, _ offered: MediaDescription, _ memory: LineMemory) {
        let kind = StreamKind(rawValue: offered.kind)
        let reason = index < media.count ? media[index].disabledReason : nil
        set(NegotiatedMedia(index: index, kind: kind, reason: reason ?? .localUser), memory)
    }
}
