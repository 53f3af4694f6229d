/// Reads a request line or a status line (RFC 3261 §7.1, §7.2).
struct StartLineReader: ~Escapable {
    private let bytes: Span<UInt8>
    private let line: Range<Int>

    /// Blanks at the line's end are passed over (RFC 4475 §3.1.2.10 lets them be).
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ line: Range<Int>) {
        self.bytes = bytes
        var end = line.upperBound
        while end > line.lowerBound, bytes[end - 1].isBlank { end -= 1 }
        self.line = line.lowerBound..<end
    }

    func read(into head: inout MessageHead) {
        let first = firstBlank(from: line.lowerBound)
        let word = line.lowerBound..<first
        if word.count >= 4, bytes.matches("sip/", at: word.lowerBound..<word.lowerBound + 4) {
            readStatusLine(version: word, into: &head)
        } else {
            readRequestLine(method: word, into: &head)
        }
    }

    private func firstBlank(from start: Int) -> Int {
        var index = start
        while index < line.upperBound, !bytes[index].isBlank { index += 1 }
        return index
    }

    private func readStatusLine(version: Range<Int>, into head: inout MessageHead) {
        let digits = min(version.upperBound + 1, line.upperBound)
        let end = firstBlank(from: digits)
        guard bytes.matches("sip/2.0", at: version), end - digits == 3,
            let status = Int(bytes.text(digits..<end)), (100...699).contains(status)
        else { return head.note("Status line is unreadable") }
        let reason = bytes.text(min(end + 1, line.upperBound)..<line.upperBound)
        head.startLine = .response(status: status, reason: reason.onOneLine)
    }

    private func readRequestLine(method: Range<Int>, into head: inout MessageHead) {
        for index in method where !bytes[index].isToken { return head.note("Method is unreadable") }
        var versionStart = line.upperBound
        while versionStart > line.lowerBound, !bytes[versionStart - 1].isBlank { versionStart -= 1 }
        guard !method.isEmpty, versionStart > method.upperBound + 1 else {
            return head.note("Request line is unreadable")
        }
        let version = versionStart..<line.upperBound
        let target = method.upperBound + 1..<versionStart - 1
        let uri = URI(bytes, target)
        head.startLine = .request(
            SIPMethod(bytes.text(method)), uri ?? .other(bytes.text(target).onOneLine))
        if !bytes.matches("sip/2.0", at: version) {
            let isSIP = version.count > 4 && bytes.matches("sip/", at: version.lowerBound..<version.lowerBound + 4)
            head.note("Version is not SIP/2.0", status: isSIP ? 505 : 400)
        }
        if uri == nil { head.note("Request-URI is unreadable") }
    }
}
