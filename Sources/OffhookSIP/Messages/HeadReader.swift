/// Reads a start line and header fields up to the empty line.
///
/// Takes LF alone for a line end, passes over line ends before the start line (RFC 3261 §7.5), unfolds lines (§7.3.1),
/// and leaves out lines that are no header field: what is optional must not make a message fail.
struct HeadReader: ~Escapable {
    private let bytes: Span<UInt8>
    /// Where reading stopped: at the body.
    private(set) var offset = 0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    mutating func read() -> MessageHead {
        var head = MessageHead()
        while offset < bytes.count, bytes[offset] == Character8.carriageReturn || bytes[offset] == Character8.lineFeed {
            offset += 1
        }
        StartLineReader(bytes, takeLine()).read(into: &head)
        head.headers.reserve(24)
        while readField(into: &head) {}
        head.check()
        return head
    }

    /// Reads the header fields of a body's part; an empty first line says that there are none.
    mutating func readPartHeaders() -> SIPHeaders {
        var head = MessageHead()
        while readField(into: &head) {}
        return head.headers
    }

    /// The line at hand without its end.
    private mutating func takeLine() -> Range<Int> {
        let start = offset
        while offset < bytes.count, bytes[offset] != Character8.lineFeed { offset += 1 }
        var end = offset
        if offset < bytes.count { offset += 1 }
        if end > start, bytes[end - 1] == Character8.carriageReturn { end -= 1 }
        return start..<end
    }

    /// Reads a field; false at the empty line or the end of all bytes.
    ///
    /// Where the bytes end with a whole line, the empty line may be missing: RFC 5118's own archive has such a message.
    private mutating func readField(into head: inout MessageHead) -> Bool {
        guard offset < bytes.count else {
            if offset == 0 || bytes[offset - 1] != Character8.lineFeed { head.note("The header has no end") }
            return false
        }
        if takeEmptyLine() { return false }
        let nameStart = offset
        while offset < bytes.count, bytes[offset].isToken { offset += 1 }
        let name = nameStart..<offset
        while offset < bytes.count, bytes[offset].isBlank { offset += 1 }
        let hasColon = offset < bytes.count && bytes[offset] == Character8.colon
        if hasColon { offset += 1 }
        let value = takeValue()
        if hasColon, !name.isEmpty { keep(name, value, in: &head) }
        return true
    }

    private mutating func takeEmptyLine() -> Bool {
        if bytes[offset] == Character8.lineFeed {
            offset += 1
            return true
        }
        guard bytes[offset] == Character8.carriageReturn, offset + 1 < bytes.count,
            bytes[offset + 1] == Character8.lineFeed
        else { return false }
        offset += 2
        return true
    }

    private mutating func keep(_ name: Range<Int>, _ value: Value, in head: inout MessageHead) {
        let text = value.isPlain ? bytes.text(value.range) : unfolded(value.range)
        let name = StandardNames.name(for: bytes, name) ?? SIPHeaderName(other: bytes.text(name))
        if name == .contentLength {
            head.noteContentLength(text)
        } else {
            head.headers.append(.init(name: name, line: text))
        }
    }

    private struct Value {
        /// Without blanks around it.
        var range: Range<Int>
        var isFolded = false
        var hasCarriageReturn = false
        var isPlain: Bool { !isFolded && !hasCarriageReturn }
    }

    /// The value at hand with the lines that continue it; moves past its last line end.
    private mutating func takeValue() -> Value {
        while offset < bytes.count, bytes[offset].isBlank { offset += 1 }
        var value = Value(range: offset..<offset)
        var end = offset
        var carriageReturns = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == Character8.lineFeed {
                if offset < bytes.count, bytes[offset].isBlank {
                    value.isFolded = true
                } else {
                    break
                }
            } else if byte == Character8.carriageReturn {
                carriageReturns += 1
            } else if !byte.isBlank {
                end = offset
                // A carriage return that text follows is within the value.
                value.hasCarriageReturn = value.hasCarriageReturn || carriageReturns > 0
            }
        }
        value.range = min(value.range.lowerBound, end)..<end
        return value
    }

    /// One line of several: each line end, with the blanks about it, becomes one space.
    private func unfolded(_ range: Range<Int>) -> String {
        var line: [UInt8] = []
        line.reserveCapacity(range.count)
        var isBreak = false
        for index in range {
            let byte = bytes[index]
            if byte == Character8.lineFeed || byte == Character8.carriageReturn {
                isBreak = true
            } else if !isBreak || !byte.isBlank {
                if isBreak {
                    while line.last?.isBlank == true { line.removeLast() }
                    if !line.isEmpty { line.append(Character8.space) }
                    isBreak = false
                }
                line.append(byte)
            }
        }
        return line.span.text(0..<line.count)
    }
}
