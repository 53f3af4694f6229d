/// A response (RFC 3261 §7.2).
package struct SIPResponse: Equatable, Sendable {
    /// 100 to 699.
    package var status: Int
    package var reason: String
    package var headers: SIPHeaders
    package var body: [UInt8]

    package init(status: Int, reason: String, headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }

    /// The response as sent; Content-Length always fits the body.
    package func write() -> [UInt8] {
        SIPMessageWriter.write(startLine: "SIP/2.0 \(status) \(reason)", headers: headers, body: body)
    }

    /// The body itself or the part of a multipart body that has this type, such as `application/sdp` (RFC 5621 §3.1).
    package func body(ofType type: String) -> [UInt8]? {
        MultipartBody.body(ofType: type, in: body, contentType: headers.contentType)
    }
}
