/// Why a stream cannot go on.
package struct SIPStreamError: Error, Equatable, Sendable {
    package enum Cause: Equatable, Sendable {
        case headerTooLong
        case bodyTooLong
        case noContentLength
        case badContentLength
    }

    package let cause: Cause
    /// The refusal to send before closing, if one can be sent.
    package let rejection: SIPParseError.Rejection?

    package init(_ cause: Cause, rejection: SIPParseError.Rejection? = nil) {
        self.cause = cause
        self.rejection = rejection
    }
}
