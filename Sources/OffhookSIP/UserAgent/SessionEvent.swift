/// A body that is no session description.
package struct MessageBody: Hashable, Sendable {
    /// Such as `application/dtmf-relay`.
    package var contentType: String
    package var bytes: [UInt8]

    package init(contentType: String, bytes: [UInt8]) {
        self.contentType = contentType
        self.bytes = bytes
    }
}

/// The message that carried an offer or an answer.
package enum DescriptionCarrier: Hashable, Sendable {
    case invite
    /// A provisional response without 100rel: an answer there is a preview and may yet change.
    case provisional
    case reliableProvisional
    /// The 2xx to an INVITE.
    case inviteResponse
    case acknowledgement
    case prack
    case update
    case updateResponse
}

/// News of a session, for the layer that knows media.
package enum SessionEvent: Sendable {
    /// Somebody calls. `ring`, `accept`, `reject` and `redirect` are what can follow.
    case incoming(IncomingInvite)
    /// A 100 came: somebody works on it.
    case trying
    /// A 101 to 199 came. `fork` tells early dialogs apart; nil if the response began none.
    case progress(SIPResponse, fork: String?)
    /// The INVITE goes to this address now.
    case redirected(to: URI)
    /// A description that wants `answer` or `rejectOffer`. `fork` is the remote tag.
    case offer([UInt8], DescriptionCarrier, fork: String)
    /// The far end wants us to make an offer: `answer` brings it, `rejectOffer` refuses.
    case offerRequested(DescriptionCarrier)
    /// The answer to our offer. With `.provisional` it may still change.
    case answer([UInt8], DescriptionCarrier, fork: String)
    /// Our offer, or the request for one, was refused, and what was agreed before stays in force.
    case offerRefused(SIPResponse)
    /// Both sides offered at once; `offerDue` follows after that time (RFC 3261 §14.1).
    case glare(retryIn: Duration)
    /// An offer asked for earlier, or a refresh, can be made now: call `reinvite` or `update` with a fresh description.
    case offerDue(OfferReason)
    /// What was asked in an `offer` or `offerRequested` was withdrawn by CANCEL, or nobody answered it in time.
    case offerWithdrawn
    /// The far end asked for the offer in the middle of a session and did not answer it.
    case offerUnanswered
    /// The far end accepted: the 2xx to our INVITE is here. Its answer or offer follows in an event of its own.
    case accepted(SIPResponse, fork: String)
    /// A second fork accepted too and was hung up on.
    case extraAnswer(SIPResponse)
    /// The ACK of our 2xx came; for the first INVITE this completes the call's set-up.
    case acknowledged
    /// The request asks for credentials: `authorize` sends it again with them, `declineAuthorization` does not.
    case authenticationRequired(RequestID, SIPResponse)
    /// The remote target or identity changed.
    case remoteTargetChanged(URI)
    /// An INFO came and was answered 200.
    case info(SIPRequest)
    case infoFinished(RequestID, status: Int)
    /// A request with a body we hand up, within the session; it was answered 200.
    case request(SIPRequest)
    /// A REFER came: `acceptReferral` or `refuseReferral`.
    case referralRequested(Referral)
    /// Our REFER was accepted; with `expectsProgress` false no news of it will come (RFC 4488).
    case referralAccepted(expectsProgress: Bool)
    /// How our REFER fares: a status line out of a NOTIFY.
    case referralProgress(status: Int, reason: String, isFinal: Bool)
    /// Our REFER was refused or not answered.
    case referralFailed(status: Int)
    /// The session is over. Nothing follows.
    case ended(SessionEnd)
}

/// Why the upper layer should make an offer now.
package enum OfferReason: Hashable, Sendable {
    /// `reinvite` or `update` was called while it could not be sent, or met a 491 or a Retry-After.
    case waited
    /// The session timer wants a re-INVITE, with the description last agreed (RFC 4028 §7.4).
    case sessionRefresh
}

/// An INVITE that begins a session.
package struct IncomingInvite: Sendable {
    package var request: SIPRequest
    /// The offer; nil if the far end wants one from us.
    package var offer: [UInt8]?
    package var from: TransportTarget
    /// The session this one is to take the place of (RFC 3891).
    package var replaces: SessionID?
    /// The session that the caller wants to be taken into (RFC 3911).
    package var joins: SessionID?
}

/// A REFER within a session (RFC 3515).
package struct Referral: Sendable {
    package var target: NameAddress
    package var request: SIPRequest
    /// Names the referral in `acceptReferral`, `refuseReferral` and `notifyReferral`.
    package var id: ReferralID
}

package struct ReferralID: Hashable, Sendable {
    /// The CSeq of the REFER.
    package let number: UInt32
}

/// How and why a session ended.
package struct SessionEnd: Sendable {
    package enum Cause: Hashable, Sendable {
        /// `end` was called, or `reject`.
        case local
        /// The far end said BYE.
        case remote
        /// The caller gave up before an answer.
        case cancelled
        /// The far end refused our INVITE; `response` is the refusal.
        case refused
        /// Nobody answered our INVITE at all, or nobody picked up within the limit.
        case timedOut
        /// The INVITE could not be sent.
        case transportFailed
        /// Our host name question found no target.
        case unresolved
        /// The far end no longer knows the dialog (481, 408 or silence within it).
        case dialogLost
        /// No ACK came for our 2xx.
        case acknowledgementMissing
        /// No PRACK came for our reliable response.
        case provisionalUnacknowledged
        /// A message that had to bring an answer had none, or we had none in time.
        case answerMissing
        /// The session timer ran out.
        case sessionExpired
        /// The session of this identifier took this one's place.
        case replaced(SessionID)
    }

    package var cause: Cause
    /// The status of the refusal.
    package var status: Int? { response?.status }
    package var response: SIPResponse?
    /// What Reason of the CANCEL, BYE or refusal said (RFC 3326).
    package var reasons: [SIPReason]

    package init(cause: Cause, response: SIPResponse? = nil, reasons: [SIPReason] = []) {
        self.cause = cause
        self.response = response
        self.reasons = reasons
    }
}
