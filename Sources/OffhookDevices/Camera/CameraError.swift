/// Why a camera cannot be used.
public typealias CameraError = ReasonedError<CameraErrorCode>

/// The kinds of ``CameraError``.
public struct CameraErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, for logs.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// There is no such camera.
    public static let notFound = Self("notFound")
    /// Another program uses it.
    public static let busy = Self("busy")
    /// The user may not open it.
    public static let notPermitted = Self("notPermitted")
    /// It was unplugged.
    public static let vanished = Self("vanished")
    /// It has no picture format that can be used.
    public static let formatNotSupported = Self("formatNotSupported")
    /// It is there, but no picture has come for two seconds.
    public static let stalled = Self("stalled")
    /// The control is not there, cannot be set now, or does not take the value.
    public static let controlNotSettable = Self("controlNotSettable")
    /// The driver reports an error.
    public static let failed = Self("failed")
}
