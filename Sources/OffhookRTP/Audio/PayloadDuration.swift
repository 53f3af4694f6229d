internal import OffhookBasics

/// How long audio payloads play.
package enum PayloadDuration {
    /// In units of the codec's RTP clock; nil where the payload does not tell.
    package static func units(of payload: RawSpan, codec: PayloadFormat.Codec) -> Int? {
        switch codec {
        case .opus: opus(payload)
        case .pcmu, .pcma: payload.byteCount
        case .otherAudio, .vp8, .telephoneEvent, .comfortNoise, .retransmission: nil
        }
    }

    /// RFC 6716 §3.1 and §3.2, at 48000 units a second; at most 120 ms.
    private static func opus(_ payload: RawSpan) -> Int? {
        guard payload.byteCount > 0 else { return nil }
        let head = payload.loadByte(at: 0)
        let configuration = Int(head >> 3)
        let frame =
            switch configuration {
            case 0..<12: [480, 960, 1920, 2880][configuration & 3]
            case 12..<16: [480, 960][configuration & 1]
            default: 120 << (configuration & 3)
            }
        let count: Int
        switch head & 3 {
        case 0: count = 1
        case 1, 2: count = 2
        default:
            guard payload.byteCount > 1 else { return nil }
            count = Int(payload.loadByte(at: 1) & 0x3F)
        }
        let units = frame * count
        return (1...5760).contains(units) ? units : nil
    }
}
