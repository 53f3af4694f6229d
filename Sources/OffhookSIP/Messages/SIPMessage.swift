/// One whole SIP message (RFC 3261 §7).
package enum SIPMessage: Equatable, Sendable {
    case request(SIPRequest)
    case response(SIPResponse)

    /// Reads a datagram that holds one message.
    ///
    /// Bytes after the body are dropped; a body shorter than Content-Length says is an error (RFC 3261 §18.3).
    package init(parsing datagram: RawSpan) throws(SIPParseError) {
        self = try SIPMessageParser.parse(datagram)
    }

    /// Reads a datagram that holds one message.
    package init(parsing datagram: [UInt8]) throws(SIPParseError) {
        self = try SIPMessageParser.parse(datagram.span.bytes)
    }

    package var headers: SIPHeaders {
        get {
            switch self {
            case .request(let request): request.headers
            case .response(let response): response.headers
            }
        }
        set {
            switch self {
            case .request(var request):
                request.headers = newValue
                self = .request(request)
            case .response(var response):
                response.headers = newValue
                self = .response(response)
            }
        }
    }

    package var body: [UInt8] {
        switch self {
        case .request(let request): request.body
        case .response(let response): response.body
        }
    }

    /// The message as sent; Content-Length always fits the body.
    package func write() -> [UInt8] {
        switch self {
        case .request(let request): request.write()
        case .response(let response): response.write()
        }
    }
}
