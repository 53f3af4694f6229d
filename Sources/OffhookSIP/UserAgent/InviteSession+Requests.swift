internal import OffhookBasics

/// Requests within the session's dialogs, both ways, and where their responses go.
extension InviteSession {
    // MARK: Theirs

    /// Takes a request within one of the session's dialogs, ACK and CANCEL apart.
    mutating func receive(
        _ request: SIPRequest, _ transaction: ServerTransactionID, at now: Instant, actions: inout [SessionAction]
    ) {
        let tag = tag(of: request)
        guard let cseq = request.headers.cseq, dialogs[tag] != nil else {
            respond(481, to: request, transaction, actions: &actions)
            return
        }
        guard dialogs[tag]?.dialog.accepts(cseq) == true else {
            respond(500, to: request, transaction, actions: &actions)
            return
        }
        switch request.method {
        case .bye: receiveBye(request, transaction, actions: &actions)
        case .invite: receiveReinvite(request, transaction, at: now, actions: &actions)
        case .update: receiveUpdate(request, transaction, tag: tag, at: now, actions: &actions)
        case .prack: receivePrack(request, transaction, at: now, actions: &actions)
        case .info: receiveInfo(request, transaction, actions: &actions)
        case .options:
            var success = response(200, to: request)
            addCapabilities(to: &success.headers)
            success.headers[first: .accept] = configuration.acceptedBodies.joined(separator: ", ")
            actions.append(.respond(success, transaction))
        case .refer: receiveRefer(request, transaction, at: now, actions: &actions)
        case .notify: receiveNotify(request, transaction, actions: &actions)
        default:
            respond(hasEnded ? 481 : 200, to: request, transaction, actions: &actions)
            if !hasEnded { actions.append(.event(.request(request))) }
        }
    }

    /// Which of our dialogs a request is of, by the far end's tag; the empty one is of who answered without a tag.
    func tag(of request: SIPRequest) -> String {
        let tag = request.headers.from?.tag ?? ""
        return dialogs[tag] == nil ? "" : tag
    }

    /// INFO of an unknown package is refused with what is known (RFC 6086 §4.2.2); without a package it is of the old kind.
    private mutating func receiveInfo(
        _ request: SIPRequest, _ transaction: ServerTransactionID, actions: inout [SessionAction]
    ) {
        if let package = request.headers.infoPackage, !configuration.infoPackages.contains(package) {
            var refusal = response(469, to: request)
            refusal.headers.infoPackages = configuration.infoPackages
            actions.append(.respond(refusal, transaction))
            return
        }
        respond(hasEnded ? 481 : 200, to: request, transaction, actions: &actions)
        if !hasEnded { actions.append(.event(.info(request))) }
    }

    // MARK: Ours

    mutating func sendInfo(
        body: MessageBody?, headers: SIPHeaders, actions: inout [SessionAction]
    ) -> RequestID? {
        guard !hasEnded, let tag = mainTag, var request = makeRequest(.info, tag: tag) else { return nil }
        for field in headers.fields { request.headers.append(field.name, field.value) }
        if let body {
            request.headers[first: .contentType] = body.contentType
            request.body = body.bytes
        }
        return send(request, .info, tag: tag, actions: &actions)
    }

    /// Takes a response to any request of the session.
    mutating func receive(
        _ response: SIPResponse, for requestID: RequestID, at now: Instant, actions: inout [SessionAction]
    ) {
        guard let pending = requests[requestID] else {
            // The first INVITE's 2xx may come again from another fork.
            if response.headers.cseq?.method == .invite, (200..<300).contains(response.status) {
                receiveLateAcceptance(response, for: requestID, at: now, actions: &actions)
            }
            return
        }
        switch pending.purpose {
        case .invite:
            receiveInviteResponse(response, for: requestID, at: now, actions: &actions)
        case .reinvite(let reason):
            receiveReinviteResponse(response, for: requestID, reason: reason, at: now, actions: &actions)
        case .update(let reason):
            receiveUpdateResponse(response, for: requestID, reason: reason, at: now, actions: &actions)
        case .prack, .bye, .extraBye, .info, .refer, .notify:
            guard response.status >= 200 else { return }
            if askForCredentials(response, for: requestID, actions: &actions) { return }
            requests[requestID] = nil
            finishRequest(
                pending, requestID, status: response.status, headers: response.headers, at: now, actions: &actions)
        }
    }

    /// No final response came to a request of the session.
    mutating func requestFailed(
        _ failure: RequestFailure, for requestID: RequestID, at now: Instant, actions: inout [SessionAction]
    ) {
        guard let pending = requests[requestID] else { return }
        switch pending.purpose {
        case .invite: inviteFailed(failure, for: requestID, actions: &actions)
        case .reinvite, .update: offerFailed(failure, for: requestID, at: now, actions: &actions)
        case .prack, .bye, .extraBye, .info, .refer, .notify:
            requests[requestID] = nil
            finishRequest(
                pending, requestID, status: failure.status, headers: SIPHeaders(), at: now, actions: &actions)
        }
    }

    private mutating func finishRequest(
        _ pending: PendingRequest, _ requestID: RequestID, status: Int, headers: SIPHeaders, at now: Instant,
        actions: inout [SessionAction]
    ) {
        switch pending.purpose {
        case .bye:
            // Whatever the answer to a BYE is, the session is over (RFC 3261 §15.1.1).
            close(actions: &actions)
            return
        case .info: if !hasEnded { actions.append(.event(.infoFinished(requestID, status: status))) }
        case .refer: finishRefer(pending.request, status: status, headers: headers, actions: &actions)
        case .notify(let referral): if status >= 300 { referrals[referral] = nil }
        case .prack, .extraBye, .invite, .reinvite, .update: break
        }
        // The far end has forgotten the dialog, or is gone (RFC 3261 §12.2.1.2).
        switch (pending.purpose, status) {
        case (.info, 408), (.info, 481), (.refer, 408), (.refer, 481):
            hangUp(SessionEnd(cause: .dialogLost), at: now, actions: &actions)
        default: break
        }
    }

    private mutating func receiveLateAcceptance(
        _ response: SIPResponse, for requestID: RequestID, at now: Instant, actions: inout [SessionAction]
    ) {
        guard response.headers.cseq?.number == firstInvite?.headers.cseq?.number else { return }
        receiveInviteResponse(response, for: requestID, at: now, actions: &actions)
    }

    // MARK: Credentials

    /// Asks for credentials if the response is a challenge; one without a challenge is a plain refusal.
    mutating func askForCredentials(
        _ response: SIPResponse, for requestID: RequestID, actions: inout [SessionAction]
    ) -> Bool {
        guard response.isChallenge else { return false }
        requests[requestID]?.isChallenged = true
        actions.append(.event(.authenticationRequired(requestID, response)))
        return true
    }

    mutating func authorize(_ requestID: RequestID, headers: SIPHeaders, actions: inout [SessionAction]) {
        guard var pending = requests[requestID], pending.isChallenged else { return }
        pending.isChallenged = false
        if let tag = pending.tag, let next = makeRequest(pending.request.method, tag: tag) {
            pending.request.headers.cseq = next.headers.cseq
        } else if let cseq = pending.request.headers.cseq {
            pending.request.headers.cseq = CSeq(cseq.number &+ 1, cseq.method)
        }
        for field in headers.fields { pending.request.headers.remove(field.name) }
        for field in headers.fields { pending.request.headers.append(field.name, field.value) }
        requests[requestID] = pending
        if case .invite = pending.purpose {
            firstInvite = pending.request
            closeDialogs(actions: &actions)
        }
        actions.append(.send(requestID, pending.request))
    }
}

extension SIPResponse {
    /// Whether this asks for credentials; a 401 or 407 without a challenge is a plain refusal.
    var isChallenge: Bool {
        switch status {
        case 401: headers.contains(.wwwAuthenticate)
        case 407: headers.contains(.proxyAuthenticate)
        default: false
        }
    }
}
