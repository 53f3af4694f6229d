/// Why a file or device cannot be used.
public struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of trouble.
    public struct Code: Hashable, Sendable {
        private enum Base: Hashable { case cannotOpen, cannotWrite, diskFull, notUnderstood, libraryMissing, noDisplay }
        private let base: Base
        private init(_ base: Base) { self.base = base }

        /// The file cannot be opened.
        public static let cannotOpen = Code(.cannotOpen)
        /// Writing failed.
        public static let cannotWrite = Code(.cannotWrite)
        /// There is no room left for the file.
        public static let diskFull = Code(.diskFull)
        /// The content is not of a kind that can be read here.
        public static let notUnderstood = Code(.notUnderstood)
        /// A library that is loaded when it is needed is not installed.
        public static let libraryMissing = Code(.libraryMissing)
        /// There is no display to show or take pictures on, or it cannot do what is asked of it.
        public static let noDisplay = Code(.noDisplay)
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
