/// Why something cannot be used: a code to compare, and a sentence for a person.
///
/// ``DeviceError``, ``CameraError`` and ``SoundError`` are of this shape.
public struct ReasonedError<Kind: Hashable & Sendable>: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of trouble. More codes may be added; compare, and keep a branch for the rest.
    public typealias Code = Kind

    /// The kind of trouble.
    public let code: Code
    /// One sentence that says what happened and what to do.
    public let reason: String

    /// Makes an error.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
