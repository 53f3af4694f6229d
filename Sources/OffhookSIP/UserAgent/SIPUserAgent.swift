package import OffhookBasics

/// All SIP of one party as one value: messages, commands and time go in, messages to send and news come out.
///
/// It owns the transactions (RFC 3261 §17), the dialogs (§12) and the INVITE sessions (§13 to §15), answers OPTIONS and
/// what is wrong by itself, and leaves descriptions, credentials and names to the layer above.
package struct SIPUserAgent: Sendable {
    package typealias Action = UserAgentAction

    package var configuration: UserAgentConfiguration
    var random: SeededRandom

    package init(configuration: UserAgentConfiguration = UserAgentConfiguration(), seed: UInt64) {
        self.configuration = configuration
        random = SeededRandom(seed: seed)
    }

    // MARK: Input of the edge

    /// Takes one message as it came, a datagram or one cut out of a stream.
    ///
    /// `local` is our address and port that it came to.
    package mutating func receive(
        _ bytes: [UInt8], from source: TransportTarget, local: Endpoint, at now: Instant, actions: inout [Action]
    ) {}

    /// Takes one parsed message.
    package mutating func receive(
        _ message: SIPMessage, from source: TransportTarget, local: Endpoint, at now: Instant,
        actions: inout [Action]
    ) {}

    /// Takes what a parser could not read, and answers it if it deserves that.
    package mutating func receive(
        _ error: SIPParseError, from source: TransportTarget, actions: inout [Action]
    ) {}

    /// What was sent to this target did not go out, or an ICMP error came back: pending requests try their next
    /// target or fail.
    package mutating func transportFailed(_ target: TransportTarget, at now: Instant, actions: inout [Action]) {}

    /// The connection of that target closed.
    package mutating func connectionClosed(_ target: TransportTarget, at now: Instant, actions: inout [Action]) {}

    /// Answers a `.resolve`: routes in order of preference (RFC 3263), none if there is none.
    package mutating func resolved(
        _ token: ResolveToken, routes: [TransportRoute], at now: Instant, actions: inout [Action]
    ) {}

    /// When `handle(timeoutAt:actions:)` should next be called, if ever.
    package mutating func nextDeadline() -> Instant? { nil }

    package mutating func handle(timeoutAt now: Instant, actions: inout [Action]) {}

    // MARK: Calls

    /// Calls somebody.
    ///
    /// - Parameters:
    ///   - uri: whom; the Request-URI, and To without its headers.
    ///   - from: who we are; the tag is made here.
    ///   - route: where to send, and every later request of the session too; nil finds it by Route or Request-URI.
    ///   - routes: a Route set to begin with, such as an outbound proxy or the Service-Route.
    ///   - headers: more header fields; Contact and others given here count over our own.
    ///   - offer: the session description; nil asks the far end for one.
    package mutating func invite(
        _ uri: URI, from: NameAddress, route: TransportRoute? = nil, routes: [NameAddress] = [],
        headers: SIPHeaders = SIPHeaders(), offer: [UInt8]?, at now: Instant, actions: inout [Action]
    ) -> SessionID { SessionID(number: 0) }

    /// Answers an incoming INVITE with a provisional response, reliably where the configuration and the caller want it.
    ///
    /// `description` is a preview of the answer, or the real one if sent reliably; in a late offer it is the offer.
    package mutating func ring(
        _ session: SessionID, status: Int = 180, description: [UInt8]? = nil, at now: Instant, actions: inout [Action]
    ) {}

    /// Accepts an incoming INVITE.
    ///
    /// `description` is the answer, or the offer where the caller made none; nil if a reliable response brought it already.
    package mutating func accept(
        _ session: SessionID, description: [UInt8]?, headers: SIPHeaders = SIPHeaders(), at now: Instant,
        actions: inout [Action]
    ) {}

    /// Refuses an incoming INVITE.
    package mutating func reject(
        _ session: SessionID, status: Int, reason: String? = nil, headers: SIPHeaders = SIPHeaders(), at now: Instant,
        actions: inout [Action]
    ) {}

    /// Sends the caller elsewhere with a 302.
    package mutating func redirect(
        _ session: SessionID, to targets: [NameAddress], at now: Instant, actions: inout [Action]
    ) {}

    /// Ends the session in whatever state it is: CANCEL, BYE or a 603 to an INVITE nobody answered.
    ///
    /// `.ended` comes at once; what the end still needs on the wire goes on by itself.
    package mutating func end(
        _ session: SessionID, reasons: [SIPReason] = [], at now: Instant, actions: inout [Action]
    ) {}

    // MARK: Offers and answers in a session

    /// Sends a re-INVITE with this offer, or without one, which asks the far end for its offer.
    ///
    /// If another exchange is open, nothing is sent, and `.offerDue` comes as soon as it can be.
    package mutating func reinvite(
        _ session: SessionID, offer: [UInt8]?, headers: SIPHeaders = SIPHeaders(), at now: Instant,
        actions: inout [Action]
    ) {}

    /// Sends an UPDATE with this offer, also before the call is answered (RFC 3311).
    ///
    /// If another exchange is open, nothing is sent, and `.offerDue` comes as soon as it can be.
    package mutating func update(
        _ session: SessionID, offer: [UInt8], fork: String? = nil, at now: Instant, actions: inout [Action]
    ) {}

    /// Gives what the latest `.offer` or `.offerRequested` of the session waits for.
    package mutating func answer(
        _ session: SessionID, description: [UInt8], fork: String? = nil, at now: Instant, actions: inout [Action]
    ) {}

    /// Refuses what the latest `.offer` or `.offerRequested` of the session asked for.
    ///
    /// In an INVITE or UPDATE this is the status; where the protocol has no refusal (ACK, PRACK) the session ends.
    package mutating func rejectOffer(
        _ session: SessionID, status: Int = 488, headers: SIPHeaders = SIPHeaders(), fork: String? = nil,
        at now: Instant, actions: inout [Action]
    ) {}

    // MARK: Other requests in a session

    /// Sends an INFO (RFC 6086); `.infoFinished` tells how it went.
    @discardableResult
    package mutating func sendInfo(
        _ session: SessionID, body: MessageBody?, headers: SIPHeaders = SIPHeaders(), at now: Instant,
        actions: inout [Action]
    ) -> RequestID? { nil }

    /// Asks the far end to call somebody (RFC 3515); `replacing` names the session of ours to take over (RFC 3891).
    package mutating func refer(
        _ session: SessionID, to target: NameAddress, replacing: SessionID? = nil, wantsProgress: Bool = true,
        headers: SIPHeaders = SIPHeaders(), at now: Instant, actions: inout [Action]
    ) {}

    /// Accepts a REFER with 202 and says 100 in a first NOTIFY.
    package mutating func acceptReferral(
        _ session: SessionID, _ referral: ReferralID, at now: Instant, actions: inout [Action]
    ) {}

    package mutating func refuseReferral(
        _ session: SessionID, _ referral: ReferralID, status: Int = 603, at now: Instant, actions: inout [Action]
    ) {}

    /// Tells who sent the REFER how the call made for it fares; a final status ends the subscription.
    package mutating func notifyReferral(
        _ session: SessionID, _ referral: ReferralID, status: Int, reason: String? = nil, at now: Instant,
        actions: inout [Action]
    ) {}

    /// The value of a Replaces header field that names this session's dialog to the far end or to a third party.
    package func replaces(for session: SessionID) -> Replaces? { nil }

    // MARK: Requests outside sessions

    /// Sends a request of any method but INVITE, ACK and CANCEL outside a session; news come as `.requestEvent`.
    ///
    /// Via and Max-Forwards are put in here; From's tag, Call-ID, CSeq and Contact too if they are missing.
    package mutating func request(
        _ request: SIPRequest, route: TransportRoute? = nil, at now: Instant, actions: inout [Action]
    ) -> RequestID { RequestID(session: nil, number: 0) }

    /// Stops caring for a request outside sessions.
    package mutating func forget(_ request: RequestID) {}

    /// Answers an `.outOfDialogRequest`.
    package mutating func respond(
        to transaction: ServerTransactionID, status: Int, reason: String? = nil, headers: SIPHeaders = SIPHeaders(),
        body: MessageBody? = nil, at now: Instant, actions: inout [Action]
    ) {}

    /// Sends a challenged request again with these header fields (Authorization, Proxy-Authorization) and the next CSeq.
    package mutating func authorize(
        _ request: RequestID, headers: SIPHeaders, at now: Instant, actions: inout [Action]
    ) {}

    /// Gives up on a challenged request: the challenge becomes its final response.
    package mutating func declineAuthorization(_ request: RequestID, at now: Instant, actions: inout [Action]) {}

    // MARK: What is left

    /// Whether no session, transaction or request is left.
    package var isIdle: Bool { true }
}
