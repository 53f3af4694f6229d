internal import OffhookBasics
internal import OffhookMedia
internal import OffhookSDP
internal import OffhookSIP

/// Changes of the session that the app asks for, and video that the far end asks for.
extension CallMachine {
    // MARK: Ours

    func setVideoMode(_ mode: VideoMode, token: CommandToken, core: inout EngineCore) {
        switch snapshot.phase {
        case .idle, .initiating, .remoteAlerting, .alerting, .ignored:
            if isTakeover, setupToken != nil {
                return waitingChanges.append(Change(kind: .videoMode(mode), token: token))
            }
            // Before the answer a mode is a wish: the offer or the answer will say it.
            guard snapshot.phase == .idle || (!isOutgoing && setupToken == nil) else {
                return refuse(token, core: &core)
            }
            snapshot.videoMode = mode
            tell(.changed, core: &core)
            core.output(.finished(token, nil))
        default:
            if videoRequest != nil {
                return mode.direction == nil
                    ? denyVideo(token, core: &core) : acceptVideo(mode, token: token, core: &core)
            }
            change(Change(kind: .videoMode(mode), token: token), core: &core)
        }
    }

    /// Says of our pictures that they are a presentation: in the next offer or answer, which a call that has video makes now.
    func setPresentation(_ isPresenting: Bool, token: CommandToken, core: inout EngineCore) {
        let isNews = isPresenting != snapshot.isPresenting
        snapshot.isPresenting = isPresenting
        tell(.changed, core: &core)
        if isNews, snapshot.isUp, snapshot.hasVideo {
            change(Change(kind: .refresh, token: token), core: &core)
        } else {
            core.output(.finished(token, nil))
        }
    }

    /// Makes a change, now or when what is under way is done.
    func change(_ change: Change, core: inout EngineCore) {
        guard snapshot.isUp else {
            if let token = change.token { refuse(token, core: &core) }
            return
        }
        guard openChange == nil, videoRequest?.isAnswered != false, isAcknowledgedOrOutgoing else {
            waitingChanges.append(change)
            return
        }
        begin(change, core: &core)
    }

    private var isAcknowledgedOrOutgoing: Bool { isOutgoing || isAcknowledged }

    private func begin(_ change: Change, core: inout EngineCore) {
        let open = OpenChange(change: change, formerMode: snapshot.videoMode, wasHeld: snapshot.isHeld)
        switch change.kind {
        case .videoMode(let mode), .acceptVideo(let mode):
            let isThere = snapshot.hasVideo == (mode.direction != nil)
            if mode == snapshot.videoMode, isThere { return done(change, core: &core) }
            if mode.direction == nil, !snapshot.hasVideo {
                snapshot.videoMode = mode
                return done(change, core: &core)
            }
            snapshot.videoMode = mode
            snapshot.phase = .videoUpdating
        case .hold:
            if snapshot.isHeld { return done(change, core: &core) }
            snapshot.isHeld = true
            snapshot.phase = .holding
        case .unhold:
            if !snapshot.isHeld { return done(change, core: &core) }
            snapshot.isHeld = false
            snapshot.phase = .unholding
        case .refresh:
            break
        }
        openChange = open
        tell(.changed, core: &core)
        sendOffer(core: &core)
    }

    private func done(_ change: Change, core: inout EngineCore) {
        if let token = change.token { core.output(.finished(token, nil)) }
        takeNextChange(core: &core)
    }

    private func sendOffer(core: inout EngineCore) {
        guard let session else { return }
        guard let wishes = wishes(mode: snapshot.videoMode, core: &core), let offer = negotiation?.makeOffer(wishes)
        else {
            return changeFailed(CallFailure(.portUnavailable, "No media ports are free."), core: &core)
        }
        core.userAgent.reinvite(session, offer: offer.write(), at: core.now, actions: &core.actions)
    }

    /// An offer that had to wait, or met one of the far end's, can be made now.
    func handleOfferDue(_ reason: OfferReason, core: inout EngineCore) {
        guard openChange == nil else { return sendOffer(core: &core) }
        guard reason == .sessionRefresh else { return takeNextChange(core: &core) }
        change(Change(kind: .refresh), core: &core)
    }

    /// Both sides offered at once: what was agreed holds until `offerDue`.
    func handleGlare() {
        negotiation?.rollback()
    }

    func handleOfferRefused(_ response: SIPResponse, core: inout EngineCore) {
        negotiation?.rollback()
        media.connectivity?.abandonRestart(core: &core)
        // Refused or not, the far end answers.
        if response.status != 408, response.status != 503 { recoverSignaling(core: &core) }
        let isVideo =
            switch openChange?.change.kind {
            case .videoMode, .acceptVideo: true
            default: false
            }
        if response.status == 503, hasLostSignaling {
            let reason = "The way to the far end is lost for now; try again once it is there."
            return changeFailed(CallFailure(.signalingLost, reason, sipStatus: response.status), core: &core)
        }
        let reason = "The far end refused the change: \(response.status) \(response.reason)."
        changeFailed(CallFailure(isVideo ? .videoDenied : .refused, reason, sipStatus: response.status), core: &core)
    }

    func changeAccepted(core: inout EngineCore) {
        guard let open = openChange else { return }
        openChange = nil
        restPhase()
        switch open.change.kind {
        case .videoMode(let mode), .acceptVideo(let mode):
            if mode.direction != nil, !snapshot.hasVideo {
                snapshot.videoMode = open.formerMode
                tell(.changed, core: &core)
                let failure = CallFailure(.videoDenied, "The far end refused the video.")
                if let token = open.change.token { core.output(.finished(token, failure)) }
                return takeNextChange(core: &core)
            }
            tell(.changed, core: &core)
        case .hold: tell(.held, core: &core)
        case .unhold: tell(.unheld, core: &core)
        case .refresh: tell(.changed, core: &core)
        }
        recoverSignaling(core: &core)
        done(open.change, core: &core)
    }

    func changeFailed(_ failure: CallFailure, core: inout EngineCore) {
        guard let open = openChange else { return }
        openChange = nil
        snapshot.videoMode = open.formerMode
        snapshot.isHeld = open.wasHeld
        // Lines that waited for this offer do without what it would have brought.
        if open.change.kind == .refresh { applyMedia(core: &core) }
        restPhase()
        tell(.changed, core: &core)
        if let token = open.change.token { core.output(.finished(token, failure)) }
        takeNextChange(core: &core)
    }

    /// Where a call rests while nothing is under way.
    func restPhase() {
        snapshot.phase = snapshot.isHeld ? .held : .established
    }

    func takeNextChange(core: inout EngineCore) {
        guard !waitingChanges.isEmpty, openChange == nil, snapshot.isUp, isAcknowledgedOrOutgoing else { return }
        change(waitingChanges.removeFirst(), core: &core)
    }

    // MARK: Theirs

    func receiveVideoRequest(
        _ direction: MediaDirection, _ carrier: DescriptionCarrier, fork: String, session: SessionID,
        core: inout EngineCore
    ) {
        switch account.videoAddPolicy {
        case .accept(let mode):
            snapshot.videoMode = mode
            answer(mode: mode, carrier, core: &core)
            tell(.videoAddAccepted(direction), core: &core)
        case .deny:
            answer(mode: nil, carrier, core: &core)
            tell(.videoAddDenied, core: &core)
        case .ask where carrier == .invite:
            videoRequest = VideoRequest(
                direction: direction, fork: fork, deadline: core.now + core.configuration.videoAddLimit)
            snapshot.isVideoAddPending = true
            tell(.videoAddRequested(direction), core: &core)
        case .ask, .refuseThenOffer:
            // An UPDATE may not wait (RFC 3311 §5.2): the line is refused now, and offered by us if the app wants it.
            answer(mode: nil, carrier, core: &core)
            videoRequest = VideoRequest(direction: direction, fork: fork, deadline: nil)
            snapshot.isVideoAddPending = true
            tell(.videoAddRequested(direction), core: &core)
        }
    }

    func acceptVideo(_ mode: VideoMode, token: CommandToken, core: inout EngineCore) {
        guard let request = videoRequest else { return refuse(token, core: &core) }
        videoRequest = nil
        snapshot.isVideoAddPending = false
        if request.isAnswered {
            tell(.videoAddAccepted(request.direction), core: &core)
            return change(Change(kind: .acceptVideo(mode), token: token), core: &core)
        }
        snapshot.videoMode = mode
        answer(mode: mode, .invite, core: &core)
        tell(.videoAddAccepted(request.direction), core: &core)
        core.output(.finished(token, nil))
        takeNextChange(core: &core)
    }

    func denyVideo(_ token: CommandToken, core: inout EngineCore) {
        guard let request = videoRequest else { return refuse(token, core: &core) }
        closeVideoRequest(request, telling: .videoAddDenied, core: &core)
        core.output(.finished(token, nil))
    }

    func videoRequestTimedOut(core: inout EngineCore) {
        guard let request = videoRequest else { return }
        closeVideoRequest(request, telling: .videoAddTimedOut, core: &core)
    }

    private func closeVideoRequest(_ request: VideoRequest, telling event: CallEvent, core: inout EngineCore) {
        videoRequest = nil
        snapshot.isVideoAddPending = false
        if !request.isAnswered { answer(mode: nil, .invite, core: &core) }
        tell(event, core: &core)
        takeNextChange(core: &core)
    }

    /// The far end took its offer back, by CANCEL or by giving up.
    /// Nothing came of an offer that the far end had asked for: what was agreed before holds.
    func handleOfferUnanswered(core: inout EngineCore) {
        negotiation?.rollback()
        takeNextChange(core: &core)
    }

    func handleOfferWithdrawn(core: inout EngineCore) {
        negotiation?.rollback()
        guard videoRequest != nil else { return }
        videoRequest = nil
        snapshot.isVideoAddPending = false
        tell(.videoAddWithdrawn, core: &core)
        takeNextChange(core: &core)
    }
}
