/// Cuts a byte stream into messages and keep-alives (RFC 3261 §7.5, §18.3; RFC 5626 §4.4.1).
///
/// Feed it with ``receive(_:)`` in any portions, then call ``next()`` until it gives nil. An error is the stream's
/// end: the position of the next message is lost and the connection must be closed.
package struct SIPStreamFramer: Sendable {
    package struct Limits: Sendable {
        /// The longest start line and header together, in bytes.
        package var headerBytes = 64 << 10
        package var bodyBytes = 1 << 20

        package init() {}
    }

    package enum Output: Equatable, Sendable {
        case message(SIPMessage)
        /// A message that is wrong though its length is clear: answer its rejection, if there is one, and go on.
        case malformed(SIPParseError)
        /// CRLF CRLF: answer with one CRLF.
        case ping
        /// The CRLF that answers a ping of ours.
        case pong
    }

    package let limits: Limits

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Tells that a CRLF CRLF was sent, so that the next lone CRLF is its answer.
    package mutating func didSendPing() {}

    package mutating func receive(_ bytes: RawSpan) {}

    package mutating func receive(_ bytes: [UInt8]) {
        receive(bytes.span.bytes)
    }

    /// The next whole thing in the stream, or nil until more bytes come.
    ///
    /// After an error every call throws it again.
    package mutating func next() throws(SIPStreamError) -> Output? { nil }
}

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
