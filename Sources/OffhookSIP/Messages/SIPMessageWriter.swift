/// Prints messages.
enum SIPMessageWriter {
    static func write(startLine: String, headers: SIPHeaders, body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 + headers.fields.count * 64 + body.count)
        bytes.append(contentsOf: startLine.onOneLine.utf8)
        for field in headers.fields where field.name != .contentLength {
            append(field.name.text, field.value, to: &bytes)
        }
        append("Content-Length", "\(body.count)", to: &bytes)
        bytes.append(contentsOf: [0x0D, 0x0A, 0x0D, 0x0A])
        bytes.append(contentsOf: body)
        return bytes
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes.append(0x0D)
        bytes.append(0x0A)
        bytes.append(contentsOf: name.utf8)
        bytes.append(Character8.colon)
        bytes.append(Character8.space)
        bytes.append(contentsOf: value.utf8)
    }
}
