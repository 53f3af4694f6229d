internal import OffhookBasics

/// One INVITE usage: a call from its first INVITE to its last BYE, as signalling sees it.
///
/// RFC 3261 §13 to §15 with RFC 3262 (reliable responses), 3311 (UPDATE), 3515 (REFER), 3891 (Replaces) and 4028
/// (session timers). One offer/answer exchange is open at a time within a dialog.
struct InviteSession: Sendable {
    enum State: Sendable {
        /// Our INVITE is out.
        case calling(RequestID)
        /// Our INVITE was given up; its final response is awaited.
        case cancelling(RequestID)
        /// Their INVITE is here; `inviteServer` holds it.
        case ringing
        /// A 2xx was sent or received.
        case established
        /// The session is over for the upper layer; our BYE is due or out.
        case closing
        case closed
    }

    /// A request of ours that has no final response yet.
    struct PendingRequest: Sendable {
        enum Purpose: Sendable {
            case invite
            case reinvite(OfferReason)
            case update(OfferReason)
            case prack
            case bye
            /// The BYE to a fork that answered too.
            case extraBye
            case info
            case refer
            case notify(ReferralID)
        }

        var request: SIPRequest
        let purpose: Purpose
        /// The remote tag of its dialog.
        let tag: String?
        var isChallenged = false
    }

    /// An INVITE of the far end that has no final response yet.
    struct InviteServer: Sendable {
        let request: SIPRequest
        let transaction: ServerTransactionID
    }

    /// An acceptance that waits for a PRACK (RFC 3262 §5).
    struct HeldAcceptance: Sendable {
        let description: [UInt8]?
        let headers: SIPHeaders
    }

    let id: SessionID
    let configuration: UserAgentConfiguration
    var random: SeededRandom
    var state: State
    /// Whether we sent the first INVITE, and so made up the Call-ID.
    let isCaller: Bool

    /// By remote tag.
    var dialogs: [String: SessionDialog] = [:]
    /// The remote tag of the dialog that counts: the callee's only one, or that of the fork that answered.
    var mainTag: String?
    /// Remote tags of forks that answered too late.
    var extraTags: Set<String> = []

    var requests: [RequestID: PendingRequest] = [:]
    var requestCount: UInt64 = 0
    /// The first INVITE as last sent; dialogs are made from it.
    var firstInvite: SIPRequest?
    var redirectCount = 0

    var inviteServer: InviteServer?
    var heldAcceptance: HeldAcceptance?
    var replacedSession: SessionID?
    var accepted: [AcceptedInvite] = []
    var reliable: ReliableResponses
    var timer: SessionTimer

    /// Why the upper layer is to be asked for an offer, once one can be sent.
    var wantedOffer: OfferReason?
    /// Not before this time (RFC 3261 §14.1).
    var offerNotBefore: Instant?

    var ringingDeadline: Instant?
    /// What a BYE that waits for an ACK is to say.
    var delayedBye: [SIPReason]?
    var hasEnded = false

    /// REFERs of theirs that nobody answered yet, and those that are reported on.
    var referrals: [ReferralID: IncomingReferral] = [:]
    /// CSeq numbers of REFERs of ours that NOTIFYs may tell of.
    var subscriptions: Set<UInt32> = []

    init(
        id: SessionID, state: State, isCaller: Bool, configuration: UserAgentConfiguration, seed: UInt64,
        at now: Instant
    ) {
        self.id = id
        self.state = state
        self.isCaller = isCaller
        self.configuration = configuration
        random = SeededRandom(seed: seed)
        reliable = ReliableResponses(
            firstNumber: UInt32(truncatingIfNeeded: random.next() & 0x3FFF_FFFF) + 1, timers: configuration.timers)
        timer = SessionTimer(configuration.sessionTimer)
        ringingDeadline = configuration.ringingLimit.map { now + $0 }
    }

    /// Whether nothing is left to do but to answer late repeats.
    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    var isEstablished: Bool {
        if case .established = state { true } else { false }
    }

    var main: SessionDialog? {
        get { mainTag.flatMap { dialogs[$0] } }
        set { if let mainTag { dialogs[mainTag] = newValue } }
    }

    // MARK: Sending

    /// Registers and sends a request.
    @discardableResult
    mutating func send(
        _ request: SIPRequest, _ purpose: PendingRequest.Purpose, tag: String?, actions: inout [SessionAction]
    ) -> RequestID {
        requestCount += 1
        let requestID = RequestID(session: id, number: requestCount)
        requests[requestID] = PendingRequest(request: request, purpose: purpose, tag: tag)
        actions.append(.send(requestID, request))
        return requestID
    }

    /// A request within a dialog; nil if there is none with that tag.
    mutating func makeRequest(_ method: SIPMethod, tag: String?) -> SIPRequest? {
        guard let tag, var entry = dialogs[tag] else { return nil }
        let request = entry.dialog.makeRequest(method)
        dialogs[tag] = entry
        return request
    }

    /// What an INVITE, an UPDATE or the answer to one says we can do.
    func addCapabilities(to headers: inout SIPHeaders) {
        headers[first: .allow] = configuration.allowedMethods.map(\.name).joined(separator: ", ")
        headers[first: .supported] = configuration.supportedOptions.joined(separator: ", ")
        if !configuration.infoPackages.isEmpty { headers.infoPackages = configuration.infoPackages }
        if !configuration.eventPackages.isEmpty {
            headers[first: .allowEvents] = configuration.eventPackages.joined(separator: ", ")
        }
    }

    /// A response to a request of theirs, with our tag.
    func response(_ status: Int, reason: String? = nil, to request: SIPRequest) -> SIPResponse {
        SIPResponse(answering: request, status: status, reason: reason, tag: localTag)
    }

    var localTag: String? {
        dialogs.values.first?.dialog.id.localTag
    }

    mutating func respond(
        _ status: Int, to request: SIPRequest, _ transaction: ServerTransactionID, actions: inout [SessionAction]
    ) {
        actions.append(.respond(response(status, to: request), transaction))
    }

    // MARK: Time

    var nextDeadline: Instant? {
        var earliest: Instant?
        func consider(_ deadline: Instant?) {
            guard let deadline else { return }
            earliest = min(earliest ?? deadline, deadline)
        }
        for invite in accepted { consider(invite.nextDeadline) }
        switch state {
        case .calling, .ringing:
            consider(ringingDeadline)
            consider(reliable.nextDeadline)
        case .established:
            consider(timer.nextDeadline)
            if wantedOffer != nil { consider(offerNotBefore) }
        case .cancelling, .closing, .closed:
            break
        }
        for dialog in dialogs.values { consider(dialog.pending?.deadline) }
        for referral in referrals.values { consider(referral.deadline) }
        return earliest
    }

    mutating func handle(timeoutAt now: Instant, actions: inout [SessionAction]) {
        handleAcceptedInvites(timeoutAt: now, actions: &actions)
        handleRinging(timeoutAt: now, actions: &actions)
        handlePendingDescriptions(timeoutAt: now, actions: &actions)
        handleReferrals(timeoutAt: now, actions: &actions)
        if isEstablished, let due = timer.handle(timeoutAt: now) {
            switch due {
            case .refresh: refresh(at: now, actions: &actions)
            case .hangUp: hangUp(SessionEnd(cause: .sessionExpired), at: now, actions: &actions)
            }
        }
        if let offerNotBefore, now >= offerNotBefore { self.offerNotBefore = nil }
        askForWantedOffer(actions: &actions)
    }

    private mutating func handleAcceptedInvites(timeoutAt now: Instant, actions: inout [SessionAction]) {
        var givenUp = false
        for index in accepted.indices.reversed() {
            switch accepted[index].handle(timeoutAt: now) {
            case .resend: actions.append(.respond(accepted[index].response, accepted[index].transaction))
            case .giveUp:
                accepted.remove(at: index)
                givenUp = true
            case nil: break
            }
        }
        guard givenUp else { return }
        if isEstablished {
            hangUp(SessionEnd(cause: .acknowledgementMissing), at: now, actions: &actions)
        } else {
            sendDelayedBye(actions: &actions)
        }
    }

    private mutating func handleRinging(timeoutAt now: Instant, actions: inout [SessionAction]) {
        switch state {
        case .calling:
            if let ringingDeadline, now >= ringingDeadline {
                end(SessionEnd(cause: .timedOut), reasons: [], at: now, actions: &actions)
            }
        case .ringing:
            if let ringingDeadline, now >= ringingDeadline {
                refuse(480, end: SessionEnd(cause: .timedOut), actions: &actions)
            } else {
                switch reliable.handle(timeoutAt: now) {
                case .resend(let response):
                    if let inviteServer { actions.append(.respond(response, inviteServer.transaction)) }
                case .giveUp:
                    refuse(504, end: SessionEnd(cause: .provisionalUnacknowledged), actions: &actions)
                case nil: break
                }
            }
        case .cancelling, .established, .closing, .closed:
            break
        }
    }
}
