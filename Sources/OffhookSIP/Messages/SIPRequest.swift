/// A request (RFC 3261 §7.1).
package struct SIPRequest: Equatable, Sendable {
    package var method: SIPMethod
    package var uri: URI
    package var headers: SIPHeaders
    package var body: [UInt8]

    package init(method: SIPMethod, uri: URI, headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.method = method
        self.uri = uri
        self.headers = headers
        self.body = body
    }

    /// The request as sent; Content-Length always fits the body.
    package func write() -> [UInt8] {
        SIPMessageWriter.write(startLine: "\(method.name) \(uri) SIP/2.0", headers: headers, body: body)
    }

    /// The body itself or the part of a multipart body that has this type, such as `application/sdp` (RFC 5621 §3.1).
    package func body(ofType type: String) -> [UInt8]? {
        MultipartBody.body(ofType: type, in: body, contentType: headers.contentType)
    }
}
