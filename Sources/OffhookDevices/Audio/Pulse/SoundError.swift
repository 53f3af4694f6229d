/// Why there is no sound from or to a device.
public typealias SoundError = ReasonedError<SoundErrorCode>

/// The kinds of ``SoundError``.
public struct SoundErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, for logs.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The library that speaks to sound servers is not on this machine.
    public static let notInstalled = Self("notInstalled")
    /// No sound server answers.
    public static let noServer = Self("noServer")
    /// The sound server that was in use has gone.
    public static let serverLost = Self("serverLost")
    /// There is no device of that name.
    public static let notFound = Self("notFound")
    /// The machine has no device of that kind.
    public static let noDevice = Self("noDevice")
    /// The sound server refuses.
    public static let failed = Self("failed")
}
