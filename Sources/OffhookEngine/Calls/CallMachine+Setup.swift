internal import OffhookBasics
internal import OffhookMedia
internal import OffhookSDP
internal import OffhookSIP

/// How a call comes about, or does not: ours from its start to its INVITE, theirs from the ringing to the answer.
extension CallMachine {
    // MARK: Ours

    func start(_ token: CommandToken, core: inout EngineCore) {
        guard isOutgoing, snapshot.phase == .idle else { return refuse(token, core: &core) }
        guard let query = hop else {
            let reason = "A call to \(target) needs a server: set one for the account, or call a SIP address."
            return core.output(.finished(token, CallFailure(.invalidArgument, reason)))
        }
        setupToken = token
        startedAt = core.now
        snapshot.phase = .initiating
        tell(.started, core: &core)
        noAnswerAt = core.configuration.noAnswerLimit.map { core.now + $0 }
        if let ways = core.registrations[account.handle]?.ways, !ways.isEmpty {
            resolved(ways, core: &core)
        } else {
            core.output(.resolve(query, .call(handle)))
        }
    }

    /// Where the first request goes: the account's server, else the far end itself.
    private var hop: ResolveQuery? {
        account.server ?? (account.routes.first?.uri.sip ?? target.sip).map { ResolveQuery(to: $0) }
    }

    /// The way to the far end is known, and with it the address of ours that it can reach.
    func resolved(_ routes: [TransportRoute], core: inout EngineCore) {
        if snapshot.isUp, let route = routes.first { return moved(to: route, contact: nil, core: &core) }
        guard snapshot.phase == .initiating, session == nil else { return }
        guard let route = routes.first else {
            let host = hop?.host.text ?? ""
            let reason = "No way to \(host) was found: check the address and the network."
            return fail(CallFailure(.unreachable, reason), core: &core)
        }
        localAddress = route.local.address
        firstRoutes = routes
        negotiation = OfferAnswer(
            capabilities: account.capabilities, sessionID: core.random.next(), address: route.local.address)
        guard !delaysOffer, account.ice != nil else { return invite(core: &core) }
        guard wishes(mode: snapshot.videoMode, core: &core) != nil else { return failForPorts(core: &core) }
        wait(for: .invite, core: &core)
    }

    /// Goes on as soon as the candidates are gathered, or have taken too long.
    private func wait(for next: AfterGathering, core: inout EngineCore) {
        afterGathering = next
        gatherUntil = core.now + core.configuration.gatheringLimit
        if media.connectivity?.isGathered != false || next == .accept && canAnswerBeforeCandidates {
            gathered(core: &core)
        }
    }

    func gathered(core: inout EngineCore) {
        let next = afterGathering
        afterGathering = nil
        gatherUntil = nil
        switch next {
        case .invite where snapshot.phase == .initiating && session == nil: invite(core: &core)
        case .accept where snapshot.phase == .alerting || snapshot.phase == .ignored: answerInvite(core: &core)
        case .invite, .accept, nil: break
        }
    }

    /// Whether the call goes on with a second INVITE: a far end that demands encryption refuses plain profiles, whatever keys
    /// stand beside them.
    func invitesSecured(after status: Int, core: inout EngineCore) -> Bool {
        guard isOutgoing, snapshot.phase == .initiating, [415, 488, 606].contains(status), !isInvitedSecured,
            !delaysOffer, account.capabilities.security == .bestEffort, let localAddress
        else { return false }
        isInvitedSecured = true
        if let session { core.sessionOwners[session] = nil }
        session = nil
        forks = [:]
        var capabilities = account.capabilities
        capabilities.security = .sdes
        negotiation = OfferAnswer(
            capabilities: capabilities, sessionID: core.random.next(), address: localAddress)
        invite(core: &core)
        return true
    }

    private func invite(core: inout EngineCore) {
        var offer: [UInt8]?
        if !delaysOffer {
            guard let wishes = wishes(mode: snapshot.videoMode, core: &core) else { return failForPorts(core: &core) }
            offer = negotiation?.makeOffer(wishes).write()
            noteDescriptionSent()
        }
        let binding = core.registrations[account.handle]?.binding
        var headers = requestHeaders
        let credentials = core.earlyCredentials(
            of: account.handle, method: .invite, uri: target, body: offer ?? [])
        for field in credentials.fields { headers.append(field.name, field.value) }
        let isThroughServer = account.server != nil
        let session = core.userAgent.invite(
            target, from: account.identity, route: isThroughServer ? firstRoutes.first : nil,
            alternatives: isThroughServer ? Array(firstRoutes.dropFirst()) : [],
            isRouteFixed: firstRoutes.first?.target.transport.isWebSocket == true,
            routes: account.routes + (binding?.serviceRoute ?? []), contact: binding?.callContact, headers: headers,
            offer: offer, at: core.now, actions: &core.actions)
        self.session = session
        core.sessionOwners[session] = handle
    }

    /// Accepts a call that takes another's place, with the pictures of that one.
    func takeOver(_ former: CallMachine, core: inout EngineCore) {
        isTakeover = true
        snapshot.videoMode = former.snapshot.videoMode
        accept(CommandToken(number: core.nextNumber()), core: &core)
    }

    func accept(_ token: CommandToken, core: inout EngineCore) {
        // The app need not know that it was accepted already.
        if isTakeover, setupToken != nil || snapshot.isUp { return core.output(.finished(token, nil)) }
        guard !isOutgoing, snapshot.phase == .alerting || snapshot.phase == .ignored, setupToken == nil, let session
        else {
            return refuse(token, core: &core)
        }
        _ = session
        setupToken = token
        guard account.ice != nil else { return answerInvite(core: &core) }
        guard wishes(mode: snapshot.videoMode, core: &core) != nil else { return failForPorts(core: &core) }
        wait(for: .accept, core: &core)
    }

    private func answerInvite(core: inout EngineCore) {
        guard let session else { return }
        guard let wishes = wishes(mode: snapshot.videoMode, core: &core) else { return failForPorts(core: &core) }
        let isLateOffer = negotiation?.remoteOffer == nil
        let description = isLateOffer ? negotiation?.makeOffer(wishes) : negotiation?.makeAnswer(wishes)
        guard let description else { return }
        noteDescriptionSent()
        core.userAgent.accept(session, description: description.write(), at: core.now, actions: &core.actions)
        answeredAt = core.now
        if !isLateOffer {
            isAnswered = true
            applyMedia(core: &core)
        }
    }

    func ignore(_ token: CommandToken, core: inout EngineCore) {
        guard !isOutgoing, snapshot.phase == .alerting else { return refuse(token, core: &core) }
        snapshot.phase = .ignored
        tell(.ignored, core: &core)
        core.output(.finished(token, nil))
    }

    func deny(isBusy: Bool, token: CommandToken, core: inout EngineCore) {
        guard !isOutgoing, snapshot.phase == .alerting || snapshot.phase == .ignored, let session else {
            return refuse(token, core: &core)
        }
        let status = isBusy ? 486 : 603
        intendedEnding = CallEnding(isBusy ? .busy : .declined, sipStatus: status)
        tell(.denied, core: &core)
        core.userAgent.reject(session, status: status, at: core.now, actions: &core.actions)
        core.output(.finished(token, nil))
    }

    func redirect(to address: NameAddress, token: CommandToken, core: inout EngineCore) {
        guard !isOutgoing, snapshot.phase == .alerting || snapshot.phase == .ignored, let session else {
            return refuse(token, core: &core)
        }
        intendedEnding = CallEnding(.transferred, sipStatus: 302)
        core.userAgent.redirect(session, to: [address], at: core.now, actions: &core.actions)
        core.output(.finished(token, nil))
    }

    /// Ends the call in whatever state it is.
    func end(core: inout EngineCore) {
        switch snapshot.phase {
        case .ended, .ending: return
        case .failed:
            finish(CallEnding(.failed(snapshot.lastFailure ?? CallFailure(.refused, "The call failed."))), core: &core)
        default:
            guard let session else { return finish(CallEnding(.cancelled), core: &core) }
            snapshot.phase = .ending
            tell(.changed, core: &core)
            core.userAgent.end(session, at: core.now, actions: &core.actions)
        }
    }
}
