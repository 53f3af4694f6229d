internal import OffhookBasics

/// How sessions end (RFC 3261 §9, §15).
extension InviteSession {
    /// Ends the session in whatever state it is.
    mutating func end(_ end: SessionEnd, reasons: [SIPReason], at now: Instant, actions: inout [SessionAction]) {
        switch state {
        case .calling(let requestID):
            state = .cancelling(requestID)
            closeDialogs(actions: &actions)
            actions.append(.cancel(requestID, reasons))
            finish(end, actions: &actions)
        case .ringing:
            refuse(603, reasons: reasons, end: end, actions: &actions)
        case .established:
            hangUp(end, reasons: reasons, at: now, actions: &actions)
        case .cancelling, .closing, .closed:
            break
        }
    }

    /// Refuses the INVITE of a session that was not accepted yet.
    mutating func refuse(
        _ status: Int, reason: String? = nil, headers: SIPHeaders = SIPHeaders(), reasons: [SIPReason] = [],
        end: SessionEnd, actions: inout [SessionAction]
    ) {
        guard case .ringing = state, let server = inviteServer else { return }
        var refusal = response(status, reason: reason, to: server.request)
        for field in headers.fields { refusal.headers.append(field.name, field.value) }
        if !reasons.isEmpty { refusal.headers.reasons = reasons }
        inviteServer = nil
        heldAcceptance = nil
        actions.append(.respond(refusal, server.transaction))
        state = .closed
        refusePendingRequests(actions: &actions)
        closeDialogs(actions: &actions)
        finish(end, actions: &actions)
    }

    /// Says BYE, as soon as that is allowed.
    mutating func hangUp(
        _ end: SessionEnd, reasons: [SIPReason] = [], at now: Instant, actions: inout [SessionAction]
    ) {
        guard isEstablished else { return }
        state = .closing
        refusePendingRequests(actions: &actions)
        finish(end, actions: &actions)
        delayedBye = reasons
        // A callee waits with its BYE for the ACK of its 2xx, or until no ACK can come any more (RFC 3261 §15).
        if accepted.isEmpty { sendDelayedBye(actions: &actions) }
    }

    mutating func sendDelayedBye(actions: inout [SessionAction]) {
        guard case .closing = state, let reasons = delayedBye else { return }
        delayedBye = nil
        guard var bye = makeRequest(.bye, tag: mainTag) else { return close(actions: &actions) }
        if !reasons.isEmpty { bye.headers.reasons = reasons }
        send(bye, .bye, tag: mainTag, actions: &actions)
    }

    /// Takes a BYE of the far end.
    mutating func receiveBye(
        _ request: SIPRequest, _ transaction: ServerTransactionID, actions: inout [SessionAction]
    ) {
        respond(200, to: request, transaction, actions: &actions)
        let reasons = request.headers.reasons
        switch state {
        case .calling, .cancelling:
            // A callee may not say BYE before it answered; only this fork is over.
            let tag = tag(of: request)
            if let fork = dialogs.removeValue(forKey: tag) { actions.append(.closed(fork.dialog.id)) }
        case .ringing, .established:
            accepted = []
            refusePendingRequests(actions: &actions)
            close(actions: &actions)
            finish(SessionEnd(cause: .remote, reasons: reasons), actions: &actions)
        case .closing:
            // Both hung up at once; the answer to our own BYE no longer matters.
            accepted = []
            close(actions: &actions)
        case .closed:
            break
        }
    }

    /// Takes a CANCEL for the INVITE of that transaction; the CANCEL itself was answered.
    mutating func receiveCancel(
        of transaction: ServerTransactionID, reasons: [SIPReason], actions: inout [SessionAction]
    ) {
        guard let server = inviteServer, server.transaction == transaction else { return }
        if case .ringing = state {
            refuse(487, end: SessionEnd(cause: .cancelled, reasons: reasons), actions: &actions)
            return
        }
        inviteServer = nil
        respond(487, to: server.request, transaction, actions: &actions)
        main?.pending = nil
        main?.exchange.close()
        actions.append(.event(.offerWithdrawn))
        askForWantedOffer(actions: &actions)
    }

    /// Tells the end, once.
    mutating func finish(_ end: SessionEnd, actions: inout [SessionAction]) {
        guard !hasEnded else { return }
        hasEnded = true
        timer.stop()
        wantedOffer = nil
        actions.append(.event(.ended(end)))
    }

    mutating func close(actions: inout [SessionAction]) {
        state = .closed
        accepted = []
        closeDialogs(actions: &actions)
    }

    mutating func closeDialogs(keeping tag: String? = nil, actions: inout [SessionAction]) {
        for (other, entry) in dialogs where other != tag {
            actions.append(.closed(entry.dialog.id))
            dialogs[other] = nil
        }
    }

    /// Answers what still waits for an answer when a session ends (RFC 3261 §15.1.2).
    mutating func refusePendingRequests(actions: inout [SessionAction]) {
        if let server = inviteServer {
            inviteServer = nil
            respond(487, to: server.request, server.transaction, actions: &actions)
        }
        for (tag, entry) in dialogs {
            guard let pending = entry.pending else { continue }
            dialogs[tag]?.pending = nil
            switch pending.message {
            case .inviteResponse: break
            case .updateResponse(let request, let transaction), .prackResponse(let request, let transaction):
                respond(487, to: request, transaction, actions: &actions)
            case .acknowledgement(let requestID, let invite):
                acknowledge(requestID, invite, description: nil, tag: tag, actions: &actions)
            case .prack(let response):
                if case .cancelling = state { break }
                sendPrack(of: response, description: nil, tag: tag, actions: &actions)
            }
        }
        for (_, referral) in referrals.sorted(by: { $0.key.number < $1.key.number }) where !referral.isAccepted {
            respond(487, to: referral.request, referral.transaction, actions: &actions)
        }
        referrals = [:]
    }
}
