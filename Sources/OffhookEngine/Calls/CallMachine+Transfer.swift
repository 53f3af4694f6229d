internal import OffhookBasics
internal import OffhookMedia
internal import OffhookSIP

/// A call that a far end asks for with REFER.
struct TransferRequest {
    let transferor: CallMachine
    let referral: ReferralID
    let target: URI
    /// Replaces and Referred-By.
    let headers: SIPHeaders
}

/// Call transfer (RFC 3515, RFC 3891, RFC 5589): ours, and those that far ends ask for.
extension CallMachine {
    // MARK: Ours

    func transfer(to address: NameAddress, token: CommandToken, core: inout EngineCore) {
        guard snapshot.isUp, transferToken == nil, let session else { return refuse(token, core: &core) }
        transferToken = token
        snapshot.phase = .transferring
        tell(.changed, core: &core)
        core.userAgent.refer(session, to: address, at: core.now, actions: &core.actions)
    }

    func transfer(to other: CallMachine?, token: CommandToken, core: inout EngineCore) {
        guard snapshot.isUp, transferToken == nil, let session, let other, other !== self, other.snapshot.isUp,
            let replaced = other.session
        else { return refuse(token, core: &core) }
        transferToken = token
        snapshot.phase = .transferring
        tell(.changed, core: &core)
        // The dialog to take over lives at one device: its Contact leads there, if anybody can reach it (RFC 5589 §7.3).
        var target = other.target
        let contact = core.userAgent.remoteTarget(of: replaced)
        if let contact, let sip = contact.sip, account.server == nil || sip.parameters.contains("gr") {
            target = contact
        }
        core.userAgent.refer(
            session, to: NameAddress(uri: target), replacing: replaced, at: core.now, actions: &core.actions)
    }

    /// Lets the far end hear that of another call.
    func join(_ other: CallMachine?, token: CommandToken, core: inout EngineCore) {
        guard snapshot.isUp, let other, other !== self, other.snapshot.isUp else { return refuse(token, core: &core) }
        core.output(.joined(handle, other.handle))
        core.output(.finished(token, nil))
    }

    func transferFinished(status: Int, core: inout EngineCore) {
        guard let token = transferToken else { return }
        transferToken = nil
        if (200..<300).contains(status), let session {
            core.output(.finished(token, nil))
            intendedEnding = CallEnding(.transferred)
            core.userAgent.end(session, at: core.now, actions: &core.actions)
            return
        }
        restPhase()
        tell(.changed, core: &core)
        core.output(
            .finished(token, CallFailure(.transferFailed, "The transfer failed (\(status)).", sipStatus: status)))
    }

    // MARK: Theirs

    func receiveTransfer(_ request: Referral, core: inout EngineCore) {
        guard let session else { return }
        tell(.transferRequested(to: request.target.uri.withoutParameters), core: &core)
        guard account.followsTransfers, snapshot.isUp, snapshot.phase != .beingTransferred, !isFollowing,
            transferToken == nil,
            let (target, headers) = Self.transferTarget(request)
        else {
            core.userAgent.refuseReferral(session, request.id, at: core.now, actions: &core.actions)
            return
        }
        core.userAgent.acceptReferral(session, request.id, at: core.now, actions: &core.actions)
        isFollowing = true
        if openChange == nil { snapshot.phase = .beingTransferred }
        tell(.changed, core: &core)
        core.transferRequests.append(
            TransferRequest(transferor: self, referral: request.id, target: target, headers: headers))
    }

    /// Whom to call, and what to say: header fields that the URI carries are those of the INVITE (RFC 3261 §19.1.5), of
    /// which we take Replaces alone.
    private static func transferTarget(_ request: Referral) -> (URI, SIPHeaders)? {
        var headers = SIPHeaders()
        if let referrer = request.request.headers.referredBy { headers.referredBy = referrer }
        guard var sip = request.target.uri.sip else {
            return request.target.uri.telephoneNumber == nil ? nil : (request.target.uri, headers)
        }
        // Another method than INVITE is nothing that a person asks for.
        if let method = sip.parameters["method"], method.uppercased() != "INVITE" { return nil }
        sip.parameters["method"] = nil
        if let replaces = sip.headers.first(where: { $0.name.lowercased() == "replaces" }) {
            headers.append(.replaces, PercentEscaping.unescape(replaces.value))
            headers.require = ["replaces"]
        }
        sip.headers = []
        return (.sip(sip), headers)
    }

    /// A call that a far end asked for.
    convenience init(following request: TransferRequest, handle: CallHandle, core: inout EngineCore) {
        self.init(
            outgoingTo: request.target, handle: handle, account: request.transferor.account, delaysOffer: false,
            headers: request.headers, core: &core)
        transferor = request.transferor
        referral = request.referral
        snapshot.videoMode = request.transferor.snapshot.videoMode
    }

    /// Tells whoever asked for this call how it fares.
    func reportTransfer(status: Int, core: inout EngineCore) {
        guard let referral, let transferor, status > 100 else { return }
        if status >= 200 { self.referral = nil }
        transferor.transferFollowed(referral, status: status, core: &core)
    }

    /// How the call fares that our far end asked for.
    func transferFollowed(_ referral: ReferralID, status: Int, core: inout EngineCore) {
        if status >= 200 { isFollowing = false }
        guard let session, !isOver else { return }
        core.userAgent.notifyReferral(session, referral, status: status, at: core.now, actions: &core.actions)
        guard status >= 300, snapshot.phase == .beingTransferred else { return }
        restPhase()
        tell(.changed, core: &core)
    }
}
