internal import OffhookBasics

/// Offers and answers after the first INVITE (RFC 3261 §14, RFC 3311).
extension InviteSession {
    // MARK: Ours

    /// Whether an INVITE of ours may go now: no other one open either way, and no exchange (RFC 3261 §14.1).
    var canReinvite: Bool {
        guard isEstablished, inviteServer == nil, accepted.isEmpty, offerNotBefore == nil,
            main?.exchange.isStable == true, main?.pending == nil
        else { return false }
        return !requests.values.contains { request in
            switch request.purpose {
            case .invite, .reinvite, .update: true
            case .prack, .bye, .extraBye, .info, .refer, .notify: false
            }
        }
    }

    /// Whether an UPDATE of ours with an offer may go now (RFC 3311 §5.1).
    func canUpdate(_ tag: String) -> Bool {
        guard let entry = dialogs[tag], entry.exchange.isStable, entry.pending == nil, offerNotBefore == nil else {
            return false
        }
        return !requests.values.contains { request in
            if case .update = request.purpose, request.tag == tag { return true }
            if case .reinvite = request.purpose { return true }
            return false
        }
    }

    mutating func reinvite(
        offer: [UInt8]?, headers: SIPHeaders = SIPHeaders(), reason: OfferReason = .waited,
        actions: inout [SessionAction]
    ) {
        guard isEstablished else { return }
        guard canReinvite, let tag = mainTag, var request = makeRequest(.invite, tag: tag) else {
            wantedOffer = reason
            return
        }
        wantedOffer = nil
        addCapabilities(to: &request.headers)
        timer.fill(&request.headers)
        for field in headers.fields { request.headers.append(field.name, field.value) }
        if let offer { request.setDescription(offer) }
        main?.reliableNumber = nil
        main?.exchange.open(offer == nil ? .awaitingOffer : .localOffer(.invite))
        send(request, .reinvite(reason), tag: tag, actions: &actions)
    }

    mutating func update(offer: [UInt8]?, tag: String?, reason: OfferReason, actions: inout [SessionAction]) {
        guard !hasEnded, let tag = tag ?? mainTag ?? dialogs.keys.sorted().first else { return }
        guard offer == nil || canUpdate(tag), var request = makeRequest(.update, tag: tag) else {
            wantedOffer = reason
            return
        }
        addCapabilities(to: &request.headers)
        if isEstablished { timer.fill(&request.headers) }
        if let offer {
            wantedOffer = nil
            request.setDescription(offer)
            dialogs[tag]?.exchange.open(.localOffer(.update))
        }
        send(request, .update(reason), tag: tag, actions: &actions)
    }

    /// The session timer wants a refresh: an UPDATE where the far end takes one, for it needs no description.
    mutating func refresh(at now: Instant, actions: inout [SessionAction]) {
        if main?.takesUpdate == true {
            update(offer: nil, tag: mainTag, reason: .sessionRefresh, actions: &actions)
        } else {
            wantedOffer = .sessionRefresh
        }
    }

    /// Asks the upper layer for the offer that had to wait, if it can go now.
    mutating func askForWantedOffer(actions: inout [SessionAction]) {
        guard let reason = wantedOffer, canReinvite else { return }
        wantedOffer = nil
        actions.append(.event(.offerDue(reason)))
    }

    mutating func receiveReinviteResponse(
        _ response: SIPResponse, for requestID: RequestID, reason: OfferReason, at now: Instant,
        actions: inout [SessionAction]
    ) {
        guard response.status >= 200 else {
            guard isEstablished, let tag = mainTag, response.headers.require.contains("100rel"),
                isNextReliable(response, tag: tag)
            else { return }
            let description = response.body(ofType: "application/sdp")
            receiveReliable(response, description: description, tag: tag, at: now, actions: &actions)
            return
        }
        guard response.status >= 300 else {
            guard let invite = requests.removeValue(forKey: requestID)?.request, let tag = mainTag else { return }
            guard isEstablished else {
                acknowledge(requestID, invite, description: nil, tag: tag, actions: &actions)
                return
            }
            refreshTarget(from: response.headers, actions: &actions)
            timer.restart(asClient: response.headers, at: now)
            settleAcceptedOffer(response, for: requestID, invite, tag: tag, at: now, actions: &actions)
            askForWantedOffer(actions: &actions)
            return
        }
        receiveOfferRefusal(response, for: requestID, reason: reason, tag: mainTag, at: now, actions: &actions)
    }

    mutating func receiveUpdateResponse(
        _ response: SIPResponse, for requestID: RequestID, reason: OfferReason, at now: Instant,
        actions: inout [SessionAction]
    ) {
        guard response.status >= 200 else { return }
        let tag = requests[requestID]?.tag
        guard response.status >= 300 else {
            requests[requestID] = nil
            guard !hasEnded, let tag, let entry = dialogs[tag] else { return }
            if dialogs[tag]?.dialog.refreshTarget(from: response.headers) == true,
                let target = dialogs[tag]?.dialog.remoteTarget
            {
                actions.append(.event(.remoteTargetChanged(target)))
            }
            if isEstablished { timer.restart(asClient: response.headers, at: now) }
            if case .localOffer(.update) = entry.exchange.state {
                dialogs[tag]?.exchange.close()
                if let answer = response.body(ofType: "application/sdp") {
                    actions.append(.event(.answer(answer, .updateResponse, fork: tag)))
                } else {
                    actions.append(.event(.offerRefused(response)))
                }
            }
            askForWantedOffer(actions: &actions)
            return
        }
        receiveOfferRefusal(response, for: requestID, reason: reason, tag: tag, at: now, actions: &actions)
    }

    /// A re-INVITE or UPDATE was refused: what was agreed before stays in force (RFC 3261 §14.1).
    private mutating func receiveOfferRefusal(
        _ response: SIPResponse, for requestID: RequestID, reason: OfferReason, tag: String?, at now: Instant,
        actions: inout [SessionAction]
    ) {
        if askForCredentials(response, for: requestID, actions: &actions) { return }
        guard let refused = requests.removeValue(forKey: requestID), !hasEnded, let tag else { return }
        if response.status == 422, timer.raise(by: response), var again = makeRequest(refused.request.method, tag: tag)
        {
            again.headers.copy(.contentType, from: refused.request.headers)
            again.body = refused.request.body
            addCapabilities(to: &again.headers)
            timer.fill(&again.headers)
            send(again, refused.purpose, tag: tag, actions: &actions)
            return
        }
        let hadOffer = dialogs[tag]?.exchange.isStable == false
        dialogs[tag]?.exchange.close()
        switch response.status {
        case 408, 481:
            hangUp(SessionEnd(cause: .dialogLost, response: response), at: now, actions: &actions)
        case 491:
            retry(in: glareDelay(), reason: reason, at: now, actions: &actions)
        case 500 where response.headers.retryAfter != nil, 503 where response.headers.retryAfter != nil:
            let seconds = min(max(response.headers.retryAfter ?? 0, 1), 60)
            retry(in: .seconds(Int64(seconds)), reason: reason, at: now, actions: &actions)
        case 405 where refused.request.method == .update, 501 where refused.request.method == .update:
            dialogs[tag]?.takesUpdate = false
            wantedOffer = reason
        case _ where !hadOffer && refused.request.method == .update:
            // There are far ends that want a description in every UPDATE; a re-INVITE has one.
            dialogs[tag]?.takesUpdate = false
            wantedOffer = reason
        default:
            if hadOffer { actions.append(.event(.offerRefused(response))) }
        }
        askForWantedOffer(actions: &actions)
    }

    private mutating func retry(
        in delay: Duration, reason: OfferReason, at now: Instant, actions: inout [SessionAction]
    ) {
        wantedOffer = reason
        offerNotBefore = now + delay
        actions.append(.event(.glare(retryIn: delay)))
    }

    /// RFC 3261 §14.1: 2.1 to 4 s for who made up the Call-ID, 0 to 2 s for the other, in steps of 10 ms.
    private mutating func glareDelay() -> Duration {
        .milliseconds(
            10 * (isCaller ? Int64.random(in: 210...400, using: &random) : .random(in: 0...200, using: &random)))
    }

    /// A request within the dialog got no response (RFC 3261 §12.2.1.2).
    mutating func offerFailed(
        _ failure: RequestFailure, for requestID: RequestID, at now: Instant, actions: inout [SessionAction]
    ) {
        guard let failed = requests.removeValue(forKey: requestID), !hasEnded else { return }
        if let tag = failed.tag { dialogs[tag]?.exchange.close() }
        guard failure != .timedOut else {
            hangUp(SessionEnd(cause: .dialogLost), at: now, actions: &actions)
            return
        }
        // What could not be sent says nothing of the far end: it counts as a 503, which ends no dialog (RFC 3261 §8.1.3.1,
        // §12.2.1.2).
        let status = failure.status
        actions.append(
            .event(.offerRefused(SIPResponse(status: status, reason: SIPResponse.standardReason(of: status)))))
        askForWantedOffer(actions: &actions)
    }

    mutating func refreshTarget(from headers: SIPHeaders, actions: inout [SessionAction]) {
        guard main?.dialog.refreshTarget(from: headers) == true, let target = main?.dialog.remoteTarget else { return }
        actions.append(.event(.remoteTargetChanged(target)))
    }

    // MARK: Theirs

    mutating func receiveReinvite(
        _ request: SIPRequest, _ transaction: ServerTransactionID, at now: Instant, actions: inout [SessionAction]
    ) {
        guard isEstablished, let tag = mainTag, let exchange = main?.exchange.state else {
            // A second INVITE before our final response to the first, or after the end (RFC 3261 §14.2).
            if case .ringing = state {
                refuseForNow(request, transaction, actions: &actions)
            } else {
                respond(481, to: request, transaction, actions: &actions)
            }
            return
        }
        if inviteServer != nil || isRemoteOffer(exchange) {
            refuseForNow(request, transaction, actions: &actions)
            return
        }
        let hasOpenInvite = requests.values.contains { if case .reinvite = $0.purpose { true } else { false } }
        guard !hasOpenInvite, exchange == .stable else {
            respond(491, to: request, transaction, actions: &actions)
            return
        }
        if refuseTooSmallInterval(request, transaction, actions: &actions) { return }
        inviteServer = InviteServer(request: request, transaction: transaction)
        main?.learn(from: request.headers)
        let deadline = now + configuration.decisionLimit
        main?.pending = PendingDescription(message: .inviteResponse, deadline: deadline)
        if let offer = request.body(ofType: "application/sdp") {
            main?.exchange.open(.remoteOffer(.invite))
            actions.append(.event(.offer(offer, .invite, fork: tag)))
        } else {
            main?.exchange.open(.offerOwed)
            actions.append(.event(.offerRequested(.invite)))
        }
    }

    mutating func receiveUpdate(
        _ request: SIPRequest, _ transaction: ServerTransactionID, tag: String, at now: Instant,
        actions: inout [SessionAction]
    ) {
        guard !hasEnded, let exchange = dialogs[tag]?.exchange.state else {
            respond(481, to: request, transaction, actions: &actions)
            return
        }
        if isEstablished, refuseTooSmallInterval(request, transaction, actions: &actions) { return }
        guard let offer = request.body(ofType: "application/sdp") else {
            succeedUpdate(request, transaction, description: nil, tag: tag, at: now, actions: &actions)
            return
        }
        // RFC 3311 §5.2.
        switch exchange {
        case .stable:
            dialogs[tag]?.exchange.open(.remoteOffer(.update))
            dialogs[tag]?.pending = PendingDescription(
                message: .updateResponse(request, transaction), deadline: now + configuration.updateDecisionLimit)
            actions.append(.event(.offer(offer, .update, fork: tag)))
        case .localOffer, .awaitingOffer:
            respond(491, to: request, transaction, actions: &actions)
        case .remoteOffer, .offerOwed:
            refuseForNow(request, transaction, actions: &actions)
        }
    }

    private func isRemoteOffer(_ exchange: OfferAnswerExchange.State) -> Bool {
        switch exchange {
        case .remoteOffer, .offerOwed: true
        case .stable, .localOffer, .awaitingOffer: false
        }
    }

    /// 500 with a Retry-After of 0 to 10 s (RFC 3261 §14.2, RFC 3311 §5.2).
    private mutating func refuseForNow(
        _ request: SIPRequest, _ transaction: ServerTransactionID, actions: inout [SessionAction]
    ) {
        var refusal = response(500, to: request)
        refusal.headers.retryAfter = UInt32.random(in: 0...10, using: &random)
        actions.append(.respond(refusal, transaction))
    }

    private func refuseTooSmallInterval(
        _ request: SIPRequest, _ transaction: ServerTransactionID, actions: inout [SessionAction]
    ) -> Bool {
        guard let least = timer.isTooSmall(request.headers) else { return false }
        var refusal = response(422, to: request)
        refusal.headers.minSE = least
        actions.append(.respond(refusal, transaction))
        return true
    }

    private mutating func succeedUpdate(
        _ request: SIPRequest, _ transaction: ServerTransactionID, description: [UInt8]?, tag: String,
        at now: Instant, actions: inout [SessionAction]
    ) {
        if dialogs[tag]?.dialog.refreshTarget(from: request.headers) == true,
            let target = dialogs[tag]?.dialog.remoteTarget
        {
            actions.append(.event(.remoteTargetChanged(target)))
        }
        dialogs[tag]?.learn(from: request.headers)
        var success = response(200, to: request)
        addCapabilities(to: &success.headers)
        if isEstablished { timer.restart(asServerOf: request.headers, response: &success.headers, at: now) }
        if let description { success.setDescription(description) }
        actions.append(.respond(success, transaction))
    }

    // MARK: What waits for a description of ours

    mutating func answer(
        description: [UInt8], tag: String?, at now: Instant, actions: inout [SessionAction]
    ) {
        guard let tag = pendingTag(tag), let pending = dialogs[tag]?.pending else { return }
        dialogs[tag]?.pending = nil
        switch pending.message {
        case .inviteResponse:
            guard let server = inviteServer else { return }
            inviteServer = nil
            refreshTarget(from: server.request.headers, actions: &actions)
            succeed(server, description: description, at: now, actions: &actions)
        case .updateResponse(let request, let transaction):
            dialogs[tag]?.exchange.close()
            succeedUpdate(request, transaction, description: description, tag: tag, at: now, actions: &actions)
        case .prackResponse(let request, let transaction):
            dialogs[tag]?.exchange.close()
            var success = response(200, to: request)
            success.setDescription(description)
            actions.append(.respond(success, transaction))
        case .acknowledgement(let requestID, let invite):
            dialogs[tag]?.exchange.close()
            acknowledge(requestID, invite, description: description, tag: tag, actions: &actions)
        case .prack(let provisional):
            dialogs[tag]?.exchange.close()
            sendPrack(of: provisional, description: description, tag: tag, actions: &actions)
        }
        askForWantedOffer(actions: &actions)
    }

    mutating func rejectOffer(
        status: Int, headers: SIPHeaders, tag: String?, end: SessionEnd, at now: Instant,
        actions: inout [SessionAction]
    ) {
        guard let tag = pendingTag(tag), let pending = dialogs[tag]?.pending else { return }
        var refused: (request: SIPRequest, transaction: ServerTransactionID)?
        switch pending.message {
        case .inviteResponse:
            refused = inviteServer.map { ($0.request, $0.transaction) }
            inviteServer = nil
        case .updateResponse(let request, let transaction), .prackResponse(let request, let transaction):
            refused = (request, transaction)
        case .acknowledgement, .prack:
            // An ACK or PRACK can refuse nothing: it goes without an answer, and the session ends.
            self.end(end, reasons: [SIPReason(protocolName: "SIP", cause: status)], at: now, actions: &actions)
            return
        }
        dialogs[tag]?.pending = nil
        dialogs[tag]?.exchange.close()
        if let refused {
            var refusal = response(status, to: refused.request)
            for field in headers.fields { refusal.headers.append(field.name, field.value) }
            actions.append(.respond(refusal, refused.transaction))
        }
        askForWantedOffer(actions: &actions)
    }

    private func pendingTag(_ tag: String?) -> String? {
        if let tag { return tag }
        if let mainTag, dialogs[mainTag]?.pending != nil { return mainTag }
        return dialogs.keys.sorted().first { dialogs[$0]?.pending != nil }
    }

    mutating func handlePendingDescriptions(timeoutAt now: Instant, actions: inout [SessionAction]) {
        for (tag, entry) in dialogs.sorted(by: { $0.key < $1.key }) {
            guard let pending = entry.pending, now >= pending.deadline else { continue }
            rejectOffer(
                status: 504, headers: SIPHeaders(), tag: tag, end: SessionEnd(cause: .answerMissing), at: now,
                actions: &actions)
            if !hasEnded { actions.append(.event(.offerWithdrawn)) }
        }
    }
}
