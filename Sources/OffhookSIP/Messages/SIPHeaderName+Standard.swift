extension SIPHeaderName {
    /// Names that RFCs define, in their spelling.
    enum Standard: String, CaseIterable {
        case accept = "Accept"
        case acceptContact = "Accept-Contact"
        case acceptEncoding = "Accept-Encoding"
        case acceptLanguage = "Accept-Language"
        case alertInfo = "Alert-Info"
        case allow = "Allow"
        case allowEvents = "Allow-Events"
        case authenticationInfo = "Authentication-Info"
        case authorization = "Authorization"
        case callID = "Call-ID"
        case callInfo = "Call-Info"
        case contact = "Contact"
        case contentDisposition = "Content-Disposition"
        case contentEncoding = "Content-Encoding"
        case contentLanguage = "Content-Language"
        case contentLength = "Content-Length"
        case contentType = "Content-Type"
        case cseq = "CSeq"
        case date = "Date"
        case errorInfo = "Error-Info"
        case event = "Event"
        case expires = "Expires"
        case from = "From"
        case historyInfo = "History-Info"
        case identity = "Identity"
        case identityInfo = "Identity-Info"
        case inReplyTo = "In-Reply-To"
        case maxForwards = "Max-Forwards"
        case mimeVersion = "MIME-Version"
        case minExpires = "Min-Expires"
        case minSE = "Min-SE"
        case organization = "Organization"
        case pAssertedIdentity = "P-Asserted-Identity"
        case pPreferredIdentity = "P-Preferred-Identity"
        case path = "Path"
        case priority = "Priority"
        case privacy = "Privacy"
        case proxyAuthenticate = "Proxy-Authenticate"
        case proxyAuthorization = "Proxy-Authorization"
        case proxyRequire = "Proxy-Require"
        case rAck = "RAck"
        case rSeq = "RSeq"
        case reason = "Reason"
        case recordRoute = "Record-Route"
        case referSub = "Refer-Sub"
        case referTo = "Refer-To"
        case referredBy = "Referred-By"
        case rejectContact = "Reject-Contact"
        case replaces = "Replaces"
        case replyTo = "Reply-To"
        case requestDisposition = "Request-Disposition"
        case require = "Require"
        case retryAfter = "Retry-After"
        case route = "Route"
        case server = "Server"
        case serviceRoute = "Service-Route"
        case sessionExpires = "Session-Expires"
        case sipETag = "SIP-ETag"
        case sipIfMatch = "SIP-If-Match"
        case subject = "Subject"
        case subscriptionState = "Subscription-State"
        case supported = "Supported"
        case timestamp = "Timestamp"
        case to = "To"
        case unsupported = "Unsupported"
        case userAgent = "User-Agent"
        case via = "Via"
        case warning = "Warning"
        case wwwAuthenticate = "WWW-Authenticate"

        /// The one-letter form (RFC 3261 §7.3.3 and the RFC of each later field).
        var compactForm: Character? {
            switch self {
            case .acceptContact: "a"
            case .referredBy: "b"
            case .contentType: "c"
            case .requestDisposition: "d"
            case .contentEncoding: "e"
            case .from: "f"
            case .callID: "i"
            case .rejectContact: "j"
            case .supported: "k"
            case .contentLength: "l"
            case .contact: "m"
            case .identityInfo: "n"
            case .event: "o"
            case .referTo: "r"
            case .subject: "s"
            case .to: "t"
            case .allowEvents: "u"
            case .via: "v"
            case .sessionExpires: "x"
            case .identity: "y"
            default: nil
            }
        }
    }
}

extension SIPHeaderName {
    package static var accept: SIPHeaderName { SIPHeaderName(standard: .accept) }
    package static var acceptContact: SIPHeaderName { SIPHeaderName(standard: .acceptContact) }
    package static var acceptEncoding: SIPHeaderName { SIPHeaderName(standard: .acceptEncoding) }
    package static var acceptLanguage: SIPHeaderName { SIPHeaderName(standard: .acceptLanguage) }
    package static var alertInfo: SIPHeaderName { SIPHeaderName(standard: .alertInfo) }
    package static var allow: SIPHeaderName { SIPHeaderName(standard: .allow) }
    package static var allowEvents: SIPHeaderName { SIPHeaderName(standard: .allowEvents) }
    package static var authenticationInfo: SIPHeaderName { SIPHeaderName(standard: .authenticationInfo) }
    package static var authorization: SIPHeaderName { SIPHeaderName(standard: .authorization) }
    package static var callID: SIPHeaderName { SIPHeaderName(standard: .callID) }
    package static var callInfo: SIPHeaderName { SIPHeaderName(standard: .callInfo) }
    package static var contact: SIPHeaderName { SIPHeaderName(standard: .contact) }
    package static var contentDisposition: SIPHeaderName { SIPHeaderName(standard: .contentDisposition) }
    package static var contentEncoding: SIPHeaderName { SIPHeaderName(standard: .contentEncoding) }
    package static var contentLanguage: SIPHeaderName { SIPHeaderName(standard: .contentLanguage) }
    package static var contentLength: SIPHeaderName { SIPHeaderName(standard: .contentLength) }
    package static var contentType: SIPHeaderName { SIPHeaderName(standard: .contentType) }
    package static var cseq: SIPHeaderName { SIPHeaderName(standard: .cseq) }
    package static var date: SIPHeaderName { SIPHeaderName(standard: .date) }
    package static var errorInfo: SIPHeaderName { SIPHeaderName(standard: .errorInfo) }
    package static var event: SIPHeaderName { SIPHeaderName(standard: .event) }
    package static var expires: SIPHeaderName { SIPHeaderName(standard: .expires) }
    package static var from: SIPHeaderName { SIPHeaderName(standard: .from) }
    package static var historyInfo: SIPHeaderName { SIPHeaderName(standard: .historyInfo) }
    package static var identity: SIPHeaderName { SIPHeaderName(standard: .identity) }
    package static var identityInfo: SIPHeaderName { SIPHeaderName(standard: .identityInfo) }
    package static var inReplyTo: SIPHeaderName { SIPHeaderName(standard: .inReplyTo) }
    package static var maxForwards: SIPHeaderName { SIPHeaderName(standard: .maxForwards) }
    package static var mimeVersion: SIPHeaderName { SIPHeaderName(standard: .mimeVersion) }
    package static var minExpires: SIPHeaderName { SIPHeaderName(standard: .minExpires) }
    package static var minSE: SIPHeaderName { SIPHeaderName(standard: .minSE) }
    package static var organization: SIPHeaderName { SIPHeaderName(standard: .organization) }
    package static var pAssertedIdentity: SIPHeaderName { SIPHeaderName(standard: .pAssertedIdentity) }
    package static var pPreferredIdentity: SIPHeaderName { SIPHeaderName(standard: .pPreferredIdentity) }
    package static var path: SIPHeaderName { SIPHeaderName(standard: .path) }
    package static var priority: SIPHeaderName { SIPHeaderName(standard: .priority) }
    package static var privacy: SIPHeaderName { SIPHeaderName(standard: .privacy) }
    package static var proxyAuthenticate: SIPHeaderName { SIPHeaderName(standard: .proxyAuthenticate) }
    package static var proxyAuthorization: SIPHeaderName { SIPHeaderName(standard: .proxyAuthorization) }
    package static var proxyRequire: SIPHeaderName { SIPHeaderName(standard: .proxyRequire) }
    package static var rAck: SIPHeaderName { SIPHeaderName(standard: .rAck) }
    package static var rSeq: SIPHeaderName { SIPHeaderName(standard: .rSeq) }
    package static var reason: SIPHeaderName { SIPHeaderName(standard: .reason) }
    package static var recordRoute: SIPHeaderName { SIPHeaderName(standard: .recordRoute) }
    package static var referSub: SIPHeaderName { SIPHeaderName(standard: .referSub) }
    package static var referTo: SIPHeaderName { SIPHeaderName(standard: .referTo) }
    package static var referredBy: SIPHeaderName { SIPHeaderName(standard: .referredBy) }
    package static var rejectContact: SIPHeaderName { SIPHeaderName(standard: .rejectContact) }
    package static var replaces: SIPHeaderName { SIPHeaderName(standard: .replaces) }
    package static var replyTo: SIPHeaderName { SIPHeaderName(standard: .replyTo) }
    package static var requestDisposition: SIPHeaderName { SIPHeaderName(standard: .requestDisposition) }
    package static var require: SIPHeaderName { SIPHeaderName(standard: .require) }
    package static var retryAfter: SIPHeaderName { SIPHeaderName(standard: .retryAfter) }
    package static var route: SIPHeaderName { SIPHeaderName(standard: .route) }
    package static var server: SIPHeaderName { SIPHeaderName(standard: .server) }
    package static var serviceRoute: SIPHeaderName { SIPHeaderName(standard: .serviceRoute) }
    package static var sessionExpires: SIPHeaderName { SIPHeaderName(standard: .sessionExpires) }
    package static var sipETag: SIPHeaderName { SIPHeaderName(standard: .sipETag) }
    package static var sipIfMatch: SIPHeaderName { SIPHeaderName(standard: .sipIfMatch) }
    package static var subject: SIPHeaderName { SIPHeaderName(standard: .subject) }
    package static var subscriptionState: SIPHeaderName { SIPHeaderName(standard: .subscriptionState) }
    package static var supported: SIPHeaderName { SIPHeaderName(standard: .supported) }
    package static var timestamp: SIPHeaderName { SIPHeaderName(standard: .timestamp) }
    package static var to: SIPHeaderName { SIPHeaderName(standard: .to) }
    package static var unsupported: SIPHeaderName { SIPHeaderName(standard: .unsupported) }
    package static var userAgent: SIPHeaderName { SIPHeaderName(standard: .userAgent) }
    package static var via: SIPHeaderName { SIPHeaderName(standard: .via) }
    package static var warning: SIPHeaderName { SIPHeaderName(standard: .warning) }
    package static var wwwAuthenticate: SIPHeaderName { SIPHeaderName(standard: .wwwAuthenticate) }
}
