enum SIPMessageParser {
    static func parse(_ bytes: RawSpan) throws(SIPParseError) -> SIPMessage { throw SIPParseError("unread") }
}
enum SIPMessageWriter {
    static func write(startLine: String, headers: SIPHeaders, body: [UInt8]) -> [UInt8] { [] }
}
enum MultipartBody {
    static func body(ofType type: String, in body: [UInt8], contentType: MediaType?) -> [UInt8]? { nil }
}
enum CommaList {
    static func split(_ text: String) -> [String] { [text] }
    static func first(_ text: String) -> String? { text }
}
enum HeaderNumber {
    static func clamped(_ text: String) -> UInt32? { UInt32(text) }
    static func leading(_ text: String) -> UInt32? { UInt32(text) }
    static func exact(_ text: String) -> UInt32? { UInt32(text) }
}
enum PercentEscaping {
    enum Part { case user }
    static func escape(_ text: String, for part: Part) -> String { text }
    static func unescape(_ text: String) -> String { text }
}
extension URI { package init?(parsing text: String) { nil } }
extension SIPURI {
    package init?(parsing text: String) { nil }
}
extension SIPURI: Equatable {
    /// Whether both mean the same (RFC 3261 §19.1.4); not transitive.
    package static func == (left: SIPURI, right: SIPURI) -> Bool { left.description == right.description }
}
extension NameAddress { package init?(parsing text: String) { nil } }
extension Via { package init?(parsing text: String) { nil } }
extension CSeq { package init?(parsing text: String) { nil } }
extension RAck { package init?(parsing text: String) { nil } }
extension SessionExpires { package init?(parsing text: String) { nil } }
extension MediaType { package init?(parsing text: String) { nil } }
extension TokenValue { package init?(parsing text: String) { nil } }
extension Replaces { package init?(parsing text: String) { nil } }
extension SIPReason { package init?(parsing text: String) { nil } }
extension AuthenticationValue { package static func list(parsing text: String) -> [AuthenticationValue] { [] } }
