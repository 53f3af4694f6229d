/// Why bytes are no valid message, and what to answer.
///
/// Responses and ACKs that are wrong are dropped in silence: then `rejection` is nil. So is it where not even a
/// method can be told.
package struct SIPParseError: Error, Equatable, Sendable {
    /// What is wrong, for a log or a reason phrase.
    package let problem: String
    /// The refusal to send, if one should be sent.
    package let rejection: Rejection?

    package init(_ problem: String, rejection: Rejection? = nil) {
        self.problem = problem
        self.rejection = rejection
    }

    /// A broken request and the answer it deserves (RFC 3261 §8.2, §16.3, §21.4; RFC 4475).
    package struct Rejection: Equatable, Sendable {
        /// What could be read. Via, From, To, Call-ID and CSeq are to be copied if they are there; any may be missing
        /// or unreadable, so a response without a readable top Via goes to where the request came from.
        package let request: SIPRequest
        /// 400 or 505, on a stream also 413 or 513.
        package let status: Int

        package init(request: SIPRequest, status: Int) {
            self.request = request
            self.status = status
        }
    }
}
