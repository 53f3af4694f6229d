internal import OffhookBasics

/// The caller's side of the first INVITE (RFC 3261 §13.2).
extension InviteSession {
    /// Begins a call of ours: the INVITE has From, To, Call-ID, CSeq and whatever the upper layer put in.
    static func calling(
        _ invite: SIPRequest, id: SessionID, configuration: UserAgentConfiguration, seed: UInt64, at now: Instant,
        actions: inout [SessionAction]
    ) -> InviteSession {
        let requestID = RequestID(session: id, number: 1)
        var session = InviteSession(
            id: id, state: .calling(requestID), isCaller: true, configuration: configuration, seed: seed, at: now)
        var invite = invite
        session.addCapabilities(to: &invite.headers)
        session.timer.fill(&invite.headers)
        session.firstInvite = invite
        session.send(invite, .invite, tag: nil, actions: &actions)
        return session
    }

    mutating func receiveInviteResponse(
        _ response: SIPResponse, for requestID: RequestID, at now: Instant, actions: inout [SessionAction]
    ) {
        switch response.status {
        case ..<200: receiveProgress(response, for: requestID, at: now, actions: &actions)
        case ..<300: receiveAcceptance(response, for: requestID, at: now, actions: &actions)
        default: receiveRefusal(response, for: requestID, at: now, actions: &actions)
        }
    }

    // MARK: Provisional responses

    private mutating func receiveProgress(
        _ response: SIPResponse, for requestID: RequestID, at now: Instant, actions: inout [SessionAction]
    ) {
        guard case .calling = state else { return }
        guard response.status > 100 else {
            actions.append(.event(.trying))
            return
        }
        guard let tag = response.headers.to?.tag, openFork(tag, with: response, actions: &actions) else {
            actions.append(.event(.progress(response, fork: nil)))
            return
        }
        let isReliable = response.headers.require.contains("100rel") && response.headers.rseq != nil
        if isReliable, !isNextReliable(response, tag: tag) { return }
        actions.append(.event(.progress(response, fork: tag)))
        let description = response.body(ofType: "application/sdp")
        if isReliable {
            receiveReliable(response, description: description, tag: tag, at: now, actions: &actions)
        } else if let description, case .localOffer(.invite)? = dialogs[tag]?.exchange.state {
            dialogs[tag]?.preview = description
            actions.append(.event(.answer(description, .provisional, fork: tag)))
        }
    }

    /// Makes the early dialog of a response if it is not there; false if it cannot be made.
    private mutating func openFork(_ tag: String, with response: SIPResponse, actions: inout [SessionAction]) -> Bool {
        if dialogs[tag] == nil {
            // A proxy forks to a handful of phones; who invents hundreds of tags wants our memory.
            guard dialogs.count < 32, let invite = firstInvite, let dialog = Dialog(request: invite, response: response)
            else { return false }
            let hasOffer = invite.body(ofType: "application/sdp") != nil
            dialogs[tag] = SessionDialog(dialog, exchange: hasOffer ? .localOffer(.invite) : .awaitingOffer)
            actions.append(.opened(dialog.id))
        } else {
            dialogs[tag]?.dialog.refreshTarget(from: response.headers)
        }
        dialogs[tag]?.learn(from: response.headers)
        return true
    }

    /// Whether a reliable response is the next in its dialog; a repeat or one after a gap is dropped (RFC 3262 §4).
    mutating func isNextReliable(_ response: SIPResponse, tag: String) -> Bool {
        guard let number = response.headers.rseq else { return false }
        if let latest = dialogs[tag]?.reliableNumber, number != latest &+ 1 { return false }
        dialogs[tag]?.reliableNumber = number
        return true
    }

    mutating func receiveReliable(
        _ response: SIPResponse, description: [UInt8]?, tag: String, at now: Instant, actions: inout [SessionAction]
    ) {
        switch (dialogs[tag]?.exchange.state, description) {
        case (.localOffer(.invite), let description?):
            dialogs[tag]?.exchange.close()
            actions.append(.event(.answer(description, .reliableProvisional, fork: tag)))
            sendPrack(of: response, description: nil, tag: tag, actions: &actions)
        case (.awaitingOffer, let description?):
            dialogs[tag]?.exchange.open(.remoteOffer(.reliableProvisional))
            dialogs[tag]?.pending = PendingDescription(
                message: .prack(response), deadline: now + configuration.decisionLimit)
            actions.append(.event(.offer(description, .reliableProvisional, fork: tag)))
        default:
            sendPrack(of: response, description: nil, tag: tag, actions: &actions)
        }
    }

    mutating func sendPrack(
        of response: SIPResponse, description: [UInt8]?, tag: String, actions: inout [SessionAction]
    ) {
        guard let number = response.headers.rseq, let cseq = response.headers.cseq,
            var prack = makeRequest(.prack, tag: tag)
        else { return }
        prack.headers.rack = RAck(responseNumber: number, cseq: cseq)
        if let description { prack.setDescription(description) }
        send(prack, .prack, tag: tag, actions: &actions)
    }

    // MARK: 2xx

    private mutating func receiveAcceptance(
        _ response: SIPResponse, for requestID: RequestID, at now: Instant, actions: inout [SessionAction]
    ) {
        // Who answers without a tag has the empty one (RFC 3261 §12.1.2).
        let tag = response.headers.to?.tag ?? ""
        switch state {
        case .calling:
            requests[requestID] = nil
            acceptMain(response, for: requestID, tag: tag, at: now, actions: &actions)
        case .cancelling:
            // The 2xx crossed our CANCEL: take the call and hang it up (RFC 3261 §9.1).
            requests[requestID] = nil
            mainTag = tag
            guard openFork(tag, with: response, actions: &actions), var entry = dialogs[tag], let invite = firstInvite
            else { return close(actions: &actions) }
            entry.dialog.confirm(with: response)
            dialogs[tag] = entry
            acknowledge(requestID, invite, description: nil, tag: tag, actions: &actions)
            state = .closing
            delayedBye = []
            sendDelayedBye(actions: &actions)
        case .ringing, .established, .closing, .closed:
            if tag != mainTag { hangUpExtra(response, for: requestID, tag: tag, actions: &actions) }
        }
    }

    private mutating func acceptMain(
        _ response: SIPResponse, for requestID: RequestID, tag: String, at now: Instant, actions: inout [SessionAction]
    ) {
        guard let invite = firstInvite else { return }
        closeDialogs(keeping: tag, actions: &actions)
        guard openFork(tag, with: response, actions: &actions) else {
            state = .closed
            finish(SessionEnd(cause: .dialogLost, response: response), actions: &actions)
            return
        }
        dialogs[tag]?.dialog.confirm(with: response)
        mainTag = tag
        state = .established
        timer.restart(asClient: response.headers, at: now)
        actions.append(.event(.accepted(response, fork: tag)))
        settleAcceptedOffer(response, for: requestID, invite, tag: tag, at: now, actions: &actions)
        askForWantedOffer(actions: &actions)
    }

    /// Does what the description in a 2xx, or its lack, asks for, and acknowledges (RFC 3261 §13.2.2.4).
    mutating func settleAcceptedOffer(
        _ response: SIPResponse, for requestID: RequestID, _ invite: SIPRequest, tag: String, at now: Instant,
        actions: inout [SessionAction]
    ) {
        let description = response.body(ofType: "application/sdp")
        switch dialogs[tag]?.exchange.state {
        case .localOffer(.invite):
            acknowledge(requestID, invite, description: nil, tag: tag, actions: &actions)
            guard let answer = description ?? dialogs[tag]?.preview else {
                hangUp(SessionEnd(cause: .answerMissing, response: response), at: now, actions: &actions)
                return
            }
            dialogs[tag]?.exchange.close()
            dialogs[tag]?.preview = nil
            actions.append(.event(.answer(answer, .inviteResponse, fork: tag)))
        case .awaitingOffer:
            guard let description else {
                acknowledge(requestID, invite, description: nil, tag: tag, actions: &actions)
                hangUp(SessionEnd(cause: .answerMissing, response: response), at: now, actions: &actions)
                return
            }
            dialogs[tag]?.exchange.open(.remoteOffer(.inviteResponse))
            dialogs[tag]?.pending = PendingDescription(
                message: .acknowledgement(requestID, invite), deadline: now + configuration.decisionLimit)
            actions.append(.event(.offer(description, .inviteResponse, fork: tag)))
        case .remoteOffer(.reliableProvisional):
            // The PRACK with our answer has not gone yet; it still can.
            acknowledge(requestID, invite, description: nil, tag: tag, actions: &actions)
        case .stable, .localOffer, .remoteOffer, .offerOwed, nil:
            acknowledge(requestID, invite, description: nil, tag: tag, actions: &actions)
        }
    }

    /// Sends the ACK of a 2xx, with the credentials of its INVITE (RFC 3261 §22.1).
    mutating func acknowledge(
        _ requestID: RequestID, _ invite: SIPRequest, description: [UInt8]?, tag: String,
        actions: inout [SessionAction]
    ) {
        guard let dialog = dialogs[tag]?.dialog, let sequence = invite.headers.cseq?.number else { return }
        var acknowledgement = dialog.makeAcknowledgement(sequence: sequence)
        acknowledgement.headers.copy(.authorization, from: invite.headers)
        acknowledgement.headers.copy(.proxyAuthorization, from: invite.headers)
        if let description { acknowledgement.setDescription(description) }
        actions.append(.acknowledge(requestID, tag: tag, acknowledgement))
    }

    /// Another fork answered too: acknowledge and hang up (RFC 3261 §13.2.2.4).
    private mutating func hangUpExtra(
        _ response: SIPResponse, for requestID: RequestID, tag: String, actions: inout [SessionAction]
    ) {
        guard extraTags.count < 32, extraTags.insert(tag).inserted, let invite = firstInvite,
            var dialog = Dialog(request: invite, response: response)
        else { return }
        var acknowledgement = dialog.makeAcknowledgement(sequence: invite.headers.cseq?.number ?? 0)
        acknowledgement.headers.copy(.authorization, from: invite.headers)
        acknowledgement.headers.copy(.proxyAuthorization, from: invite.headers)
        actions.append(.acknowledge(requestID, tag: tag, acknowledgement))
        send(dialog.makeRequest(.bye), .extraBye, tag: tag, actions: &actions)
        if !hasEnded { actions.append(.event(.extraAnswer(response))) }
    }

    // MARK: Refusals

    private mutating func receiveRefusal(
        _ response: SIPResponse, for requestID: RequestID, at now: Instant, actions: inout [SessionAction]
    ) {
        switch state {
        case .calling:
            if askForCredentials(response, for: requestID, actions: &actions) { return }
            guard var invite = requests.removeValue(forKey: requestID)?.request else { return }
            closeDialogs(actions: &actions)
            if response.status == 422, timer.raise(by: response) {
                timer.fill(&invite.headers)
                resend(invite, actions: &actions)
            } else if (300..<400).contains(response.status), let target = redirectTarget(of: response) {
                redirectCount += 1
                invite.uri = target
                resend(invite, actions: &actions)
                actions.append(.event(.redirected(to: target)))
            } else {
                state = .closed
                finish(
                    SessionEnd(cause: .refused, response: response, reasons: response.headers.reasons),
                    actions: &actions)
            }
        case .cancelling:
            requests[requestID] = nil
            close(actions: &actions)
        case .ringing, .established, .closing, .closed:
            requests[requestID] = nil
        }
    }

    /// Sends the first INVITE again, changed: same Call-ID and tags, the next CSeq.
    private mutating func resend(_ invite: SIPRequest, actions: inout [SessionAction]) {
        var invite = invite
        if let cseq = invite.headers.cseq { invite.headers.cseq = CSeq(cseq.number &+ 1, .invite) }
        firstInvite = invite
        state = .calling(send(invite, .invite, tag: nil, actions: &actions))
    }

    private func redirectTarget(of response: SIPResponse) -> URI? {
        guard configuration.followsRedirects, redirectCount < configuration.redirectLimit else { return nil }
        let quality = { (contact: NameAddress) in Double(contact.parameters["q"] ?? "1") ?? 1 }
        let targets = response.headers.contacts.filter { $0.uri.sip != nil }
        var best: NameAddress?
        for target in targets where best.map({ quality(target) > quality($0) }) ?? true { best = target }
        guard case .sip(var uri)? = best?.uri else { return nil }
        // A redirect may not write our header fields (RFC 3261 §19.1.5), nor lower a secure call.
        uri.headers = []
        uri.parameters["method"] = nil
        guard uri.isSecure || firstInvite?.uri.scheme != "sips" else { return nil }
        return .sip(uri)
    }

    mutating func inviteFailed(
        _ failure: RequestFailure, for requestID: RequestID, actions: inout [SessionAction]
    ) {
        requests[requestID] = nil
        switch state {
        case .calling:
            let cause: SessionEnd.Cause =
                switch failure {
                case .timedOut: .timedOut
                case .transportFailed: .transportFailed
                case .unresolved: .unresolved
                }
            close(actions: &actions)
            finish(SessionEnd(cause: cause), actions: &actions)
        case .cancelling:
            close(actions: &actions)
        case .ringing, .established, .closing, .closed:
            break
        }
    }
}

extension SIPRequest {
    mutating func setDescription(_ description: [UInt8]) {
        headers[first: .contentType] = "application/sdp"
        body = description
    }
}

extension SIPResponse {
    mutating func setDescription(_ description: [UInt8]) {
        headers[first: .contentType] = "application/sdp"
        body = description
    }
}
