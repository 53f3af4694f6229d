/// Why a file, window or screen cannot be used.
public typealias DeviceError = ReasonedError<DeviceErrorCode>

/// The kinds of ``DeviceError``.
public struct DeviceErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, for logs.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The file cannot be opened.
    public static let cannotOpen = Self("cannotOpen")
    /// Writing failed.
    public static let cannotWrite = Self("cannotWrite")
    /// There is no room left for the file.
    public static let diskFull = Self("diskFull")
    /// The content is not of a kind that can be read here.
    public static let notUnderstood = Self("notUnderstood")
    /// A library that is loaded when it is needed is not installed.
    public static let libraryMissing = Self("libraryMissing")
    /// There is no display to show or take pictures on, or it cannot do what is asked of it.
    public static let noDisplay = Self("noDisplay")
}
