/// One INVITE usage of a user agent: a call, as signalling sees it.
package struct SessionID: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// One request of ours, with its repeats to other targets and with credentials.
package struct RequestID: Hashable, Sendable {
    /// The session the request belongs to; nil for one outside any.
    package let session: SessionID?
    package let number: UInt64

    package init(session: SessionID?, number: UInt64) {
        self.session = session
        self.number = number
    }
}
