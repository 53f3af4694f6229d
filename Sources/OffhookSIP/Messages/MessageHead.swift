/// A message up to its body: start line and header fields, however broken they may be.
struct MessageHead: Sendable {
    enum StartLine: Sendable {
        case request(SIPMethod, URI)
        case response(status: Int, reason: String)
        /// No method to answer to, or a response that is wrong.
        case unreadable
    }

    enum ContentLength: Equatable, Sendable {
        case missing
        case bytes(Int)
        case invalid
    }

    struct Problem: Sendable {
        let text: String
        var status = 400
    }

    var startLine = StartLine.unreadable
    /// Without Content-Length.
    var headers = SIPHeaders()
    var contentLength = ContentLength.missing
    /// The first thing found wrong.
    private(set) var problem: Problem?

    mutating func note(_ text: String, status: Int = 400) {
        if problem == nil { problem = Problem(text: text, status: status) }
    }

    mutating func noteContentLength(_ text: String) {
        guard let length = HeaderNumber.clamped(text).map(Int.init) else {
            contentLength = .invalid
            return note("Content-Length is no number")
        }
        switch contentLength {
        case .missing: contentLength = .bytes(length)
        case .bytes(length), .invalid: break
        case .bytes:
            contentLength = .invalid
            note("Two Content-Lengths differ")
        }
    }

    /// The message, if nothing is wrong.
    func message(body: [UInt8]) throws(SIPParseError) -> SIPMessage {
        if let problem { throw error(problem) }
        switch startLine {
        case .request(let method, let uri):
            return .request(SIPRequest(method: method, uri: uri, headers: headers, body: body))
        case .response(let status, let reason):
            return .response(SIPResponse(status: status, reason: reason, headers: headers, body: body))
        case .unreadable:
            throw error(Problem(text: "Start line is unreadable"))
        }
    }

    func error(_ problem: Problem) -> SIPParseError {
        SIPParseError(problem.text, rejection: rejection(status: problem.status))
    }

    /// The refusal this head deserves; nil for responses and ACKs (RFC 3261 §17), and where no Via tells who asks.
    func rejection(status: Int) -> SIPParseError.Rejection? {
        guard case .request(let method, let uri) = startLine, method != .ack, headers.contains(.via) else { return nil }
        return SIPParseError.Rejection(
            request: SIPRequest(method: method, uri: uri, headers: headers), status: status)
    }
}

extension MessageHead {
    /// Notes what makes a message useless to a user agent (RFC 3261 §8.1.1, §8.2, §20).
    mutating func check() {
        for (name, text) in [(SIPHeaderName.from, "From"), (.to, "To"), (.callID, "Call-ID"), (.cseq, "CSeq")] {
            let count = headers.count(name)
            if count != 1 { note(count == 0 ? "\(text) is missing" : "\(text) is there more than once") }
        }
        checkVia()
        if headers.from == nil { note("From is unreadable") }
        if headers.to == nil { note("To is unreadable") }
        if headers.callID?.isEmpty != false { note("Call-ID is empty") }
        guard let cseq = headers.cseq else { return note("CSeq is unreadable") }
        guard case .request(let method, _) = startLine else { return }
        if cseq.method != method { note("CSeq has another method") }
        checkAddresses(.contact)
        checkAddresses(.recordRoute)
    }

    private mutating func checkVia() {
        let values = headers.values(.via)
        if values.isEmpty {
            note("Via is missing")
        } else if values.contains(where: { Via(parsing: $0) == nil }) {
            note("Via is unreadable")
        }
    }

    private mutating func checkAddresses(_ name: SIPHeaderName) {
        for line in headers.all(name) where line != "*" {
            if CommaList.split(line).contains(where: { NameAddress(parsing: $0) == nil }) {
                note("\(name) is unreadable")
            }
        }
    }
}
