/// Why a command or a call failed.
package struct CallFailure: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The call is not in a state that has this command.
        case notAllowed
        case invalidArgument
        case cancelled
        case portUnavailable
        case unreachable
        case timedOut
        case busy
        case declined
        case notFound
        case noCommonCodec
        case invalidSessionDescription
        case mediaSecurityFailed
        case authenticationFailed
        case registrationFailed
        case videoDenied
        case transferFailed
        case mediaTimeout
        case signalingLost
        case refused
        case protocolViolation
        case notSupported
    }

    package var kind: Kind
    /// What happened, in one sentence.
    package var reason: String
    /// The SIP status that told of it.
    package var sipStatus: Int?
    /// How long until it is tried again by itself.
    package var retryAfter: Duration?

    package init(_ kind: Kind, _ reason: String, sipStatus: Int? = nil) {
        self.kind = kind
        self.reason = reason
        self.sipStatus = sipStatus
    }
}

/// How a call ended.
package struct CallEnding: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        case endedHere
        case endedThere
        case cancelled
        case declined
        case busy
        case noAnswer
        case answeredElsewhere
        case declinedElsewhere
        case transferred
        case replaced
        case mediaTimeout
        case signalingLost
        case failed(CallFailure)
    }

    package var cause: Cause
    package var sipStatus: Int?
    /// What a Reason header field or the status line said.
    package var text: String?

    package init(_ cause: Cause, sipStatus: Int? = nil, text: String? = nil) {
        self.cause = cause
        self.sipStatus = sipStatus
        self.text = text
    }
}
