public import FoundationEssentials
public import OffhookMedia

extension Call {
    /// Where the call is in its life.
    public var state: CallState { status.state }
    /// The far end's address, as in `sip:bob@example.org`.
    public var remoteAddress: String { status.remoteAddress }
    /// The far end's name; nil where it tells none.
    public var remoteDisplayName: String? { status.remoteDisplayName }
    /// The far end's telephone number, where the address is one.
    public var remoteNumber: String? { status.remoteNumber }
    /// The subject of the INVITE; nil where it tells none.
    public var subject: String? { status.subject }
    /// When the INVITE was sent or came in; nil before that.
    public var startDate: Date? { status.startDate }
    /// When the call was answered; nil before that.
    public var establishedDate: Date? { status.establishedDate }
    /// When the call ended; nil before that.
    public var endDate: Date? { status.endDate }
    /// Whether we hold the far end.
    public var isHeld: Bool { status.isHeld }
    /// Whether the far end holds us.
    public var isRemotelyHeld: Bool { status.isRemotelyHeld }
    /// Whether our sound is muted.
    public var isAudioMuted: Bool { status.isAudioMuted }
    /// Whether the far end's sound is silenced here.
    public var isSpeakerSilenced: Bool { status.isSpeakerSilenced }
    /// Whether every stream of the call is encrypted, by keys that both sides have. With DTLS that is a moment after
    /// the call is up; ``CallDelegate/call(_:didChangeSecurity:)`` tells.
    public var isSecure: Bool { status.isSecure }
    /// The call whose place this one takes (RFC 3891): that one ends, and this one is accepted by itself, with the video mode of that
    /// one. Nil for most calls.
    public var replacedCall: Call.ID? { status.replacedCall }
    /// The call that the caller wants to be taken into (RFC 3911); nil for most. To accept the call is to agree: their far ends
    /// hear each other then, beside us.
    public var callToJoin: Call.ID? { status.callToJoin }
    /// The headers of the INVITE or its answer that this library does not interpret.
    public var headers: [SIPHeader] { status.headers }
    /// The newest error of the call; nil while there was none.
    public var lastError: CallError? { status.lastError }
    /// Why the call ended; nil before that.
    public var endReason: CallEndReason? { status.endReason }
    /// What can be done with the call now.
    public var capabilities: CallCapabilities { status.capabilities }

    /// What the INVITE told of video, frozen when the call was handed to the app. For an outgoing call always `off`.
    public var incomingVideoStatus: IncomingVideoStatus { status.incomingVideoStatus }
    /// The mode the app has set; nil until it sets one.
    public var videoMode: VideoMode? { status.videoMode }
    /// Whether our pictures are said to be a presentation.
    public var isPresenting: Bool { status.isPresenting }
    /// What video may do at most.
    public var allowedVideoDirection: MediaDirection { status.allowedVideoDirection }
    /// Whether pictures flow at least one way.
    public var isVideoActive: Bool { status.isVideoActive }
    /// The video lines.
    public var videoChannels: [VideoChannel] { status.videoChannels }
}
