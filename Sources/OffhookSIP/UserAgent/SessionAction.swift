/// What a session wants of the user agent around it.
enum SessionAction: Sendable {
    /// Send a request, for the first time or, under a known identifier, again with credentials.
    case send(RequestID, SIPRequest)
    /// End an INVITE of ours: by CANCEL once that is allowed, or by never sending it (RFC 3261 §9.1).
    case cancel(RequestID, [SIPReason])
    /// Send the ACK of a 2xx, and again for each repeat of that 2xx; `tag` is the remote one.
    case acknowledge(RequestID, tag: String, SIPRequest)
    case respond(SIPResponse, ServerTransactionID)
    case event(SessionEvent)
    /// Requests within this dialog are the session's.
    case opened(DialogID)
    case closed(DialogID)
    /// This session took that one's place (RFC 3891).
    case replace(SessionID)
}
