import Offhook

/// How the program ends, as scripts see it.
package enum ExitStatus: Int32, Sendable {
    /// The call was established and ended as asked.
    case success = 0
    /// The command line is wrong.
    case usage = 2
    /// The account could not be registered.
    case notRegistered = 3
    /// The call failed or was refused.
    case callFailed = 4
    /// A device or file could not be used.
    case deviceFailed = 5
    /// Ctrl-C.
    case interrupted = 130

    /// What a call that ended this way amounts to.
    static func status(established: Bool, reason: CallEndReason) -> ExitStatus {
        guard established else { return .callFailed }
        switch reason.cause {
        case .ended, .transferred, .replaced: return .success
        case .cancelled, .declined, .busy, .noAnswer, .answeredElsewhere, .declinedElsewhere, .mediaTimeout,
            .signalingLost, .failed:
            return .callFailed
        }
    }
}
