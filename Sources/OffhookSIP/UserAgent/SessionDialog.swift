internal import OffhookBasics

/// One dialog of a session: the early ones of a forked INVITE, of which one becomes the call's.
struct SessionDialog: Sendable {
    var dialog: Dialog
    var exchange: OfferAnswerExchange
    /// The answer of an unreliable provisional response, for a 2xx that has none.
    var preview: [UInt8]?
    /// RSeq of the latest reliable response (RFC 3262 §4).
    var reliableNumber: UInt32?
    /// What waits for a description of ours.
    var pending: PendingDescription?
    /// Whether the far end understands UPDATE, as far as we know.
    var takesUpdate = false

    init(_ dialog: Dialog, exchange: OfferAnswerExchange.State) {
        self.dialog = dialog
        self.exchange = OfferAnswerExchange(exchange)
    }

    mutating func learn(from headers: SIPHeaders) {
        let allowed = headers.allow
        if !allowed.isEmpty { takesUpdate = allowed.contains(.update) }
    }
}

/// A message that cannot go before the upper layer has given a description.
struct PendingDescription: Sendable {
    enum Message: Sendable {
        /// The 2xx to the INVITE that the session's `inviteServer` holds.
        case inviteResponse
        /// The 2xx to an UPDATE.
        case updateResponse(SIPRequest, ServerTransactionID)
        /// The 2xx to a PRACK.
        case prackResponse(SIPRequest, ServerTransactionID)
        /// The ACK of the 2xx to this INVITE of ours.
        case acknowledgement(RequestID, SIPRequest)
        /// The PRACK of this response.
        case prack(SIPResponse)
    }

    let message: Message
    /// When patience ends.
    let deadline: Instant
}
