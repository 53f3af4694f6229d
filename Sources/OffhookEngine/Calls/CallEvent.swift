package import OffhookMedia

/// One piece of news of a call.
package enum CallEvent: Hashable, Sendable {
    case started
    case remoteAlerting(hasEarlyMedia: Bool)
    case queued
    case redirected
    case established
    case held
    case unheld
    case heldRemotely
    case unheldRemotely
    case channelsUpdated
    case videoAddRequested(MediaDirection)
    case videoAddAccepted(MediaDirection)
    case videoAddDenied
    case videoAddTimedOut
    case videoAddWithdrawn
    case allowedVideoDirectionChanged
    case remoteAddressChanged
    case audioMuted(Bool)
    /// A key the far end pressed: `0`–`9`, `*`, `#`, `A`–`D`.
    case digit(Character)
    case ignored
    case denied
    case transferRequested(to: String)
    case transferProgressed(status: Int, isFinal: Bool)
    /// A receiving stream fell silent, or came back.
    case mediaFlowChanged(isVideo: Bool, flows: Bool)
    /// The handshake for a stream's keys is done; for the call itself, not told to the app as such.
    case mediaSecured
    /// The handshake for a stream's keys failed.
    case mediaSecurityFailed(String)
    case signalingLost
    case signalingRecovered
    case failed(CallFailure)
    case ended(CallEnding)
    /// Only the snapshot changed.
    case changed
}
