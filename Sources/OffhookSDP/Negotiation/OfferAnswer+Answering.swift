internal import OffhookBasics
internal import OffhookMedia

extension OfferAnswer {
    /// Answers the open offer of the peer; nil where none is open.
    ///
    /// A line's direction is what the offer mirrors, what is asked for and what is allowed, taken together; every line
    /// of the offer has its line in the answer, at port 0 where it is refused.
    package mutating func makeAnswer(_ wishes: MediaWishes) -> SessionDescription? {
        guard case .remoteOffer(let offer) = state else { return nil }
        let kinds = StreamKind.allCases.filter { wishes.stream($0) != nil && wishes.direction($0) != nil }
        let reading = OfferReading(offer, capabilities: capabilities, agreement: agreement, kinds: kinds)
        let plan = BundlePlan(reading, kinds: kinds)
        names.note(offer)
        extensionNumbers.note(offer)
        var next = agreement
        next.isRemotelyHeld = reading.isRemotelyHeld
        var lines: [Int: LocalLine] = [:]
        var memories: [Int: LineMemory] = [:]
        for peer in reading.lines {
            var memory = LineMemory(peer.media)
            var media = NegotiatedMedia(refused: peer, reason: refusal(of: peer, in: reading))
            if let kind = peer.kind, reading.index(of: kind) == peer.index {
                switch accept(peer, kind, wishes, on: plan.transports[peer.index] ?? kind, &memory) {
                case .accepted(let line, let agreed):
                    lines[peer.index] = line
                    media = agreed
                    media.transportIndex = plan.taggedIndex(of: peer.index)
                case .refused(let reason):
                    media.disabledReason = reason
                }
            }
            memories[peer.index] = memory
            next.set(media, memory)
        }
        // Lines that the peer has left out, which it may not, count as taken away.
        for index in next.media.indices.dropFirst(reading.lines.count) { next.disable(index) }
        // RFC 5761 §5.1.3: RTCP on RTP's port has no candidates of its own.
        for index in lines.keys where lines[index]?.hasRTCPMux == true {
            lines[index]?.ice?.candidates.removeAll { $0.component != 1 }
        }
        let groups = plan.bundles.map { bundle in bundle.filter { lines[$0] != nil } }
        let answer = describe(lines, count: offer.media.count, groups: groups, refused: memories)
        agreement = next
        state = .stable(lastOffer: nil)
        return answer
    }

    private enum Acceptance {
        case accepted(LocalLine, NegotiatedMedia)
        case refused(DisabledReason)
    }

    /// Why the line stays off: a line taken away by us stays so although the peer repeats port 0.
    private func refusal(of peer: PeerLine, in reading: OfferReading) -> DisabledReason {
        let reason = reading.refusal(of: peer) ?? .localUser
        guard reason == .remoteUser, peer.index < agreement.media.count else { return reason }
        return agreement.media[peer.index].disabledReason ?? .remoteUser
    }

    private mutating func accept(
        _ peer: PeerLine, _ kind: StreamKind, _ wishes: MediaWishes, on transport: StreamKind,
        _ memory: inout LineMemory
    ) -> Acceptance {
        guard let own = wishes.stream(kind), let direction = wishes.direction(kind) else { return .refused(.localUser) }
        let shared = wishes.transport(transport)
        let stream = shared.map(own.sharing) ?? own
        let assessment = OfferReading.assess(
            peer, capabilities: capabilities, suiteInForce: agreement.suiteInForce(peer.index), stream: stream)
        guard case .usable(var usable) = assessment else {
            if case .refused(let reason) = assessment { return .refused(reason) }
            return .refused(.localUser)
        }
        guard let address = stream.address(for: peer) else { return .refused(.unsupportedAddress) }
        if capabilities.prefersOwnCodecOrder {
            usable.match.sort(by: kind == .audio ? capabilities.audio : capabilities.video)
        }
        var line = LocalLine(
            kind: kind, address: address, stream: stream, transport: shared == nil ? kind : transport,
            profile: peer.media.profile, direction: peer.direction.mirrored.intersection(direction))
        line.answer(
            usable.match,
            retransmissions: kind == .video && capabilities.hasRetransmission ? peer.media.retransmissionTypes : [:])
        line.mid = peer.media.mid
        line.hasRTCPMux = capabilities.hasRTCPMux && peer.hasRTCPMux
        line.hasReducedSizeRTCP = capabilities.hasReducedSizeRTCP && peer.hasReducedSizeRTCP
        line.ice = peer.ice == nil ? nil : stream.ice
        if peer.isICEMismatched { line.ice?.isMismatch = true }
        line.bandwidth = kind == .video ? capabilities.videoBandwidth : nil
        line.packetTime = capabilities.packetTime
        line.extensions = answeredExtensions(kind, peer)
        for line in line.extensions { memory.extensionIDs[line.uri] = line.id }
        if let first = usable.match.codecs.first {
            let wanted = kind == .video ? capabilities.videoFeedback : capabilities.audioFeedback
            line.feedback = wanted.intersection(
                RTCPFeedback(peer.media.feedback, payloadType: first.peer.payloadType))
        }
        guard let security = secure(&line, usable, &memory) else { return .refused(.securityMismatch) }
        bindNumbers(of: line, at: peer.index)
        var media = NegotiatedMedia(local: line, peer: peer, match: usable.match, security: security)
        media.requestedDirection = wishes.requestedDirection(kind) ?? .inactive
        return .accepted(line, media)
    }

    private func secure(
        _ line: inout LocalLine, _ usable: OfferReading.UsableLine, _ memory: inout LineMemory
    ) -> NegotiatedSecurity? {
        let index = usable.peer.index
        let former = index < agreement.lines.count ? agreement.lines[index] : nil
        switch usable.security {
        case .plain:
            return NegotiatedSecurity.none
        case .sdes(let offered, let suite):
            // The key in force stays; RFC 4568 §5.1.2: the tag is that of the line taken.
            let inForce = agreement.suiteInForce(index) == suite ? former?.crypto?.keys.first?.bytes : nil
            guard let key = inForce ?? line.stream.keys[suite], let remote = offered.key else { return nil }
            let own = CryptoAttribute(tag: offered.tag, suite: suite, key: key)
            guard let local = own.key else { return nil }
            line.crypto = [own]
            memory.crypto = own
            return .sdes(local: local, remote: remote)
        case .dtls(let remote):
            guard var local = line.stream.dtls else { return nil }
            let role = answeringRole(local, remote, agreement.association(on: line.transport))
            memory.association = DTLSAssociation(role: role, local: local, remote: remote)
            local.setup = role
            line.dtls = local
            return .dtls(role: role, remote: remote)
        }
    }

    /// Our role in an answer: the one we have while the association stays (RFC 8842 §5.3), else active if we may choose.
    private func answeringRole(
        _ local: DTLSDescription, _ remote: DTLSDescription, _ association: DTLSAssociation?
    ) -> SetupRole {
        switch remote.setup {
        case .active, nil: return .passive
        case .passive: return .active
        case .activeOrPassive, .holdConnection:
            if let association, association.isSame(local, remote) { return association.role }
            return local.setup == .passive ? .passive : .active
        }
    }

    private func answeredExtensions(_ kind: StreamKind, _ peer: PeerLine) -> [HeaderExtensionAttribute] {
        let offered = kind == .audio ? capabilities.audioExtensions : capabilities.videoExtensions
        let known = capabilities.answeredExtensions + offered
        var answered: [HeaderExtensionAttribute] = []
        for offered in peer.headerExtensions where known.contains(offered.uri) && offered.id <= 255 {
            guard !answered.contains(where: { $0.uri == offered.uri || $0.id == offered.id }) else { continue }
            answered.append(
                HeaderExtensionAttribute(id: offered.id, direction: offered.direction?.mirrored, uri: offered.uri))
        }
        return answered
    }

    mutating func bindNumbers(of line: LocalLine, at index: Int) {
        while numbers.count <= index { numbers.append(PayloadNumbers()) }
        for format in line.codecs + line.telephoneEvents {
            numbers[index].bind(format.map.payloadType, to: format.map.codecKey)
            guard let repeats = format.retransmission else { continue }
            numbers[index].bind(repeats, to: PayloadNumbers.retransmissionKey(of: format.map.payloadType))
        }
    }
}

extension LocalStream {
    /// The stream on the transport of another: with its address, ports and candidates.
    func sharing(_ other: LocalStream) -> LocalStream {
        var shared = self
        shared.addresses = other.addresses
        shared.port = other.port
        shared.rtcpPort = other.rtcpPort
        shared.ice = other.ice
        return shared
    }

    /// Our address for a line of the peer: of the same family; with ICE any, as candidates tell more.
    func address(for peer: PeerLine) -> IPAddress? {
        let isVersion4 = peer.connection.map { !$0.isVersion6 }
        let same = addresses.first { $0.isVersion4 == isVersion4 ?? true }
        return same ?? (peer.ice != nil && ice != nil ? addresses.first : nil)
    }
}

extension LocalLine {
    /// Takes the offer's formats with their numbers (RFC 3264 §6.1), in our own spelling and with our parameters.
    mutating func answer(_ match: FormatMatch, retransmissions: [UInt8: UInt8]) {
        codecs = match.codecs.map { codec in
            Format(
                map: codec.capability.map(payloadType: codec.peer.payloadType), parameters: codec.capability.parameters,
                retransmission: retransmissions[codec.peer.payloadType])
        }
        telephoneEvents = match.telephoneEvents.map { event in
            let own = CodecCapability.telephoneEvent(clockRate: event.map.clockRate)
            return Format(map: own.map(payloadType: event.payloadType), parameters: own.parameters)
        }
    }
}

extension FormatMatch {
    mutating func sort(by order: [CodecCapability]) {
        codecs = order.compactMap { capability in codecs.first { $0.capability == capability } }
    }
}

extension Agreement {
    /// Puts a line into its place, which is the next one at most.
    mutating func set(_ media: NegotiatedMedia, _ memory: LineMemory) {
        if media.index < self.media.count {
            self.media[media.index] = media
            lines[media.index] = memory
        } else {
            self.media.append(media)
            lines.append(memory)
        }
    }

    /// The peer has taken the line away.
    mutating func disable(_ index: Int) {
        let reason = media[index].disabledReason ?? .remoteUser
        media[index] = NegotiatedMedia(index: index, kind: media[index].kind, reason: reason)
        lines[index].crypto = nil
        lines[index].association = nil
    }
}
