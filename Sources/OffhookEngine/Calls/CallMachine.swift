internal import OffhookBasics
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSDP
internal import OffhookSIP

/// One call: what the app asked for, what signalling and media made of it, and what is still under way.
///
/// It introduces the SIP session to offer/answer and to the media lines. Commands and events come in, the user agent and
/// the core's outputs are where its doings go.
final class CallMachine {
    /// A change of the session that an offer of ours asks for.
    struct Change {
        enum Kind: Hashable {
            case videoMode(VideoMode)
            /// The same, to follow up a request for video that an UPDATE made and that had to be refused at once.
            case acceptVideo(VideoMode)
            case hold
            case unhold
            /// What is wanted as before, once more (RFC 4028 §7.4), or in words that the far end understands.
            case refresh
        }

        var kind: Kind
        var token: CommandToken?
    }

    /// A change whose offer is out, and what to go back to when it is refused.
    struct OpenChange {
        var change: Change
        var formerMode: VideoMode?
        var wasHeld: Bool
    }

    /// Video that the far end wants to add, while the app thinks.
    struct VideoRequest {
        var direction: MediaDirection
        var fork: String
        /// Nil where the line had to be refused already and accepting it means an offer of ours.
        var deadline: Instant?
        var isAnswered: Bool { deadline == nil }
    }

    /// What waits for ICE to have gathered candidates.
    enum AfterGathering {
        case invite
        case accept
    }

    let handle: CallHandle
    let account: EngineAccount
    let isOutgoing: Bool
    let media: CallMedia
    let target: URI
    let delaysOffer: Bool
    let requestHeaders: SIPHeaders

    var session: SessionID?
    var snapshot = CallSnapshot()
    var negotiation: OfferAnswer?
    /// The answers of early dialogs, by the far end's tag: each fork has a negotiation of its own (RFC 3262 §5).
    var forks: [String: OfferAnswer] = [:]
    var localAddress: IPAddress?
    /// How the session's messages travel.
    var transport: SIPTransport?

    var setupToken: CommandToken?
    var openChange: OpenChange?
    var waitingChanges: [Change] = []
    var videoRequest: VideoRequest?
    var transferToken: CommandToken?
    /// Whether a call that the far end asked for is on its way: one at a time, or it could have us call half the world.
    var isFollowing = false
    var digits = DigitQueue()
    /// What the local side meant the session's end to be.
    var intendedEnding: CallEnding?

    /// The ways that the first INVITE may take, best first.
    var firstRoutes: [TransportRoute] = []
    /// The call whose far end asked for this one, and which REFER did.
    weak var transferor: CallMachine?
    var referral: ReferralID?
    /// Whether the INVITE was sent once more with an offer of secure profiles alone.
    var isInvitedSecured = false
    /// Whether this call took another's place and so was accepted by itself.
    var isTakeover = false
    /// Whether the way to the account's server is lost for now.
    var hasLostSignaling = false
    var isAcknowledged = false
    var isAnswered = false
    var hadVideo = false
    var hasToldChannels = false
    var startedAt: Instant?
    var answeredAt: Instant?
    var lingerUntil: Instant?
    var noAnswerAt: Instant?
    var trickle = TrickleExchange()
    var afterGathering: AfterGathering?
    var gatherUntil: Instant?
    var hadConnectivity = false
    private(set) var isOver = false

    init(
        outgoingTo uri: URI, handle: CallHandle, account: EngineAccount, delaysOffer: Bool, headers: SIPHeaders,
        core: inout EngineCore
    ) {
        self.handle = handle
        self.account = account
        isOutgoing = true
        target = uri
        self.delaysOffer = delaysOffer
        requestHeaders = headers
        media = CallMedia(call: handle, account: account, isOfferer: !delaysOffer, core: &core)
        snapshot.remoteAddress = uri.withoutParameters
    }

    /// Takes an INVITE; nil where it was refused at once.
    init?(
        incoming invite: IncomingInvite, session: SessionID, handle: CallHandle, account: EngineAccount,
        core: inout EngineCore
    ) {
        self.handle = handle
        self.account = account
        self.session = session
        isOutgoing = false
        let from = invite.request.headers.from
        target = from?.uri ?? .other("")
        delaysOffer = false
        requestHeaders = SIPHeaders()
        localAddress = core.localAddress
        media = CallMedia(call: handle, account: account, isOfferer: invite.offer == nil, core: &core)
        startedAt = core.now
        snapshot.phase = .alerting
        snapshot.remoteAddress = from?.uri.withoutParameters ?? ""
        snapshot.remoteDisplayName = from?.displayName
        snapshot.subject = invite.request.headers[first: "Subject"]
        snapshot.headers = invite.request.headers.unknownFields
        snapshot.replacedCall = invite.replaces.flatMap { core.sessionOwners[$0] }
        snapshot.callToJoin = invite.joins.flatMap { core.sessionOwners[$0] }
        core.userAgent.setContact(core.registrations[account.handle]?.binding?.callContact, of: session)
        noteInfoPackages(invite.request.headers)
        guard takeInitialOffer(invite, core: &core) else { return nil }
        // Candidates are gathered while it rings.
        if account.ice != nil {
            _ = wishes(mode: snapshot.incomingVideoStatus == .off ? nil : .sendReceive, core: &core)
        }
        core.output(.incomingCall(handle, account.handle, snapshot))
        // What takes another call's place does not ring (RFC 3891 §3).
        if invite.replaces == nil { core.userAgent.ring(session, at: core.now, actions: &core.actions) }
    }

    // MARK: Commands

    func perform(_ command: CallCommand, token: CommandToken, core: inout EngineCore) {
        switch command {
        case .start: start(token, core: &core)
        case .accept: accept(token, core: &core)
        case .ignore: ignore(token, core: &core)
        case .deny(let isBusy): deny(isBusy: isBusy, token: token, core: &core)
        case .redirect(let address): redirect(to: address, token: token, core: &core)
        case .hold: change(Change(kind: .hold, token: token), core: &core)
        case .unhold: change(Change(kind: .unhold, token: token), core: &core)
        case .setVideoMode(let mode): setVideoMode(mode, token: token, core: &core)
        case .setPresentation(let isWanted): setPresentation(isWanted, token: token, core: &core)
        case .acceptVideo(let mode): acceptVideo(mode, token: token, core: &core)
        case .denyVideo: denyVideo(token, core: &core)
        case .sendDigits(let events): sendDigits(events, token: token, core: &core)
        case .muteAudio(let isMuted):
            snapshot.isAudioMuted = isMuted
            tell(.audioMuted(isMuted), core: &core)
            core.output(.finished(token, nil))
        case .requestKeyFrame:
            media.requestKeyFrame(core: &core)
            core.output(.finished(token, nil))
        case .restartICE:
            guard snapshot.isUp, let connectivity = media.connectivity else { return refuse(token, core: &core) }
            connectivity.restart(core: &core)
            change(Change(kind: .refresh, token: token), core: &core)
        case .transfer(let address): transfer(to: address, token: token, core: &core)
        case .transferTo, .join: refuse(token, core: &core)
        }
    }

    // MARK: Time

    var nextDeadline: Instant? {
        var deadline = media.nextDeadline
        for candidate in [videoRequest?.deadline, lingerUntil, noAnswerAt, gatherUntil] {
            if let candidate { deadline = min(deadline ?? candidate, candidate) }
        }
        return deadline
    }

    func handleTimeout(core: inout EngineCore) {
        media.handleTimeout(core: &core)
        tellMediaEvents(core: &core)
        if let end = media.endsForSilenceAt, end <= core.now, let session {
            intendedEnding = CallEnding(.mediaTimeout)
            core.userAgent.end(session, at: core.now, actions: &core.actions)
        }
        if let deadline = gatherUntil, deadline <= core.now { gathered(core: &core) }
        if let deadline = videoRequest?.deadline, deadline <= core.now { videoRequestTimedOut(core: &core) }
        if let deadline = noAnswerAt, deadline <= core.now {
            noAnswerAt = nil
            if let session {
                intendedEnding = CallEnding(.noAnswer)
                core.userAgent.end(session, at: core.now, actions: &core.actions)
            }
        }
        if let deadline = lingerUntil, deadline <= core.now {
            lingerUntil = nil
            end(core: &core)
        }
    }

    // MARK: Telling

    func tell(_ event: CallEvent, core: inout EngineCore) {
        core.output(.news(handle, event, snapshot))
    }

    func refuse(_ token: CommandToken, core: inout EngineCore) {
        core.output(
            .finished(token, CallFailure(.notAllowed, "The call is \(snapshot.phase) and does not take this now.")))
    }

    /// The call object is done: nothing follows.
    func finish(_ ending: CallEnding, core: inout EngineCore) {
        guard !isOver else { return }
        isOver = true
        core.output(.finalStatistics(handle, figures(at: core.now)))
        media.end(core: &core)
        reportTransfer(status: ending.sipStatus ?? 487, core: &core)
        let failure = ending.failure
        failOpenCommands(failure, core: &core)
        for index in snapshot.channels.indices {
            snapshot.channels[index].isEnabled = false
            snapshot.channels[index].disabledReason = .callEnded
        }
        snapshot.phase = .ended
        tell(.ended(ending), core: &core)
    }

    func failOpenCommands(_ failure: CallFailure, core: inout EngineCore) {
        var tokens = [setupToken, openChange?.change.token, transferToken, digits.token] + waitingChanges.map(\.token)
        setupToken = nil
        openChange = nil
        transferToken = nil
        waitingChanges = []
        digits = DigitQueue()
        tokens.removeAll { $0 == nil }
        for token in tokens.compactMap(\.self) { core.output(.finished(token, failure)) }
    }
}

extension URI {
    /// The address without what steers its delivery: parameters and headers.
    var withoutParameters: String {
        guard var uri = sip else { return description }
        uri.parameters = SIPParameters()
        uri.headers = []
        return uri.description
    }
}

extension SIPHeaders {
    /// Header fields that this library does not interpret, as they came.
    var unknownFields: [(name: String, value: String)] {
        fields.lazy.filter { !$0.name.isStandard }.map { ($0.name.text, $0.value) }
    }
}
