/// Where a call is in its life.
public enum CallState: String, Hashable, Sendable, CaseIterable {
    /// Made, and not started.
    case idle
    /// The INVITE is out.
    case initiating
    /// The far end rings.
    case remoteAlerting
    /// The call rings here.
    case alerting
    /// Both ends talk.
    case established
    /// A hold is being agreed.
    case holding
    /// We hold the far end.
    case held
    /// The end of a hold is being agreed.
    case unholding
    /// A change of video is being agreed.
    case videoUpdating
    /// We are passing the far end on.
    case transferring
    /// The far end is passing us on.
    case beingTransferred
    /// The call came in and was told to stop ringing; it can still be accepted or denied.
    case ignored
    /// The call broke; it stays here until `end()`, or the time set in the configuration.
    case failed
    /// The end is being agreed.
    case ending
    /// Over.
    case ended
}

/// Who began a call.
public enum CallDirection: String, Hashable, Sendable, CaseIterable {
    /// The far end called us.
    case incoming
    /// We called the far end.
    case outgoing
}
