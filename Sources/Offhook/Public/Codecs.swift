/// A way to code sound. More may be added.
public struct AudioCodec: RawRepresentable, Hashable, Sendable {
    /// The name by which SDP knows it, in lower case.
    public let rawValue: String

    /// Makes a codec of its SDP name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Opus (RFC 7587), 48 kHz, with in-band error correction.
    public static let opus = AudioCodec(rawValue: "opus")
    /// G.711 μ-law, 8 kHz.
    public static let pcmu = AudioCodec(rawValue: "pcmu")
    /// G.711 A-law, 8 kHz.
    public static let pcma = AudioCodec(rawValue: "pcma")
    /// All that this build has, best first.
    public static let all: [AudioCodec] = [.opus, .pcmu, .pcma]
}

/// A way to code pictures. More may be added.
public struct VideoCodec: RawRepresentable, Hashable, Sendable {
    /// The name by which SDP knows it, in lower case.
    public let rawValue: String

    /// Makes a codec of its SDP name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// VP8 (RFC 7741).
    public static let vp8 = VideoCodec(rawValue: "vp8")
    /// All that this build has, best first.
    public static let all: [VideoCodec] = [.vp8]
}

/// Whether and how media is encrypted.
public enum SRTPPolicy: String, Hashable, Sendable, CaseIterable {
    /// Plain RTP only.
    case off
    /// SRTP with keys in the session description (RFC 4568), or no call.
    case sdes
    /// SRTP with keys from DTLS (RFC 5764), or no call.
    case dtls
    /// The best the far end has: what an offer brings is answered, and offers can be answered without encryption.
    case best
}
