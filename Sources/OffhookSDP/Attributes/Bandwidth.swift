/// A `b=` line (RFC 8866 §5.8).
package struct Bandwidth: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The whole conference, kbit/s.
        case conferenceTotal
        /// `AS`: one application, kbit/s with all overhead from IP up.
        case applicationSpecific
        /// `TIAS`: bit/s of the payload format, without overhead (RFC 3890).
        case transportIndependent
        /// `RS`: RTCP of senders, bit/s (RFC 3556).
        case rtcpSender
        /// `RR`: RTCP of receivers, bit/s (RFC 3556).
        case rtcpReceiver
        case other(String)
    }

    package var kind: Kind
    /// The number in the unit of its kind.
    package var value: Int

    package init(_ kind: Kind, _ value: Int) {
        self.kind = kind
        self.value = value
    }

    /// Reads what follows `b=`.
    init?(parsing text: Substring) {
        let (name, value) = text.trimmed.cut(at: ":")
        guard !name.isEmpty, let value = value?.trimmed.number(Int.self) else { return nil }
        self.value = value
        kind =
            switch name {
            case "CT": .conferenceTotal
            case "AS": .applicationSpecific
            case "TIAS": .transportIndependent
            case "RS": .rtcpSender
            case "RR": .rtcpReceiver
            default: .other(String(name))
            }
    }

    package var text: String {
        let name =
            switch kind {
            case .conferenceTotal: "CT"
            case .applicationSpecific: "AS"
            case .transportIndependent: "TIAS"
            case .rtcpSender: "RS"
            case .rtcpReceiver: "RR"
            case .other(let name): name
            }
        return "\(name):\(value)"
    }
}
