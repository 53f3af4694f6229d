/// Why a camera cannot be used.
public struct CameraError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of trouble.
    public struct Code: Hashable, Sendable {
        private enum Base: Hashable {
            case notFound, busy, notPermitted, vanished, formatNotSupported, stalled, controlNotSettable, failed
        }
        private let base: Base
        private init(_ base: Base) { self.base = base }

        /// There is no such camera.
        public static let notFound = Code(.notFound)
        /// Another program uses it.
        public static let busy = Code(.busy)
        /// The user may not open it.
        public static let notPermitted = Code(.notPermitted)
        /// It was unplugged.
        public static let vanished = Code(.vanished)
        /// It has no picture format that can be used.
        public static let formatNotSupported = Code(.formatNotSupported)
        /// It is there, but no picture has come for two seconds.
        public static let stalled = Code(.stalled)
        /// The control is not there, cannot be set now, or does not take the value.
        public static let controlNotSettable = Code(.controlNotSettable)
        /// The driver reports an error.
        public static let failed = Code(.failed)
    }

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
