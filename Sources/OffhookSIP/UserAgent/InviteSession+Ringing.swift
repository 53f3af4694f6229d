internal import OffhookBasics

/// The callee's side of the first INVITE (RFC 3261 §13.3).
extension InviteSession {
    /// Begins a call of theirs; nil if the INVITE cannot begin a dialog (no Contact).
    static func ringing(
        _ invite: SIPRequest, _ transaction: ServerTransactionID, id: SessionID, isSecure: Bool,
        configuration: UserAgentConfiguration, seed: UInt64, at now: Instant, actions: inout [SessionAction]
    ) -> InviteSession? {
        var session = InviteSession(
            id: id, state: .ringing, isCaller: false, configuration: configuration, seed: seed, at: now)
        let localTag = session.random.token(length: 10)
        guard let dialog = Dialog(receiving: invite, localTag: localTag, isSecure: isSecure) else { return nil }
        let hasOffer = invite.body(ofType: "application/sdp") != nil
        let tag = dialog.id.remoteTag
        var entry = SessionDialog(dialog, exchange: hasOffer ? .remoteOffer(.invite) : .offerOwed)
        entry.learn(from: invite.headers)
        session.dialogs[tag] = entry
        session.mainTag = tag
        session.inviteServer = InviteServer(request: invite, transaction: transaction)
        actions.append(.opened(dialog.id))
        return session
    }

    mutating func ring(
        status: Int, description: [UInt8]?, at now: Instant, actions: inout [SessionAction]
    ) {
        guard case .ringing = state, let server = inviteServer, (101..<200).contains(status) else { return }
        var provisional = response(status, to: server.request)
        provisional.headers.copy(.recordRoute, from: server.request.headers)
        addCapabilities(to: &provisional.headers)
        if let description { provisional.setDescription(description) }
        guard sendsReliably(server.request) else {
            // What an unreliable response says is a preview: the exchange stays open (RFC 6337 §3.1.1). An offer must
            // not go in one at all (RFC 3261 §13.2.1).
            if case .offerOwed? = main?.exchange.state {
                provisional.body = []
                provisional.headers.remove(.contentType)
            }
            actions.append(.respond(provisional, server.transaction))
            return
        }
        if description != nil {
            switch main?.exchange.state {
            case .remoteOffer(.invite): main?.exchange.close()
            case .offerOwed: main?.exchange.open(.localOffer(.reliableProvisional))
            default:
                provisional.body = []
                provisional.headers.remove(.contentType)
            }
        }
        if let numbered = reliable.submit(provisional, hasDescription: !provisional.body.isEmpty, at: now) {
            actions.append(.respond(numbered, server.transaction))
        }
    }

    private func sendsReliably(_ invite: SIPRequest) -> Bool {
        switch configuration.reliableProvisionals {
        case .never: false
        case .whenRequired: invite.headers.require.contains("100rel")
        case .whenSupported:
            invite.headers.require.contains("100rel") || invite.headers.supported.contains("100rel")
        }
    }

    mutating func accept(
        description: [UInt8]?, headers: SIPHeaders, at now: Instant, actions: inout [SessionAction]
    ) {
        guard case .ringing = state, let server = inviteServer else { return }
        if reliable.holdsBackSuccess {
            heldAcceptance = HeldAcceptance(description: description, headers: headers)
            return
        }
        guard let exchange = main?.exchange.state, exchange == .stable || description != nil else {
            refuse(500, end: SessionEnd(cause: .answerMissing), actions: &actions)
            return
        }
        inviteServer = nil
        ringingDeadline = nil
        reliable.stop()
        state = .established
        succeed(
            server, description: exchange == .stable ? nil : description, headers: headers, isFirst: true, at: now,
            actions: &actions)
        if let replacedSession { actions.append(.replace(replacedSession)) }
    }

    /// Sends the 2xx to a first or later INVITE, and again until its ACK is here.
    mutating func succeed(
        _ server: InviteServer, description: [UInt8]?, headers: SIPHeaders = SIPHeaders(), isFirst: Bool = false,
        at now: Instant, actions: inout [SessionAction]
    ) {
        var success = response(200, to: server.request)
        success.headers.copy(.recordRoute, from: server.request.headers)
        addCapabilities(to: &success.headers)
        timer.restart(asServerOf: server.request.headers, response: &success.headers, at: now)
        for field in headers.fields { success.headers.append(field.name, field.value) }
        var carriesOffer = false
        if let description {
            success.setDescription(description)
            carriesOffer = main?.exchange.state == .offerOwed
            if carriesOffer {
                main?.exchange.open(.localOffer(.inviteResponse))
            } else {
                main?.exchange.close()
            }
        }
        main?.pending = nil
        actions.append(.respond(success, server.transaction))
        accepted.append(
            AcceptedInvite(
                transaction: server.transaction, response: success,
                sequence: server.request.headers.cseq?.number ?? 0, carriesOffer: carriesOffer,
                isFirst: isFirst, timers: configuration.timers, at: now))
    }

    /// Takes the ACK of a 2xx; one that fits nothing is dropped.
    mutating func receiveAcknowledgement(_ request: SIPRequest, at now: Instant, actions: inout [SessionAction]) {
        guard let sequence = request.headers.cseq?.number,
            let index = accepted.firstIndex(where: { $0.sequence == sequence })
        else { return }
        let invite = accepted.remove(at: index)
        guard isEstablished else {
            if accepted.isEmpty { sendDelayedBye(actions: &actions) }
            return
        }
        actions.append(.event(.acknowledged))
        if invite.carriesOffer, let mainTag {
            let answer = request.body(ofType: "application/sdp")
            guard answer != nil || !invite.isFirst else {
                hangUp(SessionEnd(cause: .answerMissing), at: now, actions: &actions)
                return
            }
            main?.exchange.close()
            // Some phones ask for an offer to end a hold and do not answer it: all stays as it was then.
            actions.append(
                .event(answer.map { .answer($0, .acknowledgement, fork: mainTag) } ?? .offerUnanswered))
        }
        askForWantedOffer(actions: &actions)
    }

    /// Takes a PRACK (RFC 3262 §3).
    mutating func receivePrack(
        _ request: SIPRequest, _ transaction: ServerTransactionID, at now: Instant, actions: inout [SessionAction]
    ) {
        guard let rack = request.headers.rack, rack.cseq.method == .invite, let mainTag,
            reliable.acknowledge(rack.responseNumber)
        else {
            respond(481, to: request, transaction, actions: &actions)
            return
        }
        let description = request.body(ofType: "application/sdp")
        switch (main?.exchange.state, description) {
        case (.localOffer(.reliableProvisional), let answer?):
            main?.exchange.close()
            respond(200, to: request, transaction, actions: &actions)
            actions.append(.event(.answer(answer, .prack, fork: mainTag)))
        case (.localOffer(.reliableProvisional), nil):
            respond(200, to: request, transaction, actions: &actions)
            refuse(488, end: SessionEnd(cause: .answerMissing), actions: &actions)
            return
        case (.stable, let offer?):
            main?.exchange.open(.remoteOffer(.prack))
            let deadline = now + configuration.updateDecisionLimit
            main?.pending = PendingDescription(message: .prackResponse(request, transaction), deadline: deadline)
            actions.append(.event(.offer(offer, .prack, fork: mainTag)))
        default:
            respond(200, to: request, transaction, actions: &actions)
        }
        proceedWithReliable(at: now, actions: &actions)
    }

    /// Sends the next reliable response, or the 2xx that waited for a PRACK.
    private mutating func proceedWithReliable(at now: Instant, actions: inout [SessionAction]) {
        guard case .ringing = state, let server = inviteServer else { return }
        if let next = reliable.sendNext(at: now) { actions.append(.respond(next, server.transaction)) }
        if let held = heldAcceptance, !reliable.holdsBackSuccess {
            heldAcceptance = nil
            accept(description: held.description, headers: held.headers, at: now, actions: &actions)
        }
    }
}
