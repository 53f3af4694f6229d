internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookMedia
internal import OffhookSDP
internal import OffhookSIP

/// Offers and answers: the far end's, and those that the app's changes make.
extension CallMachine {
    // MARK: The first INVITE of the far end

    /// Works out what an INVITE offers. False where it was refused.
    func takeInitialOffer(_ invite: IncomingInvite, core: inout EngineCore) -> Bool {
        guard let session, let localAddress else { return false }
        var negotiation = OfferAnswer(
            capabilities: account.capabilities, sessionID: core.random.next(), address: localAddress)
        if let offer = invite.offer {
            guard let description = try? SessionDescription(parsing: offer) else {
                refuseInvite(session, status: 488, text: "The session description does not parse.", core: &core)
                return false
            }
            let evaluation = negotiation.receiveOffer(description)
            if let rejection = evaluation.rejection {
                refuseInvite(session, status: rejection.status, text: rejection.text, core: &core)
                return false
            }
            snapshot.incomingVideoStatus = evaluation.incomingVideoStatus
        } else {
            snapshot.incomingVideoStatus = .indefinite
        }
        self.negotiation = negotiation
        return true
    }

    private func refuseInvite(_ session: SessionID, status: Int, text: String, core: inout EngineCore) {
        core.output(.log("a call was refused with \(status): \(text)", handle))
        core.userAgent.reject(session, status: status, headers: .warning(text), at: core.now, actions: &core.actions)
    }

    // MARK: Offers of the far end

    func handleOffer(_ body: [UInt8], _ carrier: DescriptionCarrier, fork: String, core: inout EngineCore) {
        guard let session else { return }
        guard let description = try? SessionDescription(parsing: body) else {
            return refuseOffer(status: 488, text: "The session description does not parse.", core: &core)
        }
        // Signalling hands an offer up only while none of ours is out: one that is open here waits for its turn.
        if negotiation?.localOffer != nil { negotiation?.rollback() }
        guard let evaluation = negotiation?.receiveOffer(description) else { return }
        if let rejection = evaluation.rejection {
            negotiation?.rollback()
            return refuseOffer(status: rejection.status, text: rejection.text, core: &core)
        }
        guard snapshot.isUp else {
            // Our INVITE asked for this offer, or an early dialog changes.
            return answer(mode: snapshot.videoMode, carrier, core: &core)
        }
        guard let direction = evaluation.newVideoDirection else {
            return answer(mode: snapshot.videoMode, carrier, core: &core)
        }
        receiveVideoRequest(direction, carrier, fork: fork, session: session, core: &core)
    }

    private func refuseOffer(status: Int, text: String, core: inout EngineCore) {
        guard let session else { return }
        core.output(.log("an offer was refused with \(status): \(text)", handle))
        if !snapshot.isUp, isOutgoing {
            // The offer that our INVITE asked for cannot be used: there is no call without it.
            fail(CallFailure(.noCommonCodec, text, sipStatus: status), core: &core)
            core.userAgent.rejectOffer(
                session, status: status, headers: .warning(text), at: core.now, actions: &core.actions)
            return
        }
        core.userAgent.rejectOffer(
            session, status: status, headers: .warning(text), at: core.now, actions: &core.actions)
    }

    /// Answers the open offer and takes over what is agreed.
    func answer(mode: VideoMode?, _ carrier: DescriptionCarrier, core: inout EngineCore) {
        guard let session else { return }
        let kinds = StreamKind.allCases.filter { $0 == .audio || mode?.direction != nil }
        media.prepareAnswer(to: negotiation?.offeredICE(answeringWith: kinds) ?? [:], core: &core)
        guard let wishes = wishes(mode: mode, core: &core), let answer = negotiation?.makeAnswer(wishes) else {
            media.connectivity?.abandonRestart(core: &core)
            negotiation?.rollback()
            return refuseOffer(status: 500, text: "No media ports are free.", core: &core)
        }
        core.userAgent.answer(session, description: answer.write(), at: core.now, actions: &core.actions)
        isAnswered = true
        applyMedia(core: &core)
        if carrier == .inviteResponse, isOutgoing, !snapshot.isUp { establish(core: &core) }
    }

    /// The far end asks for an offer of ours (RFC 3261 §14.1: a re-INVITE without one).
    func handleOfferRequest(core: inout EngineCore) {
        guard let session else { return }
        guard let wishes = wishes(mode: snapshot.videoMode, core: &core),
            let offer = negotiation?.makeOffer(wishes, isAskedFor: true)
        else {
            return refuseOffer(status: 500, text: "No media ports are free.", core: &core)
        }
        core.userAgent.answer(session, description: offer.write(), at: core.now, actions: &core.actions)
    }

    // MARK: Answers of the far end

    func handleAnswer(_ body: [UInt8], _ carrier: DescriptionCarrier, fork: String, core: inout EngineCore) {
        guard let description = try? SessionDescription(parsing: body) else {
            return answerUnusable(
                CallFailure(.invalidSessionDescription, "The far end's session description does not parse."),
                core: &core)
        }
        if !snapshot.isUp, isOutgoing {
            return handleFirstAnswer(description, carrier, fork: fork, core: &core)
        }
        switch negotiation?.receiveAnswer(description) {
        case .accepted:
            isAnswered = true
            applyMedia(core: &core)
            if !snapshot.isUp {
                establishWhenAgreed(core: &core)
            } else {
                changeAccepted(core: &core)
            }
        case .unusable(let reason):
            answerUnusable(CallFailure(.noCommonCodec, reason), core: &core)
        case .unexpected, nil:
            core.output(.log("an answer came that nobody waits for", handle))
        }
    }

    private func handleFirstAnswer(
        _ description: SessionDescription, _ carrier: DescriptionCarrier, fork: String, core: inout EngineCore
    ) {
        guard var candidate = forks[fork] ?? negotiation else { return }
        switch candidate.receiveAnswer(description) {
        case .accepted:
            forks[fork] = candidate
            if carrier == .inviteResponse || carrier == .acknowledgement {
                negotiation = candidate
                isAnswered = true
                applyMedia(core: &core)
                establish(core: &core)
            } else {
                // Early media: what the latest fork plays is heard; the negotiation itself stays open for the others.
                applyMedia(candidate, core: &core)
            }
        case .unusable(let reason):
            // A preview may still change; the final answer may not.
            guard carrier == .inviteResponse else { return }
            answerUnusable(CallFailure(.noCommonCodec, reason), core: &core)
        case .unexpected:
            core.output(.log("an answer came that nobody waits for", handle))
        }
    }

    /// The call was accepted by this fork; its answer came before, or follows.
    func handleAccepted(_ response: SIPResponse, fork: String, core: inout EngineCore) {
        answeredAt = core.now
        noAnswerAt = nil
        noteInfoPackages(response.headers)
        adoptIdentity(response.headers, core: &core)
        guard let answered = forks[fork] else { return }
        negotiation = answered
        isAnswered = true
        if response.body(ofType: "application/sdp") == nil {
            applyMedia(core: &core)
            establish(core: &core)
        }
    }

    private func answerUnusable(_ failure: CallFailure, core: inout EngineCore) {
        if snapshot.isUp {
            negotiation?.rollback()
            changeFailed(failure, core: &core)
            return
        }
        guard let session else { return }
        fail(failure, core: &core)
        core.userAgent.end(session, at: core.now, actions: &core.actions)
    }

    // MARK: Taking over

    func applyMedia(core: inout EngineCore) {
        guard let negotiation else { return }
        if negotiation.wantsOfferWithoutBundle { offerWithoutBundle(core: &core) }
        applyMedia(negotiation, core: &core)
        let wasHeld = snapshot.isRemotelyHeld
        snapshot.isRemotelyHeld = negotiation.isRemotelyHeld
        if snapshot.isUp, wasHeld != snapshot.isRemotelyHeld {
            tell(wasHeld ? .unheldRemotely : .heldRemotely, core: &core)
        }
    }

    /// The far end does not know what a bundle is though it says so: media waits for its answer to an offer without one.
    ///
    /// ICE begins anew with that offer: who is in the middle of it may wait for its end before it answers (linphone 5.1 does).
    private func offerWithoutBundle(core: inout EngineCore) {
        guard !waitingChanges.contains(where: { $0.kind == .refresh }) else { return }
        media.connectivity?.restart(core: &core)
        waitingChanges.insert(Change(kind: .refresh), at: 0)
    }

    private func applyMedia(_ negotiation: OfferAnswer, core: inout EngineCore) {
        guard !negotiation.wantsOfferWithoutBundle else { return }
        let agreed = negotiation.media
        do throws(SRTPError) {
            try media.apply(agreed, isHolding: snapshot.isHeld, core: &core)
        } catch {
            guard let session else { return }
            fail(CallFailure(.mediaSecurityFailed, "The keys agreed on cannot be used: \(error)."), core: &core)
            core.userAgent.end(session, at: core.now, actions: &core.actions)
            return
        }
        snapshot.isSecure = media.isSecure
        snapshot.usesICE = media.connectivity?.isAgreed == true
        snapshot.hasAudio = agreed.contains { $0.kind == .audio && $0.isEnabled }
        updateChannels(agreed, core: &core)
    }

    private func updateChannels(_ agreed: [NegotiatedMedia], core: inout EngineCore) {
        let line = agreed.first { $0.kind == .video && $0.isEnabled } ?? agreed.first { $0.kind == .video }
        snapshot.hasVideo = line?.isEnabled == true
        hadVideo = hadVideo || snapshot.hasVideo
        var channels: [ChannelSnapshot] = []
        if let line, hadVideo || snapshot.videoMode?.direction != nil {
            channels = [ChannelSnapshot(line, handle: media.channel)]
        }
        guard channels != snapshot.channels else { return }
        snapshot.channels = channels
        if snapshot.isUp { tell(.channelsUpdated, core: &core) }
    }
}

extension CallSnapshot {
    /// Whether the call has been answered and is not over.
    var isUp: Bool {
        switch phase {
        case .established, .holding, .held, .unholding, .videoUpdating, .transferring, .beingTransferred: true
        case .idle, .initiating, .remoteAlerting, .alerting, .ignored, .failed, .ending, .ended: false
        }
    }
}

extension ChannelSnapshot {
    fileprivate init(_ media: NegotiatedMedia, handle: ChannelHandle) {
        self.init(handle: handle)
        requested = media.requestedDirection
        negotiated = media.direction
        isEnabled = media.isEnabled
        codecName = media.sendCodecs.first?.name ?? media.receiveCodecs.first?.name
        isPresentation = media.isPresentation
        disabledReason =
            switch media.disabledReason {
            case nil: nil
            case .localUser: .localUser
            case .remoteUser: .remoteUser
            case .noCommonCodec: .noCommonCodec
            case .securityMismatch, .unsupportedProfile: .mediaSecurity
            case .unsupportedAddress, .unsupportedMedia: .notNegotiated
            }
    }
}

extension SIPHeaders {
    /// A Warning header field: 399, miscellaneous, with words for a person (RFC 3261 §20.43).
    static func warning(_ text: String) -> SIPHeaders {
        var headers = SIPHeaders()
        let words = text.replacing("\\", with: "/").replacing("\"", with: "'").replacing("\r", with: " ").replacing(
            "\n", with: " ")
        headers.append("Warning", "399 offhook \"\(words)\"")
        return headers
    }
}
