package import OffhookMedia

extension OfferAnswer {
    /// Takes the peer's offer in. Unless it is rejected, `makeAnswer` or `rollback` must follow.
    package mutating func receiveOffer(_ offer: SessionDescription) -> OfferEvaluation {
        switch state {
        case .localOffer:
            return OfferEvaluation(rejection: .glare)
        case .remoteOffer:
            return OfferEvaluation(rejection: .offerPending)
        case .stable:
            break
        }
        let evaluation = OfferReading(offer, capabilities: capabilities, agreement: agreement).evaluation
        if evaluation.rejection == nil { state = .remoteOffer(offer) }
        return evaluation
    }

    /// What the peer's open offer says of ICE, for each transport of ours that an answer with streams of these kinds uses.
    package func offeredICE(answeringWith kinds: [StreamKind]) -> [StreamKind: ICEDescription] {
        guard case .remoteOffer(let offer) = state else { return [:] }
        let reading = OfferReading(offer, capabilities: capabilities, agreement: agreement, kinds: kinds)
        let transports = BundlePlan(reading, kinds: kinds).transports
        var offered: [StreamKind: ICEDescription] = [:]
        for (index, transport) in transports { offered[transport] = reading.lines[index].ice }
        return offered
    }

    /// What the description that came with an INVITE tells of video; nil stands for an INVITE without one.
    package static func incomingVideoStatus(
        of description: SessionDescription?, capabilities: MediaCapabilities
    ) -> IncomingVideoStatus {
        guard let description else { return .indefinite }
        return OfferReading(description, capabilities: capabilities, agreement: Agreement()).evaluation
            .incomingVideoStatus
    }
}

extension OfferReading {
    var evaluation: OfferEvaluation {
        var evaluation = OfferEvaluation()
        evaluation.audioIndex = index(of: .audio)
        evaluation.videoIndex = index(of: .video)
        evaluation.lines = lines.map { line in
            let refusal = refusal(of: line)
            return OfferEvaluation.Line(
                index: line.index, kind: line.kind, refusal: refusal,
                offeredDirection: refusal == nil ? offeredDirection(line.index) : .inactive,
                isNew: line.index >= agreement.media.count || !agreement.media[line.index].isEnabled)
        }
        evaluation.removedLines = agreement.media.filter { media in
            media.isEnabled && (media.index >= lines.count || lines[media.index].isOff)
        }.map(\.index)
        if evaluation.audioIndex == nil, evaluation.videoIndex == nil, !isRemoval {
            evaluation.rejection = .notAcceptable(reason: rejectionReason)
        }
        evaluateVideo(&evaluation)
        evaluation.isRemotelyHeld = isRemotelyHeld
        evaluation.isHoldChanged = evaluation.isRemotelyHeld != agreement.isRemotelyHeld
        return evaluation
    }

    /// Whether the peer holds the call by this offer: it will not receive audio.
    ///
    /// Video that goes one way only is no hold: many a call has a camera on one side alone.
    var isRemotelyHeld: Bool {
        guard let index = index(of: .audio) else { return false }
        return !lines[index].direction.receives
    }

    private func evaluateVideo(_ evaluation: inout OfferEvaluation) {
        guard let index = evaluation.videoIndex else { return }
        let direction = offeredDirection(index)
        evaluation.incomingVideoStatus = direction == .inactive ? .off : .supported
        guard !agreement.media.isEmpty, agreement.indexInUse(.video) == nil else { return }
        evaluation.newVideoDirection = direction
        evaluation.isVideoReturning =
            index < agreement.media.count && agreement.media[index].kind == .video
            && agreement.media[index].disabledReason == .remoteUser
    }

    /// Why a line is not the one that carries its kind.
    func refusal(of line: PeerLine) -> DisabledReason? {
        switch assessments[line.index] {
        case .refused(let reason): reason
        case .usable: line.kind.flatMap(index(of:)) == line.index ? nil : .unsupportedMedia
        }
    }

    /// Whether the offer asks for nothing but to have lines off, which is no reason to refuse it within a call.
    private var isRemoval: Bool { !agreement.media.isEmpty && !lines.isEmpty && lines.allSatisfy(\.isOff) }

    private var rejectionReason: String {
        guard !lines.isEmpty else { return "No media in the description" }
        let reasons = assessments.compactMap { assessment in
            if case .refused(let reason) = assessment { reason } else { nil }
        }
        if reasons.contains(.noCommonCodec) { return "No codec in common" }
        if reasons.contains(.securityMismatch) { return "No usable media security" }
        if reasons.contains(.unsupportedProfile) { return "Transport profile not supported" }
        if reasons.contains(.unsupportedAddress) { return "Network address not supported" }
        return "No supported media"
    }
}
