/// Why a command failed or a call broke.
public struct CallError: Error, Hashable, Sendable {
    /// What kind of failure it is. More codes may be added; compare, and keep a branch for the rest.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, for logs.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The command is not allowed now; ``CallError/denialReason`` says why.
        public static let notAllowed = Code("notAllowed")
        /// An address, number or other argument does not parse.
        public static let invalidArgument = Code("invalidArgument")
        /// The client or account was stopped.
        public static let stopped = Code("stopped")
        /// The command's task was cancelled before its turn came.
        public static let cancelled = Code("cancelled")
        /// A local port is in use or may not be used.
        public static let portUnavailable = Code("portUnavailable")
        /// The peer or the server cannot be reached: no route, refused, or no such name.
        public static let unreachable = Code("unreachable")
        /// No answer came in time.
        public static let timedOut = Code("timedOut")
        /// The peer is busy (486, 600).
        public static let busy = Code("busy")
        /// The peer declined (603, 480 with a person behind it).
        public static let declined = Code("declined")
        /// The address is unknown there (404, 604).
        public static let notFound = Code("notFound")
        /// The two sides share no codec, or no way to encrypt (488); ``CallError/reason`` says who offered what.
        public static let noCommonCodec = Code("noCommonCodec")
        /// A session description breaks the rules.
        public static let invalidSessionDescription = Code("invalidSessionDescription")
        /// The media could not be encrypted as the configuration demands.
        public static let mediaSecurityFailed = Code("mediaSecurityFailed")
        /// The credentials are missing or wrong (401, 403, 407).
        public static let authenticationFailed = Code("authenticationFailed")
        /// The server refused the registration.
        public static let registrationFailed = Code("registrationFailed")
        /// The peer refused the video that was asked for, or let the request run out.
        public static let videoDenied = Code("videoDenied")
        /// A transfer did not come about.
        public static let transferFailed = Code("transferFailed")
        /// No media came for the time set in the configuration.
        public static let mediaTimeout = Code("mediaTimeout")
        /// The connection to the peer or the server was lost.
        public static let signalingLost = Code("signalingLost")
        /// A device or file could not be used.
        public static let deviceUnavailable = Code("deviceUnavailable")
        /// The peer refused in another way; ``CallError/sipStatus`` says how.
        public static let refused = Code("refused")
        /// The peer broke the protocol.
        public static let protocolViolation = Code("protocolViolation")
        /// A fault of this library.
        public static let internalFailure = Code("internalFailure")
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, in one sentence, for a log or a developer.
    public let reason: String
    /// The SIP status that told of it, where one did.
    public let sipStatus: Int?
    /// Why the command was not allowed, where ``code`` is ``Code/notAllowed``.
    public let denialReason: DenialReason?
    /// How long until it is tried again by itself; nil where it is not.
    public let retryAfter: Duration?

    /// Makes an error.
    public init(_ code: Code, _ reason: String, sipStatus: Int? = nil, retryAfter: Duration? = nil) {
        self.init(code, reason, sipStatus: sipStatus, denialReason: nil, retryAfter: retryAfter)
    }

    private init(_ code: Code, _ reason: String, sipStatus: Int?, denialReason: DenialReason?, retryAfter: Duration?) {
        self.code = code
        self.reason = reason
        self.sipStatus = sipStatus
        self.denialReason = denialReason
        self.retryAfter = retryAfter
    }

    /// The error of a command that its capability denies.
    public static func notAllowed(_ denialReason: DenialReason, _ reason: String) -> CallError {
        CallError(.notAllowed, reason, sipStatus: nil, denialReason: denialReason, retryAfter: nil)
    }
}

extension CallError: CustomStringConvertible {
    /// The reason, with the SIP status where there is one.
    public var description: String {
        sipStatus.map { "\(reason) (SIP \($0))" } ?? reason
    }
}
