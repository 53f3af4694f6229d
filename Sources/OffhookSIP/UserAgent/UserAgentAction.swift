internal import OffhookBasics

/// What a user agent wants done or known.
package enum UserAgentAction: Sendable {
    case send([UInt8], to: TransportTarget)
    case event(SessionID, SessionEvent)
    /// Find targets; ``SIPUserAgent/resolved(_:routes:at:actions:)`` brings them.
    case resolve(ResolveQuery, ResolveToken)
    /// A request outside any session; ``SIPUserAgent/respond(to:status:reason:headers:body:at:actions:)`` answers it.
    case outOfDialogRequest(SIPRequest, ServerTransactionID, from: TransportTarget)
    /// News of a request made with ``SIPUserAgent/request(_:route:at:actions:)``.
    case requestEvent(RequestID, RequestEvent)
}

/// News of a request outside any session.
package enum RequestEvent: Sendable {
    case provisional(SIPResponse)
    /// The final response, from there.
    case finished(SIPResponse, from: TransportTarget)
    /// `authorize` sends it again with credentials, `declineAuthorization` lets it finish with this response.
    case authenticationRequired(SIPResponse)
    case failed(RequestFailure)
}

/// Why a request got no final response.
package enum RequestFailure: Hashable, Sendable {
    /// Nothing came back: counts as 408.
    case timedOut
    /// It could not be sent: counts as 503.
    case transportFailed
    /// No target was found for its host: counts as 503.
    case unresolved

    package var status: Int {
        self == .timedOut ? 408 : 503
    }
}
