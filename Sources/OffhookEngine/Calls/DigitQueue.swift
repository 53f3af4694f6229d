internal import OffhookRTP
internal import OffhookSIP

/// Key presses that wait to be sent as INFO, one request at a time, to a far end that takes no RFC 4733 events.
struct DigitQueue {
    var waiting: [TelephoneEvent] = []
    var request: RequestID?
    var token: CommandToken?

    /// The body of the next press: what most equipment that wants INFO reads.
    mutating func next() -> MessageBody? {
        guard !waiting.isEmpty, let key = waiting.removeFirst().key else { return nil }
        return MessageBody(
            contentType: "application/dtmf-relay", bytes: Array("Signal=\(key)\r\nDuration=160\r\n".utf8))
    }

    /// The key that an INFO of the far end tells of; nil where it tells of none.
    static func key(in request: SIPRequest) -> Character? {
        let text = { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) }
        if let body = request.body(ofType: "application/dtmf-relay") {
            for line in text(body).split(whereSeparator: \.isNewline) {
                let parts = line.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].trimmingSpaces.lowercased() == "signal" else { continue }
                return key(parts[1].trimmingSpaces)
            }
        }
        return request.body(ofType: "application/dtmf").flatMap {
            key(text($0).filter { !$0.isNewline }[...].trimmingSpaces)
        }
    }

    /// Some equipment writes `*` and `#` as 10 and 11.
    private static func key(_ text: Substring) -> Character? {
        if let code = UInt8(text), code >= 10 { return TelephoneEvent(code: code).key }
        guard text.count == 1, let character = text.first else { return nil }
        return TelephoneEvent(key: character)?.key
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        drop { $0 == " " || $0 == "\t" }.reversedDroppingSpaces
    }

    private var reversedDroppingSpaces: Substring {
        var rest = self
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
