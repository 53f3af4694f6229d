package import OffhookBasics

/// All SIP of one party as one value: messages, commands and time go in, messages to send and news come out.
///
/// It owns the transactions (RFC 3261 §17), the dialogs (§12) and the INVITE sessions (§13 to §15), answers OPTIONS and
/// what is wrong by itself, and leaves descriptions, credentials and names to the layer above.
package struct SIPUserAgent: Sendable {
    package typealias Action = UserAgentAction

    package var configuration: UserAgentConfiguration
    var random: SeededRandom
    var table: TransactionTable
    var sessions: [SessionID: SessionRecord] = [:]
    var sessionsByDialog: [DialogID: SessionID] = [:]
    /// Which session an INVITE of theirs belongs to, for its CANCEL.
    var sessionsByInvite: [ServerTransactionID: SessionID] = [:]
    var outgoing: [RequestID: OutgoingRequest] = [:]
    var requestsByTransaction: [ClientTransactionID: RequestID] = [:]
    /// ACKs of 2xx by INVITE and remote tag, for as long as the 2xx may come again.
    var acknowledgements: [ClientTransactionID: [String: SentMessage]] = [:]
    var resolutions: [ResolveToken: Resolution] = [:]
    var deadlines = DeadlineQueue<Owner>()
    var sessionCount: UInt64 = 0
    var requestCount: UInt64 = 0
    var tokenCount: UInt64 = 0

    /// Whose deadline is due.
    enum Owner: Hashable, Sendable {
        case session(SessionID)
        case request(RequestID)
    }

    struct SentMessage: Sendable {
        let bytes: [UInt8]
        let target: TransportTarget
    }

    /// What waits for a target.
    enum Resolution: Sendable {
        case request(RequestID)
        case acknowledgement(ClientTransactionID, SessionID?, tag: String, SIPRequest)
    }

    /// How a message came.
    struct Arrival: Sendable {
        let source: TransportTarget
        let local: Endpoint
    }

    package init(configuration: UserAgentConfiguration = UserAgentConfiguration(), seed: UInt64) {
        self.configuration = configuration
        random = SeededRandom(seed: seed)
        table = TransactionTable(timers: configuration.timers, serverLimit: configuration.serverTransactionLimit)
    }

    // MARK: Input of the edge

    /// Takes one message as it came, a datagram or one cut out of a stream.
    ///
    /// `local` is our address and port that it came to.
    package mutating func receive(
        _ bytes: [UInt8], from source: TransportTarget, local: Endpoint, at now: Instant, actions: inout [Action]
    ) {
        do throws(SIPParseError) {
            let message = try SIPMessage(parsing: bytes)
            receive(message, from: source, local: local, at: now, actions: &actions)
        } catch {
            receive(error, from: source, actions: &actions)
        }
    }

    /// Takes one parsed message.
    package mutating func receive(
        _ message: SIPMessage, from source: TransportTarget, local: Endpoint, at now: Instant,
        actions: inout [Action]
    ) {
        var outputs: [TransactionTable.Output] = []
        switch message {
        case .request(var request):
            ResponseRouting.stamp(&request, from: source)
            let isInDialog = DialogID(receiving: request).flatMap(session(of:)) != nil
            table.receive(request, from: source, isInDialog: isInDialog, at: now, outputs: &outputs)
        case .response(let response):
            // A response with more than our own Via is not for us (RFC 3261 §8.1.3.3).
            guard response.headers.vias.count == 1 else { return }
            table.receive(response, from: source, at: now, outputs: &outputs)
        }
        process(outputs, arrival: Arrival(source: source, local: local), at: now, actions: &actions)
    }

    /// Takes what a parser could not read, and answers it if it deserves that.
    package mutating func receive(
        _ error: SIPParseError, from source: TransportTarget, actions: inout [Action]
    ) {
        guard let rejection = error.rejection else { return }
        var request = rejection.request
        ResponseRouting.stamp(&request, from: source)
        let response = SIPResponse(
            answering: request, status: rejection.status, tag: random.token(length: 10))
        actions.append(.send(response.write(), to: ResponseRouting(request: request, from: source).target))
    }

    /// What was sent to this target did not go out, or an ICMP error came back: pending requests try their next
    /// target or fail.
    package mutating func transportFailed(_ target: TransportTarget, at now: Instant, actions: inout [Action]) {
        var outputs: [TransactionTable.Output] = []
        table.handleTransportFailure(of: target, outputs: &outputs)
        process(outputs, at: now, actions: &actions)
    }

    /// The connection of that target closed.
    package mutating func connectionClosed(_ target: TransportTarget, at now: Instant, actions: inout [Action]) {
        for (id, record) in sessions {
            if let fixed = record.fixedRoute?.target, fixed.isAffected(byFailureOf: target), fixed.connection != nil {
                // Another connection to the same end may serve; a WebSocket's end cannot be connected to, so that
                // what is sent fails until the session is rerouted.
                sessions[id]?.fixedRoute = nil
            }
            if record.lastRoute?.target.isAffected(byFailureOf: target) == true {
                sessions[id]?.lastRoute?.target.connection = nil
            }
        }
        transportFailed(target, at: now, actions: &actions)
    }

    /// Sends what the session has to say from here on along another route, as after a reconnect.
    package mutating func reroute(_ session: SessionID, to route: TransportRoute?) {
        sessions[session]?.fixedRoute = route
        if let route { sessions[session]?.lastRoute = route }
    }

    /// Sessions whose latest message came or went along that connection.
    package func sessions(along target: TransportTarget) -> [SessionID] {
        guard target.connection != nil else { return [] }
        return sessions.filter { $0.value.lastRoute?.target.isAffected(byFailureOf: target) == true }.map(\.key)
            .sorted { $0.number < $1.number }
    }

    /// Has the session find its way anew, as after our own address has changed.
    package mutating func forgetRoute(of session: SessionID) {
        sessions[session]?.fixedRoute = nil
        sessions[session]?.firstRoutes = []
        sessions[session]?.lastRoute = nil
    }

    /// Where requests within the session go, past all proxies.
    package func remoteTarget(of session: SessionID) -> URI? {
        sessions[session]?.session.main?.dialog.remoteTarget
    }

    /// Sets what Contact of the session says from here on; nil tells where we can be reached.
    package mutating func setContact(_ contact: NameAddress?, of session: SessionID) {
        sessions[session]?.contact = contact
    }

    /// How the session's last message travelled; nil before there was one and after the session.
    package func transport(of session: SessionID) -> SIPTransport? {
        sessions[session]?.lastRoute?.target.transport
    }

    /// Answers a `.resolve`: routes in order of preference (RFC 3263), none if there is none.
    package mutating func resolved(
        _ token: ResolveToken, routes: [TransportRoute], at now: Instant, actions: inout [Action]
    ) {
        continueResolved(token, routes: routes, at: now, actions: &actions)
    }

    /// When `handle(timeoutAt:actions:)` should next be called, if ever.
    package mutating func nextDeadline() -> Instant? {
        guard let own = deadlines.nextDeadline() else { return table.nextDeadline() }
        return table.nextDeadline().map { min($0, own) } ?? own
    }

    package mutating func handle(timeoutAt now: Instant, actions: inout [Action]) {
        var outputs: [TransactionTable.Output] = []
        table.handle(timeoutAt: now, outputs: &outputs)
        process(outputs, at: now, actions: &actions)
        while let owner = deadlines.popDue(at: now) {
            switch owner {
            case .session(let id): change(id, at: now, actions: &actions) { $0.handle(timeoutAt: now, actions: &$1) }
            case .request(let id): requestTimedOut(id, at: now, actions: &actions)
            }
        }
    }

    // MARK: Calls

    /// Calls somebody.
    ///
    /// - Parameters:
    ///   - uri: whom; the Request-URI, and To without its headers.
    ///   - from: who we are; the tag is made here.
    ///   - route: where to send; nil finds it by Route or Request-URI.
    ///   - alternatives: where to send where that route fails.
    ///   - isRouteFixed: whether every later request of the session goes there too.
    ///   - contact: what Contact says; nil tells where we can be reached.
    ///   - routes: a Route set to begin with, such as an outbound proxy or the Service-Route.
    ///   - headers: more header fields; Contact and others given here count over our own.
    ///   - offer: the session description; nil asks the far end for one.
    package mutating func invite(
        _ uri: URI, from: NameAddress, route: TransportRoute? = nil, alternatives: [TransportRoute] = [],
        isRouteFixed: Bool = true,
        routes: [NameAddress] = [], contact: NameAddress? = nil, headers: SIPHeaders = SIPHeaders(), offer: [UInt8]?,
        at now: Instant, actions: inout [Action]
    ) -> SessionID {
        let id = makeSessionID()
        var request = SIPRequest(method: .invite, uri: uri)
        fillIdentity(of: &request, from: from, to: uri)
        if !routes.isEmpty { request.headers.route = routes }
        for field in headers.fields { request.headers.append(field.name, field.value) }
        if let offer { request.setDescription(offer) }
        var output: [SessionAction] = []
        let session = InviteSession.calling(
            request, id: id, configuration: configuration, seed: random.next(), at: now, actions: &output)
        sessions[id] = SessionRecord(
            session: session, fixedRoute: isRouteFixed ? route : nil,
            firstRoutes: [route].compactMap(\.self) + alternatives, contact: contact,
            lastRoute: route)
        perform(output, of: id, at: now, actions: &actions)
        settle(id)
        return id
    }

    /// Answers an incoming INVITE with a provisional response, reliably where the configuration and the caller want it.
    ///
    /// `description` is a preview of the answer, or the real one if sent reliably; in a late offer it is the offer.
    package mutating func ring(
        _ session: SessionID, status: Int = 180, description: [UInt8]? = nil, at now: Instant, actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) {
            $0.ring(status: status, description: description, at: now, actions: &$1)
        }
    }

    /// Accepts an incoming INVITE.
    ///
    /// `description` is the answer, or the offer where the caller made none; nil if a reliable response brought it already.
    package mutating func accept(
        _ session: SessionID, description: [UInt8]?, headers: SIPHeaders = SIPHeaders(), at now: Instant,
        actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) {
            $0.accept(description: description, headers: headers, at: now, actions: &$1)
        }
    }

    /// Refuses an incoming INVITE.
    package mutating func reject(
        _ session: SessionID, status: Int, reason: String? = nil, headers: SIPHeaders = SIPHeaders(), at now: Instant,
        actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) {
            $0.refuse(status, reason: reason, headers: headers, end: SessionEnd(cause: .local), actions: &$1)
        }
    }

    /// Sends the caller elsewhere with a 302.
    package mutating func redirect(
        _ session: SessionID, to targets: [NameAddress], at now: Instant, actions: inout [Action]
    ) {
        var headers = SIPHeaders()
        headers.contacts = targets
        reject(session, status: 302, headers: headers, at: now, actions: &actions)
    }

    /// Ends the session in whatever state it is: CANCEL, BYE or a 603 to an INVITE nobody answered.
    ///
    /// `.ended` comes at once; what the end still needs on the wire goes on by itself.
    package mutating func end(
        _ session: SessionID, reasons: [SIPReason] = [], at now: Instant, actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) {
            $0.end(SessionEnd(cause: .local), reasons: reasons, at: now, actions: &$1)
        }
    }

    // MARK: Offers and answers in a session

    /// Sends a re-INVITE with this offer, or without one, which asks the far end for its offer.
    ///
    /// If another exchange is open, nothing is sent, and `.offerDue` comes as soon as it can be.
    package mutating func reinvite(
        _ session: SessionID, offer: [UInt8]?, headers: SIPHeaders = SIPHeaders(), at now: Instant,
        actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) { $0.reinvite(offer: offer, headers: headers, actions: &$1) }
    }

    /// Sends an UPDATE with this offer, also before the call is answered (RFC 3311).
    ///
    /// If another exchange is open, nothing is sent, and `.offerDue` comes as soon as it can be.
    package mutating func update(
        _ session: SessionID, offer: [UInt8], fork: String? = nil, at now: Instant, actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) {
            $0.update(offer: offer, tag: fork, reason: .waited, actions: &$1)
        }
    }

    /// Gives what the latest `.offer` or `.offerRequested` of the session waits for.
    package mutating func answer(
        _ session: SessionID, description: [UInt8], fork: String? = nil, at now: Instant, actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) {
            $0.answer(description: description, tag: fork, at: now, actions: &$1)
        }
    }

    /// Refuses what the latest `.offer` or `.offerRequested` of the session asked for.
    ///
    /// In an INVITE or UPDATE this is the status; where the protocol has no refusal (ACK, PRACK) the session ends.
    package mutating func rejectOffer(
        _ session: SessionID, status: Int = 488, headers: SIPHeaders = SIPHeaders(), fork: String? = nil,
        at now: Instant, actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) {
            $0.rejectOffer(
                status: status, headers: headers, tag: fork, end: SessionEnd(cause: .local), at: now, actions: &$1)
        }
    }

    // MARK: Other requests in a session

    /// Sends an INFO (RFC 6086); `.infoFinished` tells how it went.
    @discardableResult
    package mutating func sendInfo(
        _ session: SessionID, body: MessageBody?, headers: SIPHeaders = SIPHeaders(), at now: Instant,
        actions: inout [Action]
    ) -> RequestID? {
        var id: RequestID?
        change(session, at: now, actions: &actions) { id = $0.sendInfo(body: body, headers: headers, actions: &$1) }
        return id
    }

    /// Asks the far end to call somebody (RFC 3515); `replacing` names the session of ours to take over (RFC 3891).
    package mutating func refer(
        _ session: SessionID, to target: NameAddress, replacing: SessionID? = nil, wantsProgress: Bool = true,
        headers: SIPHeaders = SIPHeaders(), at now: Instant, actions: inout [Action]
    ) {
        var target = target
        if let other = replacing.flatMap({ replaces(for: $0) }), case .sip(var uri) = target.uri {
            uri.headers.append(.init(name: "Replaces", value: PercentEscaping.escape("\(other)", for: .header)))
            target.uri = .sip(uri)
        }
        change(session, at: now, actions: &actions) {
            $0.refer(to: target, wantsProgress: wantsProgress, headers: headers, actions: &$1)
        }
    }

    /// Accepts a REFER with 202 and says 100 in a first NOTIFY.
    package mutating func acceptReferral(
        _ session: SessionID, _ referral: ReferralID, at now: Instant, actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) { $0.acceptReferral(referral, at: now, actions: &$1) }
    }

    package mutating func refuseReferral(
        _ session: SessionID, _ referral: ReferralID, status: Int = 603, at now: Instant, actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) { $0.refuseReferral(referral, status: status, actions: &$1) }
    }

    /// Tells who sent the REFER how the call made for it fares; a final status ends the subscription.
    package mutating func notifyReferral(
        _ session: SessionID, _ referral: ReferralID, status: Int, reason: String? = nil, at now: Instant,
        actions: inout [Action]
    ) {
        change(session, at: now, actions: &actions) {
            $0.notifyReferral(referral, status: status, reason: reason, at: now, actions: &$1)
        }
    }

    /// The value of a Replaces header field that names this session's dialog to the far end or to a third party.
    package func replaces(for session: SessionID) -> Replaces? {
        guard let id = sessions[session]?.session.main?.dialog.id else { return nil }
        // To and From as the far end sees its own dialog (RFC 3891 §3).
        return Replaces(callID: id.callID, toTag: id.remoteTag, fromTag: id.localTag)
    }

    // MARK: Requests outside sessions

    /// Sends a request of any method but INVITE, ACK and CANCEL outside a session; news come as `.requestEvent`.
    ///
    /// Via and Max-Forwards are put in here; From's tag, Call-ID, CSeq and Contact too if they are missing.
    package mutating func request(
        _ request: SIPRequest, route: TransportRoute? = nil, at now: Instant, actions: inout [Action]
    ) -> RequestID {
        requestCount += 1
        let id = RequestID(session: nil, number: requestCount)
        var request = request
        fillIdentity(of: &request, from: request.headers.from, to: request.uri)
        if let route {
            outgoing[id] = OutgoingRequest(id: id, request: request, phase: .active, route: route)
        }
        start(id, request, at: now, actions: &actions)
        return id
    }

    /// A request of ours that has no final response, as it was last sent but for Via and Contact.
    package func openRequest(_ id: RequestID) -> SIPRequest? {
        outgoing[id]?.request
    }

    /// Stops caring for a request outside sessions.
    package mutating func forget(_ request: RequestID) {
        drop(request)
    }

    /// Answers an `.outOfDialogRequest`.
    package mutating func respond(
        to transaction: ServerTransactionID, status: Int, reason: String? = nil, headers: SIPHeaders = SIPHeaders(),
        body: MessageBody? = nil, at now: Instant, actions: inout [Action]
    ) {
        guard let request = table.request(of: transaction) else { return }
        var response = SIPResponse(
            answering: request, status: status, reason: reason, tag: random.token(length: 10))
        for field in headers.fields { response.headers.append(field.name, field.value) }
        if let body {
            response.headers[first: .contentType] = body.contentType
            response.body = body.bytes
        }
        send(response, transaction, at: now, actions: &actions)
    }

    /// Sends a challenged request again with these header fields (Authorization, Proxy-Authorization) and the next CSeq.
    package mutating func authorize(
        _ request: RequestID, headers: SIPHeaders, at now: Instant, actions: inout [Action]
    ) {
        guard let entry = outgoing[request], case .challenged = entry.phase else { return }
        if let session = request.session {
            change(session, at: now, actions: &actions) { $0.authorize(request, headers: headers, actions: &$1) }
            return
        }
        var again = entry.request
        if let cseq = again.headers.cseq { again.headers.cseq = CSeq(cseq.number &+ 1, cseq.method) }
        for field in headers.fields { again.headers.remove(field.name) }
        for field in headers.fields { again.headers.append(field.name, field.value) }
        start(request, again, at: now, actions: &actions)
    }

    /// Gives up on a challenged request: the challenge becomes its final response.
    package mutating func declineAuthorization(_ request: RequestID, at now: Instant, actions: inout [Action]) {
        guard let entry = outgoing[request], case .challenged(var response) = entry.phase else { return }
        response.removeChallenges()
        outgoing[request]?.phase = .finished
        outgoing[request]?.deadline = nil
        deadlines.set(nil, for: .request(request))
        if let session = request.session {
            change(session, at: now, actions: &actions) {
                $0.receive(response, for: request, at: now, actions: &$1)
            }
        } else if let route = entry.route {
            actions.append(.requestEvent(request, .finished(response, from: route.target)))
        }
        if outgoing[request]?.transaction == nil { drop(request) }
    }

    // MARK: What is left

    /// Whether a request of ours still waits for its final response.
    package var hasUnansweredRequests: Bool {
        outgoing.values.contains { request in
            if case .finished = request.phase { false } else { true }
        }
    }

    /// Whether a session's messages come or go along this connection.
    package func usesConnection(_ connection: UInt64) -> Bool {
        sessions.values.contains { record in
            record.fixedRoute?.target.connection == connection || record.lastRoute?.target.connection == connection
        }
    }

    /// Whether no session, transaction or request is left.
    package var isIdle: Bool {
        sessions.isEmpty && table.isEmpty && outgoing.isEmpty && resolutions.isEmpty && sessionsByDialog.isEmpty
            && sessionsByInvite.isEmpty && requestsByTransaction.isEmpty && acknowledgements.isEmpty
    }
}
