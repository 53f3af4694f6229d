internal import OffhookBasics

/// Hears key presses in RFC 4733 packets: one press is one source, timestamp and event, however its packets come
/// (§2.5.1.2, §2.5.2.2).
struct TelephoneEventReceiver {
    private struct Press {
        var ssrc: SSRC
        var timestamp: RTPTimestamp
        var code: UInt8
        var duration: UInt16
        var hasEnded: Bool
    }

    private static let remembered = 8
    private static let largestCode: UInt8 = 16

    private var presses: [Press] = []

    /// The key, the first time that a press is heard of.
    mutating func receive(_ payload: RawSpan, ssrc: SSRC, timestamp: RTPTimestamp) -> TelephoneEvent? {
        var reader = ByteReader(payload)
        guard let code = reader.readUInt8(), let flags = reader.readUInt8(), let duration = reader.readUInt16(),
            code <= Self.largestCode
        else { return nil }
        let hasEnded = flags & 0x80 != 0
        if let known = presses.firstIndex(where: { $0.ssrc == ssrc && $0.code == code && $0.timestamp == timestamp }) {
            presses[known].duration = max(presses[known].duration, duration)
            presses[known].hasEnded = presses[known].hasEnded || hasEnded
            return nil
        }
        if let last = presses.last, last.ssrc == ssrc, last.code == code, !last.hasEnded, last.duration == .max,
            timestamp - last.timestamp == Int(UInt16.max)
        {
            // A press too long for one duration goes on in a segment of its own (§2.5.1.3).
            presses[presses.count - 1].timestamp = timestamp
            presses[presses.count - 1].duration = duration
            presses[presses.count - 1].hasEnded = hasEnded
            return nil
        }
        if presses.count == Self.remembered { presses.removeFirst() }
        presses.append(
            Press(ssrc: ssrc, timestamp: timestamp, code: code, duration: duration, hasEnded: hasEnded))
        return TelephoneEvent(code: code)
    }
}
