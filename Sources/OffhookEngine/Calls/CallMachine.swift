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
            /// The description last agreed, once more (RFC 4028 §7.4).
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
    var digits = DigitQueue()
    /// What the local side meant the session's end to be.
    var intendedEnding: CallEnding?

    /// The ways that the first INVITE may take, best first.
    var firstRoutes: [TransportRoute] = []
    /// The call whose far end asked for this one, and which REFER did.
    weak var transferor: CallMachine?
    var referral: ReferralID?
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
    var afterGathering: AfterGathering?
    var gatherUntil: Instant?
    private var hadConnectivity = false
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
        snapshot.callToJoin = invite.joins.flatMap { core.sessionOwners[$0] }
        core.userAgent.setContact(core.registrations[account.handle]?.binding?.callContact, of: session)
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

    private func start(_ token: CommandToken, core: inout EngineCore) {
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
        if media.connectivity?.isGathered != false { gathered(core: &core) }
    }

    private func gathered(core: inout EngineCore) {
        let next = afterGathering
        afterGathering = nil
        gatherUntil = nil
        switch next {
        case .invite where snapshot.phase == .initiating && session == nil: invite(core: &core)
        case .accept where snapshot.phase == .alerting || snapshot.phase == .ignored: answerInvite(core: &core)
        case .invite, .accept, nil: break
        }
    }

    private func invite(core: inout EngineCore) {
        var offer: [UInt8]?
        if !delaysOffer {
            guard let wishes = wishes(mode: snapshot.videoMode, core: &core) else { return failForPorts(core: &core) }
            offer = negotiation?.makeOffer(wishes).write()
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

    private func accept(_ token: CommandToken, core: inout EngineCore) {
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
        core.userAgent.accept(session, description: description.write(), at: core.now, actions: &core.actions)
        answeredAt = core.now
        if !isLateOffer {
            isAnswered = true
            applyMedia(core: &core)
        }
    }

    private func ignore(_ token: CommandToken, core: inout EngineCore) {
        guard !isOutgoing, snapshot.phase == .alerting else { return refuse(token, core: &core) }
        snapshot.phase = .ignored
        tell(.ignored, core: &core)
        core.output(.finished(token, nil))
    }

    private func deny(isBusy: Bool, token: CommandToken, core: inout EngineCore) {
        guard !isOutgoing, snapshot.phase == .alerting || snapshot.phase == .ignored, let session else {
            return refuse(token, core: &core)
        }
        let status = isBusy ? 486 : 603
        intendedEnding = CallEnding(isBusy ? .busy : .declined, sipStatus: status)
        tell(.denied, core: &core)
        core.userAgent.reject(session, status: status, at: core.now, actions: &core.actions)
        core.output(.finished(token, nil))
    }

    private func redirect(to address: NameAddress, token: CommandToken, core: inout EngineCore) {
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

    // MARK: Media

    func receiveMedia(
        _ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint, core: inout EngineCore
    ) {
        media.receive(packet, on: socket, from: source, core: &core)
        tellMediaEvents(core: &core)
    }

    func tellMediaEvents(core: inout EngineCore) {
        for news in media.connectivity?.takeNews() ?? [] { handle(news, core: &core) }
        for event in media.takeEvents() where snapshot.phase != .failed {
            switch event {
            case .mediaSecured:
                snapshot.isSecure = media.isSecure
                tell(.changed, core: &core)
            case .mediaSecurityFailed(let reason):
                let failure = CallFailure(.mediaSecurityFailed, "The media could not be encrypted: \(reason).")
                fail(failure, core: &core)
                if let session { core.userAgent.end(session, at: core.now, actions: &core.actions) }
            default:
                tell(event, core: &core)
            }
        }
    }

    private func handle(_ news: CallConnectivity.News, core: inout EngineCore) {
        switch news {
        case .gathered:
            if afterGathering != nil { gathered(core: &core) }
        case .connected:
            if hadConnectivity { tell(.mediaFlowChanged(isVideo: false, flows: true), core: &core) }
            hadConnectivity = true
        case .lost where hadConnectivity:
            tell(.mediaFlowChanged(isVideo: false, flows: false), core: &core)
        case .lost:
            guard snapshot.phase != .failed, let session else { return }
            let reason = "No way for the media was found between the two ends: a TURN server would relay it."
            fail(CallFailure(.mediaTimeout, reason), core: &core)
            core.userAgent.end(session, at: core.now, actions: &core.actions)
        }
    }

    /// What this side wants of the session now; nil where no sockets are to be had.
    func wishes(mode: VideoMode?, core: inout EngineCore) -> MediaWishes? {
        guard let localAddress, let audio = media.localStream(.audio, address: localAddress, core: &core) else {
            return nil
        }
        var video: LocalStream?
        if media.video != nil || mode?.direction != nil {
            guard let stream = media.localStream(.video, address: localAddress, core: &core) else { return nil }
            video = stream
        }
        return MediaWishes(
            audio: audio, video: video, videoMode: mode, allowedVideoDirection: snapshot.allowedVideoDirection,
            isHolding: snapshot.isHeld)
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

    func figures(at now: Instant) -> CallFigures {
        var figures = CallFigures()
        figures.audio = media.audio.map { CallFigures.Line($0, media.connectivity, at: now) }
        figures.video = media.video.map { CallFigures.Line($0, media.connectivity, at: now) }
        figures.localAddress = localAddress
        if let startedAt, let answeredAt { figures.setupDuration = answeredAt - startedAt }
        figures.establishedAt = answeredAt
        figures.transport = transport
        return figures
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

extension CallFigures.Line {
    fileprivate init(_ line: MediaLine, _ connectivity: CallConnectivity?, at now: Instant) {
        statistics = line.session.statistics(at: now)
        sendCodecName = line.negotiated?.sendCodecs.first?.name
        receiveCodecName =
            line.negotiated?.receiveCodecs.first { $0.payloadType == statistics.received.payloadType }?.name
            ?? line.negotiated?.receiveCodecs.first?.name
        suiteName = line.transport.suiteName
        localPort = line.transport.ports.rtpPort
        let way = connectivity?.remote(of: line.transport.ports)
        remote = way?.endpoint ?? line.transport.remoteEndpoint
        isRelayed = way?.isRelayed ?? false
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
