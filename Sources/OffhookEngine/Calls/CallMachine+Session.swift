internal import OffhookBasics
internal import OffhookRTP
internal import OffhookSDP
internal import OffhookSIP

/// News of the SIP session.
extension CallMachine {
    func handle(_ event: SessionEvent, core: inout EngineCore) {
        if case .authenticationRequired(let request, let response) = event {
            return core.receiveChallenge(response, of: request, account: account.handle)
        }
        guard !isOver else { return }
        transport = session.flatMap { core.userAgent.transport(of: $0) } ?? transport
        switch event {
        case .incoming, .trying:
            break
        case .progress(let response, _):
            handleProgress(response, core: &core)
        case .redirected:
            tell(.redirected, core: &core)
        case .offer(let body, let carrier, let fork):
            handleOffer(body, carrier, fork: fork, core: &core)
        case .offerRequested:
            handleOfferRequest(core: &core)
        case .answer(let body, let carrier, let fork):
            handleAnswer(body, carrier, fork: fork, core: &core)
        case .offerRefused(let response):
            handleOfferRefused(response, core: &core)
        case .glare:
            handleGlare()
        case .offerDue(let reason):
            handleOfferDue(reason, core: &core)
        case .offerUnanswered:
            handleOfferUnanswered(core: &core)
        case .offerWithdrawn:
            handleOfferWithdrawn(core: &core)
        case .accepted(let response, let fork):
            handleAccepted(response, fork: fork, core: &core)
        case .extraAnswer:
            core.output(.log("a second party answered the same call and was hung up on", handle))
        case .acknowledged:
            isAcknowledged = true
            if snapshot.isUp { takeNextChange(core: &core) } else { establishWhenAgreed(core: &core) }
        case .authenticationRequired, .remoteTargetChanged:
            break
        case .info(let request):
            if request.headers.infoPackage == Self.tricklePackage { return takeCandidates(request, core: &core) }
            if let key = DigitQueue.key(in: request) { tell(.digit(key), core: &core) }
        case .infoFinished(let request, let status):
            handleInfoFinished(request, status: status, core: &core)
        case .request:
            break
        case .referralRequested(let referral):
            receiveTransfer(referral, core: &core)
        case .referralAccepted(let expectsProgress):
            if !expectsProgress { transferFinished(status: 200, core: &core) }
        case .referralProgress(let status, _, let isFinal):
            tell(.transferProgressed(status: status, isFinal: isFinal), core: &core)
            if isFinal { transferFinished(status: status, core: &core) }
        case .referralFailed(let status):
            transferFinished(status: status, core: &core)
        case .ended(let end):
            handleEnd(end, core: &core)
        }
    }

    private func handleProgress(_ response: SIPResponse, core: inout EngineCore) {
        guard isOutgoing, !snapshot.isUp else { return }
        adoptIdentity(response.headers, core: &core)
        reportTransfer(status: response.status, core: &core)
        switch response.status {
        case 180, 183:
            let hasEarlyMedia = response.body(ofType: "application/sdp") != nil
            guard snapshot.phase == .initiating || hasEarlyMedia, response.status == 180 || hasEarlyMedia else {
                return
            }
            snapshot.phase = .remoteAlerting
            tell(.remoteAlerting(hasEarlyMedia: hasEarlyMedia), core: &core)
        case 181: tell(.redirected, core: &core)
        case 182: tell(.queued, core: &core)
        default: break
        }
    }

    /// Who the far end says it is, where that is news (RFC 3325 §9.1, RFC 4916).
    func adoptIdentity(_ headers: SIPHeaders, core: inout EngineCore) {
        guard let identity = headers.pAssertedIdentity.first else { return }
        let address = identity.uri.withoutParameters
        guard address != snapshot.remoteAddress || identity.displayName != snapshot.remoteDisplayName else { return }
        snapshot.remoteAddress = address
        snapshot.remoteDisplayName = identity.displayName
        tell(.remoteAddressChanged, core: &core)
    }

    // MARK: Up

    /// An incoming call is up when the ACK is here and, after a late offer, the answer in it.
    func establishWhenAgreed(core: inout EngineCore) {
        guard isAcknowledged, isAnswered, !snapshot.isUp else { return }
        establish(core: &core)
    }

    func establish(core: inout EngineCore) {
        guard snapshot.phase != .failed, snapshot.phase != .ending, !snapshot.isUp else { return }
        restPhase()
        noAnswerAt = nil
        forks = [:]
        tell(.established, core: &core)
        reportTransfer(status: 200, core: &core)
        tell(.channelsUpdated, core: &core)
        if let other = snapshot.callToJoin { core.output(.joined(handle, other)) }
        if snapshot.isRemotelyHeld { tell(.heldRemotely, core: &core) }
        tellCandidates(core: &core)
        if let token = setupToken {
            setupToken = nil
            core.output(.finished(token, nil))
        }
        takeNextChange(core: &core)
    }

    // MARK: Digits

    func sendDigits(_ events: [TelephoneEvent], token: CommandToken, core: inout EngineCore) {
        guard snapshot.isUp || isAnswered else { return refuse(token, core: &core) }
        if media.audio?.negotiated?.sendTelephoneEvent != nil {
            let areTaken = events.allSatisfy { media.sendDigit($0, core: &core) }
            let failure =
                areTaken ? nil : CallFailure(.notAllowed, "Digits cannot be sent while the call sends no sound.")
            return core.output(.finished(token, failure))
        }
        guard digits.token == nil else { return refuse(token, core: &core) }
        digits.waiting = events
        digits.token = token
        sendNextInfo(core: &core)
    }

    private func sendNextInfo(core: inout EngineCore) {
        guard let session, let body = digits.next() else { return digitsDone(nil, core: &core) }
        digits.request = core.userAgent.sendInfo(session, body: body, at: core.now, actions: &core.actions)
        if digits.request == nil { digitsDone(CallFailure(.notAllowed, "The call is not up."), core: &core) }
    }

    private func handleInfoFinished(_ request: RequestID, status: Int, core: inout EngineCore) {
        guard !takeCandidatesTold(request, status: status, core: &core), request == digits.request else { return }
        guard (200..<300).contains(status) else {
            let reason = "The far end takes neither telephone events nor INFO for digits (\(status))."
            return digitsDone(CallFailure(.notSupported, reason, sipStatus: status), core: &core)
        }
        sendNextInfo(core: &core)
    }

    private func digitsDone(_ failure: CallFailure?, core: inout EngineCore) {
        let token = digits.token
        digits = DigitQueue()
        if let token { core.output(.finished(token, failure)) }
    }
}
