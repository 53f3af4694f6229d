/// Whether something can be done now, and why not where it cannot.
public struct Capability: Hashable, Sendable {
    /// Why it cannot be done; nil where it can.
    public let denialReason: DenialReason?

    /// Whether it can be done.
    public var isAllowed: Bool { denialReason == nil }

    /// It can be done.
    public static let allowed = Capability(denialReason: nil)

    /// It cannot be done, for this reason.
    public static func denied(_ reason: DenialReason) -> Capability {
        Capability(denialReason: reason)
    }
}

/// Why a command is not allowed. More reasons may be added; compare, and treat what you do not know as a refusal.
public struct DenialReason: RawRepresentable, Hashable, Sendable {
    /// The reason's name, for logs.
    public let rawValue: String

    /// Makes a reason of its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The call or account is not in a state that has this command.
    public static let invalidState = DenialReason(rawValue: "invalidState")
    /// This build, the peer or the configuration has no such feature.
    public static let notSupported = DenialReason(rawValue: "notSupported")
    /// Another change has to end first.
    public static let operationInProgress = DenialReason(rawValue: "operationInProgress")
    /// The configuration forbids it.
    public static let insufficientPermission = DenialReason(rawValue: "insufficientPermission")
    /// The account is not registered and needs to be.
    public static let notRegistered = DenialReason(rawValue: "notRegistered")
    /// There is no network, or no way to the server.
    public static let networkUnavailable = DenialReason(rawValue: "networkUnavailable")
    /// The call has no audio stream.
    public static let callHasNoAudio = DenialReason(rawValue: "callHasNoAudio")
    /// The call has no video stream.
    public static let callHasNoVideo = DenialReason(rawValue: "callHasNoVideo")
    /// The server said no.
    public static let rejectedByServer = DenialReason(rawValue: "rejectedByServer")
}
