/// The fields as values, read when asked for; nil or left out if missing or unreadable. Setting nil removes the field.
extension SIPHeaders {
    private func value<Value>(_ name: SIPHeaderName, _ read: (String) -> Value?) -> Value? {
        self[first: name].flatMap(read)
    }

    private func list<Value>(_ name: SIPHeaderName, _ read: (String) -> Value?) -> [Value] {
        values(name).compactMap(read)
    }

    private mutating func set(_ name: SIPHeaderName, _ value: (some CustomStringConvertible)?) {
        self[first: name] = value?.description
    }

    package var vias: [Via] {
        get { list(.via, Via.init(parsing:)) }
        set { replace(.via, with: newValue.map(\.description)) }
    }

    /// The first Via value, without reading the others; setting replaces it alone.
    package var topVia: Via? {
        get { self[first: .via].flatMap { CommaList.first($0) }.flatMap(Via.init(parsing:)) }
        set {
            removeFirstValue(.via)
            if let newValue { prepend(.via, newValue.description) }
        }
    }

    package var from: NameAddress? {
        get { value(.from, NameAddress.init(parsing:)) }
        set { set(.from, newValue) }
    }

    package var to: NameAddress? {
        get { value(.to, NameAddress.init(parsing:)) }
        set { set(.to, newValue) }
    }

    package var callID: String? {
        get { self[first: .callID] }
        set { self[first: .callID] = newValue }
    }

    package var cseq: CSeq? {
        get { value(.cseq, CSeq.init(parsing:)) }
        set { set(.cseq, newValue) }
    }

    /// Without a `*`, which ``hasWildcardContact`` tells.
    package var contacts: [NameAddress] {
        get { list(.contact, NameAddress.init(parsing:)) }
        set { replace(.contact, with: newValue.map(\.description)) }
    }

    /// Whether Contact is `*` (RFC 3261 §10.2.2).
    package var hasWildcardContact: Bool { self[first: .contact] == "*" }

    package var route: [NameAddress] {
        get { list(.route, NameAddress.init(parsing:)) }
        set { replace(.route, with: newValue.map(\.description)) }
    }

    package var recordRoute: [NameAddress] {
        get { list(.recordRoute, NameAddress.init(parsing:)) }
        set { replace(.recordRoute, with: newValue.map(\.description)) }
    }

    package var path: [NameAddress] { list(.path, NameAddress.init(parsing:)) }
    package var serviceRoute: [NameAddress] { list(.serviceRoute, NameAddress.init(parsing:)) }

    package var pAssertedIdentity: [NameAddress] { list(.pAssertedIdentity, NameAddress.init(parsing:)) }

    package var referTo: NameAddress? {
        get { value(.referTo, NameAddress.init(parsing:)) }
        set { set(.referTo, newValue) }
    }

    package var referredBy: NameAddress? {
        get { value(.referredBy, NameAddress.init(parsing:)) }
        set { set(.referredBy, newValue) }
    }

    /// Larger numbers read as 2^32 - 1 here and in the other fields that count seconds (RFC 3261 §20.19, RFC 4475
    /// §3.1.2.4).
    package var expires: UInt32? {
        get { value(.expires, HeaderNumber.clamped) }
        set { set(.expires, newValue) }
    }

    package var minExpires: UInt32? {
        get { value(.minExpires, HeaderNumber.clamped) }
        set { set(.minExpires, newValue) }
    }

    /// The seconds alone; a comment and parameters are left in the raw value.
    package var retryAfter: UInt32? {
        get { value(.retryAfter, HeaderNumber.leading) }
        set { set(.retryAfter, newValue) }
    }

    package var maxForwards: UInt32? {
        get { value(.maxForwards, HeaderNumber.clamped) }
        set { set(.maxForwards, newValue) }
    }

    package var rseq: UInt32? {
        get { value(.rSeq, HeaderNumber.exact) }
        set { set(.rSeq, newValue) }
    }

    package var rack: RAck? {
        get { value(.rAck, RAck.init(parsing:)) }
        set { set(.rAck, newValue) }
    }

    package var sessionExpires: SessionExpires? {
        get { value(.sessionExpires, SessionExpires.init(parsing:)) }
        set { set(.sessionExpires, newValue) }
    }

    package var minSE: UInt32? {
        get { value(.minSE, HeaderNumber.leading) }
        set { set(.minSE, newValue) }
    }

    package var contentType: MediaType? {
        get { value(.contentType, MediaType.init(parsing:)) }
        set { set(.contentType, newValue) }
    }

    package var contentDisposition: TokenValue? {
        get { value(.contentDisposition, TokenValue.init(parsing:)) }
        set { set(.contentDisposition, newValue) }
    }

    package var accept: [MediaType] { list(.accept, MediaType.init(parsing:)) }

    /// Option tags in lower case.
    package var supported: Set<String> {
        get { tokens(.supported) }
        set { setTokens(.supported, newValue) }
    }

    package var require: Set<String> {
        get { tokens(.require) }
        set { setTokens(.require, newValue) }
    }

    package var unsupported: Set<String> {
        get { tokens(.unsupported) }
        set { setTokens(.unsupported, newValue) }
    }

    package var allow: Set<SIPMethod> {
        get { Set(values(.allow).map { SIPMethod($0) }) }
        set { setTokens(.allow, Set(newValue.map(\.name))) }
    }

    /// Recv-Info: the INFO packages that the sender takes (RFC 6086 §8.1).
    package var infoPackages: [String] {
        get { values("Recv-Info").map { String($0.lowercased().prefix { $0 != ";" }) } }
        set { self[first: "Recv-Info"] = newValue.joined(separator: ", ") }
    }

    /// Info-Package: which package an INFO is of.
    package var infoPackage: String? {
        self[first: "Info-Package"].map { String($0.lowercased().prefix { $0 != ";" }) }
    }

    package var replaces: Replaces? {
        get { value(.replaces, Replaces.init(parsing:)) }
        set { set(.replaces, newValue) }
    }

    package var reasons: [SIPReason] {
        get { list(.reason, SIPReason.init(parsing:)) }
        set { replace(.reason, with: newValue.map(\.description)) }
    }

    package var event: TokenValue? {
        get { value(.event, TokenValue.init(parsing:)) }
        set { set(.event, newValue) }
    }

    package var subscriptionState: TokenValue? {
        get { value(.subscriptionState, TokenValue.init(parsing:)) }
        set { set(.subscriptionState, newValue) }
    }

    /// Raw, such as `<http://example.com/ring.wav>;info=alert-autoanswer`.
    package var alertInfo: [String] { values(.alertInfo) }

    package var date: String? {
        get { self[first: .date] }
        set { self[first: .date] = newValue }
    }

    /// Challenges of WWW-Authenticate or Proxy-Authenticate, one a line.
    package func challenges(_ name: SIPHeaderName = .wwwAuthenticate) -> [AuthenticationValue] {
        all(name).flatMap(AuthenticationValue.list(parsing:))
    }

    /// Credentials of Authorization or Proxy-Authorization, one a line.
    package func credentials(_ name: SIPHeaderName = .authorization) -> [AuthenticationValue] {
        all(name).flatMap(AuthenticationValue.list(parsing:))
    }

    private func tokens(_ name: SIPHeaderName) -> Set<String> {
        Set(values(name).map { $0.lowercased() })
    }

    private mutating func setTokens(_ name: SIPHeaderName, _ tokens: Set<String>) {
        self[first: name] = tokens.isEmpty ? nil : tokens.sorted().joined(separator: ", ")
    }
}
