internal import OffhookBasics

/// Reads messages from bytes, each byte once.
enum SIPMessageParser {
    /// Reads a datagram (RFC 3261 §18.3).
    static func parse(_ datagram: RawSpan) throws(SIPParseError) -> SIPMessage {
        var reader = HeadReader(Span(_bytes: datagram))
        var head = reader.read()
        let rest = datagram.byteCount - reader.offset
        var length = rest
        if case .bytes(let promised) = head.contentLength {
            if promised > rest { head.note("The body is shorter than Content-Length") }
            length = min(promised, rest)
        }
        return try head.message(body: bytes(datagram, reader.offset..<reader.offset + length))
    }

    static func bytes(_ span: RawSpan, _ range: Range<Int>) -> [UInt8] {
        // The buffer lives only within this call.
        span.extracting(range).withUnsafeBytes { [UInt8]($0) }
    }
}
