/// Cuts a byte stream into messages and keep-alives (RFC 3261 §7.5, §18.3; RFC 5626 §4.4.1).
///
/// Feed it with ``receive(_:)`` in any portions, then call ``next()`` until it gives nil. An error is the stream's
/// end: the position of the next message is lost and the connection must be closed.
package struct SIPStreamFramer: Sendable {
    package struct Limits: Sendable {
        /// The longest start line and header together, in bytes.
        package var headerBytes = 64 << 10
        package var bodyBytes = 1 << 20

        package init() {}
    }

    package enum Output: Equatable, Sendable {
        case message(SIPMessage)
        /// A message that is wrong though its length is clear: answer its rejection, if there is one, and go on.
        case malformed(SIPParseError)
        /// CRLF CRLF: answer with one CRLF.
        case ping
        /// The CRLF that answers a ping of ours.
        case pong
    }

    private enum State: Sendable {
        /// No byte of a message yet; `isHalfPing` after one CRLF that answers nothing.
        case idle(isHalfPing: Bool)
        /// In a header whose end is not before `searched`.
        case header(searched: Int)
        /// Waiting for the body of a header that has been read.
        case body(MessageHead, length: Int)
        case failed(SIPStreamError)
    }

    package let limits: Limits
    private var state = State.idle(isHalfPing: false)
    private var openPings = 0
    private var buffer: [UInt8] = []
    /// Where the bytes begin that have not been given out.
    private var start = 0

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Tells that a CRLF CRLF was sent, so that the next lone CRLF is its answer.
    package mutating func didSendPing() {
        openPings += 1
    }

    package mutating func receive(_ bytes: RawSpan) {
        if case .failed = state { return }
        forgetSpentBytes()
        // The buffer lives only within this call.
        bytes.withUnsafeBytes { buffer.append(contentsOf: $0) }
    }

    package mutating func receive(_ bytes: [UInt8]) {
        receive(bytes.span.bytes)
    }

    /// The next whole thing in the stream, or nil until more bytes come.
    ///
    /// After an error every call throws it again.
    package mutating func next() throws(SIPStreamError) -> Output? {
        while true {
            switch state {
            case .failed(let error):
                throw error
            case .idle(let isHalfPing):
                if let keepAlive = skipLineEnds(isHalfPing: isHalfPing) { return keepAlive }
                if case .idle = state { return nil }
            case .header(let searched):
                guard try readHeader(from: searched) else { return nil }
            case .body(let head, let length):
                guard buffer.count - start >= length else { return nil }
                let body = Array(buffer[start..<start + length])
                start += length
                state = .idle(isHalfPing: false)
                return output(head, body)
            }
        }
    }

    private func output(_ head: MessageHead, _ body: [UInt8]) -> Output {
        do {
            return .message(try head.message(body: body))
        } catch {
            return .malformed(error)
        }
    }

    /// Takes line ends before a message; a keep-alive if they make one up.
    private mutating func skipLineEnds(isHalfPing: Bool) -> Output? {
        var isHalfPing = isHalfPing
        while start < buffer.count {
            switch buffer[start] {
            case Character8.carriageReturn:
                guard start + 1 < buffer.count else {
                    state = .idle(isHalfPing: isHalfPing)
                    return nil
                }
                guard buffer[start + 1] == Character8.lineFeed else {
                    start += 1
                    continue
                }
                start += 2
                if openPings > 0 {
                    openPings -= 1
                    state = .idle(isHalfPing: false)
                    return .pong
                }
                isHalfPing.toggle()
                if !isHalfPing {
                    state = .idle(isHalfPing: false)
                    return .ping
                }
            case Character8.lineFeed:
                start += 1
            default:
                state = .header(searched: start)
                return nil
            }
        }
        state = .idle(isHalfPing: isHalfPing)
        return nil
    }

    /// Reads the header if its end is there; false if not.
    private mutating func readHeader(from searched: Int) throws(SIPStreamError) -> Bool {
        var index = searched
        let last = min(buffer.count, start + limits.headerBytes)
        while index < last {
            if buffer[index] == Character8.lineFeed {
                guard let end = endOfEmptyLine(after: index, before: last) else { break }
                if end > index {
                    try useHeader(upTo: end)
                    return true
                }
            }
            index += 1
        }
        if buffer.count - start >= limits.headerBytes {
            throw fail(.headerTooLong, head(upTo: last), status: 513)
        }
        state = .header(searched: index)
        return false
    }

    /// The end of the empty line that starts behind `index`; `index` itself if that line is not empty, nil if that
    /// cannot be told yet.
    private func endOfEmptyLine(after index: Int, before last: Int) -> Int? {
        guard index + 1 < last else { return nil }
        if buffer[index + 1] == Character8.lineFeed { return index + 2 }
        guard buffer[index + 1] == Character8.carriageReturn else { return index }
        guard index + 2 < last else { return nil }
        return buffer[index + 2] == Character8.lineFeed ? index + 3 : index
    }

    private func head(upTo end: Int) -> MessageHead {
        var reader = HeadReader(buffer.span.extracting(start..<end))
        return reader.read()
    }

    private mutating func useHeader(upTo end: Int) throws(SIPStreamError) {
        let head = head(upTo: end)
        switch head.contentLength {
        case .missing: throw fail(.noContentLength, head, status: 400)
        case .invalid: throw fail(.badContentLength, head, status: 400)
        case .bytes(let length):
            guard length <= limits.bodyBytes else { throw fail(.bodyTooLong, head, status: 413) }
            start = end
            state = .body(head, length: length)
        }
    }

    private mutating func fail(_ cause: SIPStreamError.Cause, _ head: MessageHead, status: Int) -> SIPStreamError {
        let error = SIPStreamError(cause, rejection: head.rejection(status: status))
        state = .failed(error)
        buffer = []
        start = 0
        return error
    }

    /// Drops bytes given out once they are the larger half, so that each byte is moved about once.
    private mutating func forgetSpentBytes() {
        guard start > 0, start >= buffer.count / 2 else { return }
        buffer.removeSubrange(0..<start)
        if case .header(let searched) = state { state = .header(searched: searched - start) }
        start = 0
    }
}
