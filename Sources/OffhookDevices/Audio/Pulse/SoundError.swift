/// Why there is no sound from or to a device.
public struct SoundError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of trouble.
    public struct Code: Hashable, Sendable {
        private enum Base: Hashable { case notInstalled, noServer, serverLost, notFound, noDevice, failed }
        private let base: Base
        private init(_ base: Base) { self.base = base }

        /// The library that speaks to sound servers is not on this machine.
        public static let notInstalled = Code(.notInstalled)
        /// No sound server answers.
        public static let noServer = Code(.noServer)
        /// The sound server that was in use has gone.
        public static let serverLost = Code(.serverLost)
        /// There is no device of that name.
        public static let notFound = Code(.notFound)
        /// The machine has no device of that kind.
        public static let noDevice = Code(.noDevice)
        /// The sound server refuses.
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
