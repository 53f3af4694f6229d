/// Takes out of a message what must not stand in a file that people send around.
enum TraceRedaction {
    /// The message as text: credentials and media keys are replaced.
    static func withoutCredentials(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).map { line -> Substring in
            let lowered = line.prefix(24).lowercased()
            if lowered.hasPrefix("authorization:") || lowered.hasPrefix("proxy-authorization:") {
                return line.prefix { $0 != ":" } + ": (removed)"
            }
            if lowered.hasPrefix("a=crypto:"), let inline = line.range(of: "inline:") {
                return line[..<inline.upperBound] + "(removed)"
            }
            if lowered.hasPrefix("a=ice-pwd:") { return "a=ice-pwd:(removed)" }
            return line
        }
        return lines.joined(separator: "\r\n")
    }
}

extension Substring {
    fileprivate func range(of word: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(word) { return start..<index(start, offsetBy: word.count) }
            start = index(after: start)
        }
        return nil
    }
}
