/// `a=rtpmap`: what a payload type number stands for (RFC 8866 §6.6).
package struct RTPMapAttribute: Hashable, Sendable {
    package var payloadType: UInt8
    /// As written; names ignore case (RFC 4855 §3).
    package var encodingName: String
    package var clockRate: UInt32
    /// 1 where the line says nothing.
    package var channels: Int

    package init(payloadType: UInt8, encodingName: String, clockRate: UInt32, channels: Int = 1) {
        self.payloadType = payloadType
        self.encodingName = encodingName
        self.clockRate = clockRate
        self.channels = channels
    }

    init?(parsing text: Substring) {
        guard let (number, rest) = text.firstField(), let payloadType = number.number(UInt8.self), payloadType < 128
        else { return nil }
        let parts = rest.parts(separatedBy: "/")
        guard parts.count >= 2, !parts[0].isEmpty, let clockRate = parts[1].trimmed.number(UInt32.self) else {
            return nil
        }
        var channels = 1
        if parts.count > 2, let number = parts[2].trimmed.number(Int.self), number > 0 { channels = number }
        self.init(
            payloadType: payloadType, encodingName: String(parts[0]), clockRate: clockRate, channels: channels)
    }

    package var text: String {
        "\(payloadType) \(encodingName)/\(clockRate)" + (channels == 1 ? "" : "/\(channels)")
    }

    /// What RFC 3551 §6 has bound a number to, for streams that give no rtpmap.
    package static func ofStaticPayloadType(_ number: UInt8) -> RTPMapAttribute? {
        let known: (String, UInt32, Int)? =
            switch number {
            case 0: ("PCMU", 8000, 1)
            case 3: ("GSM", 8000, 1)
            case 4: ("G723", 8000, 1)
            case 5: ("DVI4", 8000, 1)
            case 6: ("DVI4", 16000, 1)
            case 7: ("LPC", 8000, 1)
            case 8: ("PCMA", 8000, 1)
            case 9: ("G722", 8000, 1)
            case 10: ("L16", 44100, 2)
            case 11: ("L16", 44100, 1)
            case 12: ("QCELP", 8000, 1)
            case 13: ("CN", 8000, 1)
            case 14: ("MPA", 90000, 1)
            case 15: ("G728", 8000, 1)
            case 16: ("DVI4", 11025, 1)
            case 17: ("DVI4", 22050, 1)
            case 18: ("G729", 8000, 1)
            case 25: ("CelB", 90000, 1)
            case 26: ("JPEG", 90000, 1)
            case 28: ("nv", 90000, 1)
            case 31: ("H261", 90000, 1)
            case 32: ("MPV", 90000, 1)
            case 33: ("MP2T", 90000, 1)
            case 34: ("H263", 90000, 1)
            default: nil
            }
        return known.map { name, clock, channels in
            RTPMapAttribute(payloadType: number, encodingName: name, clockRate: clock, channels: channels)
        }
    }
}
