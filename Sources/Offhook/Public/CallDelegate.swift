public import OffhookMedia

/// Hears the news of a call service.
///
/// Called on the client's callback queue alone, in order, one call at a time. The service holds its delegate weakly.
public protocol CallServiceDelegate: AnyObject {
    /// A call came in. Set its delegate here to miss nothing of it.
    func callService(_ callService: CallService, didReceiveIncomingCall call: Call)
    /// A call was made on this side.
    func callService(_ callService: CallService, didCreate call: Call)
    /// A call is over and no longer in ``CallService/calls``. The last news of it.
    func callService(_ callService: CallService, didRemove call: Call)
    /// Another call, or none, has the conversation now.
    func callService(_ callService: CallService, didChangeActiveCall call: Call?)
    /// Calls can be made.
    func callServiceDidBecomeAvailable(_ callService: CallService)
    /// Calls cannot be made: not started, not registered, or no network.
    func callServiceDidBecomeUnavailable(_ callService: CallService)
    /// What the service can do has changed.
    func callService(_ callService: CallService, didChangeCapabilities names: Set<CallServiceCapabilities.Name>)
}

extension CallServiceDelegate {
    /// Does nothing.
    public func callService(_ callService: CallService, didCreate call: Call) {}
    /// Does nothing.
    public func callService(_ callService: CallService, didChangeActiveCall call: Call?) {}
    /// Does nothing.
    public func callServiceDidBecomeAvailable(_ callService: CallService) {}
    /// Does nothing.
    public func callServiceDidBecomeUnavailable(_ callService: CallService) {}
    /// Does nothing.
    public func callService(_ callService: CallService, didChangeCapabilities names: Set<CallServiceCapabilities.Name>)
    {}
}

/// Hears the news of a call.
///
/// Called on the client's callback queue alone, in order, one call at a time. The call holds its delegate weakly. An app
/// may rely on this order: `callService(_:didReceiveIncomingCall:)` before anything else of that call;
/// ``callDidEstablish(_:)`` before the first ``call(_:didUpdateVideoChannels:)``, unless early media brings video;
/// ``call(_:didUpdateVideoChannels:)`` before the first picture of a channel; ``call(_:didFailWithError:)`` before
/// ``callDidEnd(_:reason:)``, which comes exactly once and last; then `callService(_:didRemove:)`.
public protocol CallDelegate: AnyObject {
    /// The INVITE is out.
    func callDidStart(_ call: Call)
    /// The far end rings; with early media, its sound can be heard already.
    func callDidBeginRemoteAlerting(_ call: Call, withEarlyMedia hasEarlyMedia: Bool)
    /// The far end put the call in a queue (182).
    func callDidQueue(_ call: Call)
    /// The call is being forwarded (181, or a 3xx that we follow).
    func callDidRedirect(_ call: Call)
    /// The call is up. With DTLS the keys of its media are agreed on a moment later: ``Call/isSecure`` is false here, and
    /// ``call(_:didChangeSecurity:)`` follows.
    func callDidEstablish(_ call: Call)
    /// Whether all media of the call, which is up, is encrypted has changed.
    func call(_ call: Call, didChangeSecurity isSecure: Bool)
    /// The far end is on hold.
    func callDidHold(_ call: Call)
    /// The far end is no longer on hold.
    func callDidUnhold(_ call: Call)
    /// The far end put us on hold.
    func callDidHoldRemotely(_ call: Call)
    /// The far end no longer holds us.
    func callDidUnholdRemotely(_ call: Call)
    /// The list of video lines, whole, after one was added, taken away, enabled, disabled, or changed in direction or size.
    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel])
    /// The far end wants to add video, with this direction as we would see it. Answer with `acceptVideo(_:)` or `denyVideo()`.
    func call(_ call: Call, didReceiveVideoAddRequest direction: MediaDirection)
    /// The request for video was accepted, by the app or by the policy, with this direction.
    func call(_ call: Call, didAcceptVideoAddRequest direction: MediaDirection)
    /// The request for video was denied, by the app or by the policy.
    func callDidDenyVideoAddRequest(_ call: Call)
    /// The request for video was not answered in time, which counts as denied.
    func callDidTimeoutVideoAddRequest(_ call: Call)
    /// The far end took its request for video back.
    func callDidWithdrawVideoAddRequest(_ call: Call)
    /// What video may do at most has changed.
    func call(_ call: Call, didChangeAllowedVideoDirection direction: MediaDirection)
    /// The far end is somebody else now, or has another name.
    func call(_ call: Call, didChangeRemoteAddress address: String, displayName: String?)
    /// These capabilities of the call have changed.
    func call(_ call: Call, didChangeCapabilities names: Set<CallCapabilities.Name>)
    /// Our sound was muted, or is heard again.
    func call(_ call: Call, didMuteAudio isMuted: Bool)
    /// The far end pressed a key.
    func call(_ call: Call, didReceiveDTMF tone: DTMFTone)
    /// The call no longer rings here.
    func callDidIgnore(_ call: Call)
    /// The call was denied here.
    func callDidDeny(_ call: Call)
    /// The far end asks us to call this address in its place.
    func call(_ call: Call, didReceiveTransferRequestTo address: String)
    /// A transfer got further, in either role.
    func call(_ call: Call, didProgressTransfer progress: TransferProgress)
    /// A stream that we receive fell silent, or came back.
    func call(_ call: Call, didChangeMediaFlow flow: MediaFlow)
    /// The way to the far end is broken; media may go on.
    func callDidLoseSignaling(_ call: Call)
    /// The way to the far end is back.
    func callDidRecoverSignaling(_ call: Call)
    /// The call broke. It stays in `failed` until `end()`, or ends by itself after the time set in the configuration.
    func call(_ call: Call, didFailWithError error: CallError)
    /// The call is over.
    func callDidEnd(_ call: Call, reason: CallEndReason)
}

extension CallDelegate {
    /// Does nothing.
    public func callDidStart(_ call: Call) {}
    /// Does nothing.
    public func callDidBeginRemoteAlerting(_ call: Call, withEarlyMedia hasEarlyMedia: Bool) {}
    /// Does nothing.
    public func callDidQueue(_ call: Call) {}
    /// Does nothing.
    public func callDidRedirect(_ call: Call) {}
    /// Does nothing.
    public func call(_ call: Call, didChangeSecurity isSecure: Bool) {}
    /// Does nothing.
    public func callDidHold(_ call: Call) {}
    /// Does nothing.
    public func callDidUnhold(_ call: Call) {}
    /// Does nothing.
    public func callDidHoldRemotely(_ call: Call) {}
    /// Does nothing.
    public func callDidUnholdRemotely(_ call: Call) {}
    /// Does nothing: the request runs out and is denied.
    public func call(_ call: Call, didReceiveVideoAddRequest direction: MediaDirection) {}
    /// Does nothing.
    public func call(_ call: Call, didAcceptVideoAddRequest direction: MediaDirection) {}
    /// Does nothing.
    public func callDidDenyVideoAddRequest(_ call: Call) {}
    /// Does nothing.
    public func callDidTimeoutVideoAddRequest(_ call: Call) {}
    /// Does nothing.
    public func callDidWithdrawVideoAddRequest(_ call: Call) {}
    /// Does nothing.
    public func call(_ call: Call, didChangeAllowedVideoDirection direction: MediaDirection) {}
    /// Does nothing.
    public func call(_ call: Call, didChangeRemoteAddress address: String, displayName: String?) {}
    /// Does nothing.
    public func call(_ call: Call, didChangeCapabilities names: Set<CallCapabilities.Name>) {}
    /// Does nothing.
    public func call(_ call: Call, didMuteAudio isMuted: Bool) {}
    /// Does nothing.
    public func call(_ call: Call, didReceiveDTMF tone: DTMFTone) {}
    /// Does nothing.
    public func callDidIgnore(_ call: Call) {}
    /// Does nothing.
    public func callDidDeny(_ call: Call) {}
    /// Does nothing.
    public func call(_ call: Call, didReceiveTransferRequestTo address: String) {}
    /// Does nothing.
    public func call(_ call: Call, didProgressTransfer progress: TransferProgress) {}
    /// Does nothing.
    public func call(_ call: Call, didChangeMediaFlow flow: MediaFlow) {}
    /// Does nothing.
    public func callDidLoseSignaling(_ call: Call) {}
    /// Does nothing.
    public func callDidRecoverSignaling(_ call: Call) {}
}

/// How far a transfer got (RFC 3515 §2.4.5).
public struct TransferProgress: Hashable, Sendable {
    /// The SIP status of the new call, as told.
    public let sipStatus: Int
    /// Whether this is the end of it.
    public let isFinal: Bool

    /// Makes a progress.
    public init(sipStatus: Int, isFinal: Bool) {
        self.sipStatus = sipStatus
        self.isFinal = isFinal
    }

    /// Whether the new call stands.
    public var didSucceed: Bool { isFinal && (200..<300).contains(sipStatus) }
}

/// Whether a stream that we receive flows.
public struct MediaFlow: Hashable, Sendable {
    /// What flows.
    public enum Medium: String, Hashable, Sendable, CaseIterable {
        /// Sound.
        case audio
        /// Pictures.
        case video
    }

    /// What flows.
    public let medium: Medium
    /// The video line; nil for sound.
    public let channel: VideoChannel.ID?
    /// Whether packets come.
    public let isFlowing: Bool

    /// Makes a flow.
    public init(medium: Medium, channel: VideoChannel.ID? = nil, isFlowing: Bool) {
        self.medium = medium
        self.channel = channel
        self.isFlowing = isFlowing
    }
}
