internal import OffhookBasics

/// A REFER of the far end (RFC 3515 §2.4.2).
struct IncomingReferral: Sendable {
    let request: SIPRequest
    let transaction: ServerTransactionID
    /// Whether news of the referral is wanted (RFC 4488).
    let wantsProgress: Bool
    var isAccepted = false
    /// When it is refused, or its subscription ends.
    var deadline: Instant
}

/// Call transfer (RFC 3515, RFC 4488, RFC 6665).
extension InviteSession {
    // MARK: Ours

    mutating func refer(
        to target: NameAddress, wantsProgress: Bool, headers: SIPHeaders, actions: inout [SessionAction]
    ) {
        guard isEstablished, let tag = mainTag, var request = makeRequest(.refer, tag: tag) else {
            actions.append(.event(.referralFailed(status: 481)))
            return
        }
        request.headers.referTo = target
        if !wantsProgress {
            request.headers[first: .referSub] = "false"
            request.headers[first: .supported] = "norefersub"
        }
        for field in headers.fields { request.headers.append(field.name, field.value) }
        if wantsProgress, let sequence = request.headers.cseq?.number { subscriptions.insert(sequence) }
        send(request, .refer, tag: tag, actions: &actions)
    }

    mutating func finishRefer(
        _ request: SIPRequest, status: Int, headers: SIPHeaders, actions: inout [SessionAction]
    ) {
        guard !hasEnded else { return }
        let sequence = request.headers.cseq?.number ?? 0
        if (200..<300).contains(status) {
            if headers[first: .referSub]?.lowercased() == "false" { subscriptions.remove(sequence) }
            actions.append(.event(.referralAccepted(expectsProgress: subscriptions.contains(sequence))))
        } else {
            subscriptions.remove(sequence)
            actions.append(.event(.referralFailed(status: status)))
        }
    }

    /// Takes a NOTIFY on a REFER of ours (RFC 3515 §2.4.4).
    mutating func receiveNotify(
        _ request: SIPRequest, _ transaction: ServerTransactionID, actions: inout [SessionAction]
    ) {
        guard let event = request.headers.event, event.token.lowercased() == "refer" else {
            respond(489, to: request, transaction, actions: &actions)
            return
        }
        // The first REFER's NOTIFYs need no id.
        let sequence = event.parameters["id"].flatMap { UInt32($0) } ?? subscriptions.min()
        guard !hasEnded, let sequence, subscriptions.contains(sequence) else {
            respond(481, to: request, transaction, actions: &actions)
            return
        }
        respond(200, to: request, transaction, actions: &actions)
        let fragment = StatusFragment(request.body)
        let isTerminated = request.headers.subscriptionState?.token.lowercased() == "terminated"
        let isFinal = isTerminated || (fragment?.status ?? 0) >= 200
        if isFinal { subscriptions.remove(sequence) }
        if let fragment {
            actions.append(
                .event(.referralProgress(status: fragment.status, reason: fragment.reason, isFinal: isFinal)))
        } else if isFinal {
            actions.append(.event(.referralFailed(status: 487)))
        }
    }

    // MARK: Theirs

    mutating func receiveRefer(
        _ request: SIPRequest, _ transaction: ServerTransactionID, at now: Instant, actions: inout [SessionAction]
    ) {
        guard isEstablished else {
            respond(481, to: request, transaction, actions: &actions)
            return
        }
        guard request.headers.all(.referTo).count == 1, let target = request.headers.referTo,
            let sequence = request.headers.cseq?.number
        else {
            respond(400, to: request, transaction, actions: &actions)
            return
        }
        guard referrals.count < 4 else {
            respond(486, to: request, transaction, actions: &actions)
            return
        }
        let referral = ReferralID(number: sequence)
        referrals[referral] = IncomingReferral(
            request: request, transaction: transaction,
            wantsProgress: request.headers[first: .referSub]?.lowercased() != "false",
            deadline: now + configuration.timers.giveUp / 2)
        actions.append(.event(.referralRequested(Referral(target: target, request: request, id: referral))))
    }

    mutating func acceptReferral(_ id: ReferralID, at now: Instant, actions: inout [SessionAction]) {
        guard var referral = referrals[id], !referral.isAccepted else { return }
        var acceptance = response(202, to: referral.request)
        if !referral.wantsProgress { acceptance.headers[first: .referSub] = "false" }
        actions.append(.respond(acceptance, referral.transaction))
        guard referral.wantsProgress else {
            referrals[id] = nil
            return
        }
        referral.isAccepted = true
        referral.deadline = now + Self.referralLifetime
        referrals[id] = referral
        notifyReferral(id, status: 100, reason: nil, at: now, actions: &actions)
    }

    mutating func refuseReferral(_ id: ReferralID, status: Int, actions: inout [SessionAction]) {
        guard let referral = referrals[id], !referral.isAccepted else { return }
        referrals[id] = nil
        respond(status, to: referral.request, referral.transaction, actions: &actions)
    }

    mutating func notifyReferral(
        _ id: ReferralID, status: Int, reason: String?, at now: Instant, actions: inout [SessionAction]
    ) {
        guard let referral = referrals[id], referral.isAccepted, let tag = mainTag,
            var request = makeRequest(.notify, tag: tag)
        else { return }
        request.headers[first: .event] = "refer;id=\(id.number)"
        let left = max((referral.deadline - now).components.seconds, 0)
        request.headers[first: .subscriptionState] =
            status < 200 ? "active;expires=\(left)" : "terminated;reason=noresource"
        request.headers[first: .contentType] = "message/sipfrag;version=2.0"
        request.body = Array("SIP/2.0 \(status) \(reason ?? SIPResponse.standardReason(of: status))\r\n".utf8)
        if status >= 200 { referrals[id] = nil }
        send(request, .notify(id), tag: tag, actions: &actions)
    }

    mutating func handleReferrals(timeoutAt now: Instant, actions: inout [SessionAction]) {
        for (id, referral) in referrals.sorted(by: { $0.key.number < $1.key.number }) where now >= referral.deadline {
            if referral.isAccepted {
                notifyReferral(id, status: 408, reason: nil, at: now, actions: &actions)
            } else {
                refuseReferral(id, status: 603, actions: &actions)
            }
        }
    }

    /// How long the far end of a REFER is told of its outcome, at most.
    private static var referralLifetime: Duration { .seconds(180) }
}

/// The status line that a NOTIFY on a REFER has as its body (RFC 3420).
struct StatusFragment: Hashable, Sendable {
    let status: Int
    let reason: String

    init?(_ body: [UInt8]) {
        let line = String(decoding: body.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count >= 2, parts[0].lowercased() == "sip/2.0", let status = Int(parts[1]),
            (100..<700).contains(status)
        else { return nil }
        self.status = status
        reason = parts.count == 3 ? String(parts[2]) : ""
    }
}
