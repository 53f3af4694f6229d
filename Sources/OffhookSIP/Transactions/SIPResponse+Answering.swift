extension SIPResponse {
    /// A response to a request, with the fields that RFC 3261 §8.2.6.2 copies.
    ///
    /// `tag` goes into a To that has none; a 100 takes no tag (§8.2.6.1) but the request's Timestamp.
    package init(answering request: SIPRequest, status: Int, reason: String? = nil, tag: String? = nil) {
        self.init(status: status, reason: reason ?? Self.standardReason(of: status))
        headers.copy(.via, from: request.headers)
        headers.copy(.from, from: request.headers)
        if status > 100, let tag, var to = request.headers.to, to.tag == nil {
            to.tag = tag
            headers.to = to
        } else {
            headers.copy(.to, from: request.headers)
        }
        headers.copy(.callID, from: request.headers)
        headers.copy(.cseq, from: request.headers)
        if status == 100 { headers.copy(.timestamp, from: request.headers) }
    }

    /// The reason phrase that the RFCs give a status.
    package static func standardReason(of status: Int) -> String {
        standardReasons[status] ?? classReasons[status / 100] ?? "Unknown"
    }

    private static let classReasons = [
        1: "Session Progress", 2: "OK", 3: "Multiple Choices", 4: "Bad Request", 5: "Server Internal Error",
        6: "Decline",
    ]

    private static let standardReasons = [
        100: "Trying", 180: "Ringing", 181: "Call Is Being Forwarded", 182: "Queued", 183: "Session Progress",
        199: "Early Dialog Terminated", 200: "OK", 202: "Accepted", 204: "No Notification",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Moved Temporarily", 305: "Use Proxy",
        380: "Alternative Service",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 410: "Gone", 413: "Request Entity Too Large", 414: "Request-URI Too Long",
        415: "Unsupported Media Type", 416: "Unsupported URI Scheme", 420: "Bad Extension",
        421: "Extension Required", 422: "Session Interval Too Small", 423: "Interval Too Brief",
        433: "Anonymity Disallowed", 469: "Bad Info Package", 480: "Temporarily Unavailable",
        481: "Call/Transaction Does Not Exist",
        482: "Loop Detected", 483: "Too Many Hops", 484: "Address Incomplete", 485: "Ambiguous",
        486: "Busy Here", 487: "Request Terminated", 488: "Not Acceptable Here", 489: "Bad Event",
        491: "Request Pending", 493: "Undecipherable", 494: "Security Agreement Required",
        500: "Server Internal Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Server Time-out", 505: "Version Not Supported", 513: "Message Too Large",
        600: "Busy Everywhere", 603: "Decline", 604: "Does Not Exist Anywhere", 606: "Not Acceptable",
    ]
}
