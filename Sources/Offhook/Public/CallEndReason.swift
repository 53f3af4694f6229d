/// How a call ended.
///
/// Reasons compare by cause alone, so that `reason == .busy` holds whatever SIP code told it, and a `switch` may list
/// them as patterns. Where the cause has something to say (`.failed`), switch over ``cause`` instead.
public struct CallEndReason: Sendable {
    /// Which end of a call.
    public enum Side: String, Hashable, Sendable, CaseIterable {
        /// This one.
        case local
        /// The far one.
        case remote
    }

    /// What ended a call.
    public enum Cause: Hashable, Sendable {
        /// A call that was up was hung up.
        case ended(by: Side)
        /// The caller gave up before the answer.
        case cancelled
        /// The called side declined.
        case declined
        /// The called side is busy.
        case busy
        /// Nobody answered in time.
        case noAnswer
        /// Another device of the same user took the call.
        case answeredElsewhere
        /// Another device of the same user declined the call.
        case declinedElsewhere
        /// The far end was transferred to another call.
        case transferred
        /// Another call took this one's place (RFC 3891).
        case replaced
        /// Media stopped coming for longer than the configuration allows.
        case mediaTimeout
        /// The way to the peer was lost and did not come back.
        case signalingLost
        /// The call failed.
        case failed(CallError)
    }

    /// What ended the call.
    public let cause: Cause
    /// The SIP status that ended it, or that its Reason header names; nil where there was none.
    public let sipCode: Int?
    /// The text of the Reason header or the status line; nil where there was none.
    public let text: String?

    /// Makes a reason.
    public init(_ cause: Cause, sipCode: Int? = nil, text: String? = nil) {
        self.cause = cause
        self.sipCode = sipCode
        self.text = text
    }

    /// A call that was up was hung up.
    public static func ended(by side: Side) -> CallEndReason { CallEndReason(.ended(by: side)) }
    /// The caller gave up before the answer.
    public static let cancelled = CallEndReason(.cancelled)
    /// The called side declined.
    public static let declined = CallEndReason(.declined)
    /// The called side is busy.
    public static let busy = CallEndReason(.busy)
    /// Nobody answered in time.
    public static let noAnswer = CallEndReason(.noAnswer)
    /// Another device of the same user took the call.
    public static let answeredElsewhere = CallEndReason(.answeredElsewhere)
    /// Another device of the same user declined the call.
    public static let declinedElsewhere = CallEndReason(.declinedElsewhere)
    /// The far end was transferred to another call.
    public static let transferred = CallEndReason(.transferred)
    /// Another call took this one's place (RFC 3891).
    public static let replaced = CallEndReason(.replaced)
    /// Media stopped coming for longer than the configuration allows.
    public static let mediaTimeout = CallEndReason(.mediaTimeout)
    /// The way to the peer was lost and did not come back.
    public static let signalingLost = CallEndReason(.signalingLost)
    /// The call failed.
    public static func failed(_ error: CallError) -> CallEndReason {
        CallEndReason(.failed(error), sipCode: error.sipStatus)
    }

    /// The error of a call that failed; nil for every other end.
    public var error: CallError? {
        if case .failed(let error) = cause { error } else { nil }
    }
}

extension CallEndReason: Hashable {
    /// Whether both tell the same cause.
    public static func == (left: CallEndReason, right: CallEndReason) -> Bool {
        left.cause == right.cause
    }

    /// Hashes the cause.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(cause)
    }
}

extension CallEndReason: CustomStringConvertible {
    /// The cause's name as the source writes it: `ended(by: remote)`, `busy`, `failed(noCommonCodec)`.
    public var description: String {
        switch cause {
        case .ended(let side): "ended(by: \(side))"
        case .failed(let error): "failed(\(error.code))"
        case .cancelled: "cancelled"
        case .declined: "declined"
        case .busy: "busy"
        case .noAnswer: "noAnswer"
        case .answeredElsewhere: "answeredElsewhere"
        case .declinedElsewhere: "declinedElsewhere"
        case .transferred: "transferred"
        case .replaced: "replaced"
        case .mediaTimeout: "mediaTimeout"
        case .signalingLost: "signalingLost"
        }
    }
}
