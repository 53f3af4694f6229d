package import OffhookMedia

/// What could be made of an offer: nothing has been decided yet.
package struct OfferEvaluation: Hashable, Sendable {
    package struct Line: Hashable, Sendable {
        package var index: Int
        package var kind: StreamKind?
        /// Why the line cannot be used; nil where it can. `remoteUser` means that the offer itself has it off.
        package var refusal: DisabledReason?
        /// As we would see it: the mirror of what the peer says; `inactive` where the line cannot be used.
        package var offeredDirection: MediaDirection
        /// Whether no such line was in use before.
        package var isNew: Bool
    }

    /// Why the offer as a whole is refused.
    package enum Rejection: Hashable, Sendable {
        /// Our own offer is open: 491 (RFC 3261 §14.2).
        case glare
        /// The peer's former offer is not answered yet: 500 (RFC 3261 §14.2).
        case offerPending
        /// Not one line can be used: 488.
        case notAcceptable(reason: String)

        /// The SIP status.
        package var status: Int {
            switch self {
            case .glare: 491
            case .offerPending: 500
            case .notAcceptable: 488
            }
        }

        /// A sentence for the Warning header and the log.
        package var text: String {
            switch self {
            case .glare: "Request Pending"
            case .offerPending: "Former Offer Not Answered"
            case .notAcceptable(let reason): reason
            }
        }
    }

    package var lines: [Line] = []
    /// nil where the offer can be answered. With `glare` and `offerPending` the offer has not been taken in.
    package var rejection: Rejection?
    /// What an incoming call tells of video (for a first offer).
    package var incomingVideoStatus: IncomingVideoStatus = .off
    /// The line that would carry audio, and the one that would carry video.
    package var audioIndex: Int?
    package var videoIndex: Int?
    /// The direction of a video line that was not in use and now is asked for, as we would see it.
    package var newVideoDirection: MediaDirection?
    /// Whether that line was in use before and was taken away by the peer.
    package var isVideoReturning = false
    /// Whether the peer takes a line away that was in use: video, most likely.
    package var removedLines: [Int] = []
    /// Whether the peer holds the call once this is answered.
    package var isRemotelyHeld = false
    /// Whether that is news.
    package var isHoldChanged = false
}

/// What came of an answer.
package enum AnswerOutcome: Hashable, Sendable {
    /// ``OfferAnswer/media`` tells what is agreed; single lines may have been refused.
    case accepted
    /// Nothing that the answer accepts can be used: end the call. The offer is still open; withdraw it.
    case unusable(reason: String)
    /// No offer of ours is open.
    case unexpected
}
