package import OffhookMedia

/// Where a call is in its life.
package enum CallPhase: Hashable, Sendable {
    case idle
    case initiating
    case remoteAlerting
    case alerting
    case established
    case holding
    case held
    case unholding
    case videoUpdating
    case transferring
    case beingTransferred
    case ignored
    case failed
    case ending
    case ended
}

/// One video line as the app sees it.
package struct ChannelSnapshot: Hashable, Sendable {
    package enum DisabledReason: Hashable, Sendable {
        case localUser
        case remoteUser
        case noCommonCodec
        case notNegotiated
        case mediaSecurity
        case callEnded
    }

    package var handle: ChannelHandle
    package var requested = MediaDirection.undefined
    package var negotiated = MediaDirection.undefined
    package var isEnabled = false
    package var disabledReason: DisabledReason?
    package var codecName: String?
    package var isPresentation = false

    package init(handle: ChannelHandle) {
        self.handle = handle
    }
}

/// What can be told of a call at one moment.
package struct CallSnapshot: Sendable {
    package var phase = CallPhase.idle
    package var remoteAddress = ""
    package var remoteDisplayName: String?
    package var subject: String?
    /// The call whose place this one takes (RFC 3891).
    package var replacedCall: CallHandle?
    /// The call that the far end wants to be taken into (RFC 3911).
    package var callToJoin: CallHandle?
    package var isHeld = false
    package var isRemotelyHeld = false
    package var isAudioMuted = false
    package var isSecure = false
    package var hasAudio = false
    package var hasVideo = false
    package var isVideoAddPending = false
    /// Whether the way of the media was found by ICE, which can look for another.
    package var usesICE = false
    package var incomingVideoStatus = IncomingVideoStatus.off
    package var videoMode: VideoMode?
    /// Whether our pictures are said to be a presentation.
    package var isPresenting = false
    package var allowedVideoDirection = MediaDirection.sendReceive
    package var channels: [ChannelSnapshot] = []
    /// Header fields of the INVITE that we do not interpret.
    package var headers: [(name: String, value: String)] = []
    package var lastFailure: CallFailure?

    package init() {}
}
