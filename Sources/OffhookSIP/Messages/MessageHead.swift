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
        var method: SIPMethod?
        if case .request(let name, _) = startLine { method = name }
        var from = 0
        var to = 0
        var callID = 0
        var cseq = 0
        var via = 0
        for field in headers.fields {
            switch field.name.standard {
            case .from:
                from += 1
                if NameAddress(parsing: field.value) == nil { note("From is unreadable") }
            case .to:
                to += 1
                if NameAddress(parsing: field.value) == nil { note("To is unreadable") }
            case .callID:
                callID += 1
                if field.value.isEmpty { note("Call-ID is empty") }
            case .cseq:
                cseq += 1
                checkCSeq(field.value, method)
            case .via:
                via += 1
                checkVias(field.value)
            case .contact where method != nil && field.value != "*":
                checkAddresses(field)
            case .recordRoute where method != nil:
                checkAddresses(field)
            default: break
            }
        }
        for (count, name) in [(from, "From"), (to, "To"), (callID, "Call-ID"), (cseq, "CSeq")] where count != 1 {
            note(count == 0 ? "\(name) is missing" : "\(name) is there more than once")
        }
        if via == 0 { note("Via is missing") }
    }

    private mutating func checkCSeq(_ value: String, _ method: SIPMethod?) {
        guard let cseq = CSeq(parsing: value) else { return note("CSeq is unreadable") }
        if let method, cseq.method != method { note("CSeq has another method") }
    }

    private mutating func checkVias(_ line: String) {
        let values = CommaList.split(line)
        if values.isEmpty || values.contains(where: { Via(parsing: $0) == nil }) { note("Via is unreadable") }
    }

    private mutating func checkAddresses(_ field: SIPHeaders.Field) {
        if CommaList.split(field.value).contains(where: { NameAddress(parsing: $0) == nil }) {
            note("\(field.name) is unreadable")
        }
    }
}
