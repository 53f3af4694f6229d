public import FoundationEssentials
public import OffhookMedia

/// Everything that is told of a call, as it is at one moment: the fields agree with each other.
public struct CallStatus: Sendable {
    /// Where the call is in its life.
    public var state = CallState.idle
    /// The far end's address, as in `sip:bob@example.org`.
    public var remoteAddress = ""
    /// The far end's name; nil where it tells none.
    public var remoteDisplayName: String?
    /// The far end's telephone number, where the address is one.
    public var remoteNumber: String?
    /// The subject of the INVITE; nil where it tells none.
    public var subject: String?
    /// When the INVITE was sent or came in; nil before that.
    public var startDate: Date?
    /// When the call was answered; nil before that.
    public var establishedDate: Date?
    /// When the call ended; nil before that.
    public var endDate: Date?
    /// Whether we hold the far end.
    public var isHeld = false
    /// Whether the far end holds us.
    public var isRemotelyHeld = false
    /// Whether our sound is muted.
    public var isAudioMuted = false
    /// Whether the far end's sound is silenced here.
    public var isSpeakerSilenced = false
    /// Whether every stream of the call is encrypted, by keys that both sides have.
    public var isSecure = false
    /// The call whose place this one takes (RFC 3891), and which ends; nil for most.
    public var replacedCall: Call.ID?
    /// The call that the caller wants to be taken into (RFC 3911); nil for most.
    public var callToJoin: Call.ID?
    /// The headers of the INVITE or its answer that this library does not interpret.
    public var headers: [SIPHeader] = []
    /// The newest error of the call; nil while there was none.
    public var lastError: CallError?
    /// Why the call ended; nil before that.
    public var endReason: CallEndReason?

    /// What the INVITE told of video. For an outgoing call always `off`.
    public var incomingVideoStatus = IncomingVideoStatus.off
    /// The mode the app has set; nil until it sets one.
    public var videoMode: VideoMode?
    /// Whether our pictures are said to be a presentation.
    public var isPresenting = false
    /// What video may do at most.
    public var allowedVideoDirection = MediaDirection.sendReceive
    /// The video lines.
    public var videoChannels: [VideoChannel] = []
    /// What can be done with the call now.
    public var capabilities = CallCapabilities()

    /// A call of which nothing is known.
    package init() {}

    /// Whether pictures flow at least one way.
    public var isVideoActive: Bool {
        videoChannels.contains { channel in
            channel.isEnabled && (channel.negotiatedDirection.sends || channel.negotiatedDirection.receives)
        }
    }

    /// Whether the call has been answered and is not over.
    package var isUp: Bool {
        switch state {
        case .established, .holding, .held, .unholding, .videoUpdating, .transferring, .beingTransferred: true
        case .idle, .initiating, .remoteAlerting, .alerting, .ignored, .failed, .ending, .ended: false
        }
    }

    /// Whether the call has the conversation: up, and not held by us.
    package var isActive: Bool {
        switch state {
        case .established, .holding, .videoUpdating, .transferring, .beingTransferred: !isHeld
        case .idle, .initiating, .remoteAlerting, .alerting, .held, .unholding, .ignored, .failed, .ending, .ended:
            false
        }
    }
}
