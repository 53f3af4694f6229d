/// The codecs that audio payloads are in.
package enum AudioCodec: Hashable, Sendable, CaseIterable {
    /// Opus (RFC 6716, RFC 7587).
    case opus
    /// G.711 µ-law, PCMU (RFC 3551 §4.5.14).
    case muLaw
    /// G.711 A-law, PCMA (RFC 3551 §4.5.14).
    case aLaw

    /// Samples a second that the codec works with here.
    package var sampleRate: Int { self == .opus ? 48000 : 8000 }

    /// Ticks a second of RTP timestamps; for Opus whatever the channels and the bandwidth (RFC 7587 §4.1).
    package var clockRate: Int { self == .opus ? 48000 : 8000 }
}
