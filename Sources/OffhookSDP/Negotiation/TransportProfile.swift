/// The profiles of RTP that this package speaks.
struct TransportProfile: Hashable, Sendable {
    /// SAVP(F): media must be secured.
    var isSecure: Bool
    /// UDP/TLS before it: keys come from DTLS (RFC 5764 §9).
    var isDTLS: Bool
    /// The F at the end (RFC 4585).
    var hasFeedback: Bool

    /// nil for anything else.
    init?(_ name: String) {
        switch name.lowercasedASCII {
        case "rtp/avp": self.init(isSecure: false, isDTLS: false, hasFeedback: false)
        case "rtp/avpf": self.init(isSecure: false, isDTLS: false, hasFeedback: true)
        case "rtp/savp": self.init(isSecure: true, isDTLS: false, hasFeedback: false)
        case "rtp/savpf": self.init(isSecure: true, isDTLS: false, hasFeedback: true)
        case "udp/tls/rtp/savp": self.init(isSecure: true, isDTLS: true, hasFeedback: false)
        case "udp/tls/rtp/savpf": self.init(isSecure: true, isDTLS: true, hasFeedback: true)
        default: return nil
        }
    }

    init(isSecure: Bool, isDTLS: Bool, hasFeedback: Bool) {
        self.isSecure = isSecure
        self.isDTLS = isDTLS
        self.hasFeedback = hasFeedback
    }

    /// What our offers say under a policy.
    ///
    /// DTLS always says SAVPF, which RFC 8826 §4 and browsers want and telephones take.
    init(offering policy: MediaSecurityPolicy, hasFeedback: Bool) {
        switch policy {
        case .off, .bestEffort: self.init(isSecure: false, isDTLS: false, hasFeedback: hasFeedback)
        case .sdes: self.init(isSecure: true, isDTLS: false, hasFeedback: hasFeedback)
        case .dtls: self.init(isSecure: true, isDTLS: true, hasFeedback: true)
        }
    }

    var name: String {
        (isDTLS ? "UDP/TLS/RTP/" : "RTP/") + (isSecure ? "S" : "") + "AVP" + (hasFeedback ? "F" : "")
    }
}
