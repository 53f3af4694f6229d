/// How far media must be secured.
package enum MediaSecurityPolicy: String, Hashable, Sendable, CaseIterable {
    /// RTP/AVP(F) alone. Keys in the description are passed over, secure profiles are refused.
    case off
    /// Secured where the peer can. Our offers are RTP/AVP with keys beside (RFC 8643), and so are answered either way;
    /// offers of a secure profile are taken if their keys can be used.
    ///
    /// RFC 4568 §3.1.1 wants SAVP for `a=crypto`; RFC 8643 and baresip bend that, and we with them under this policy.
    case bestEffort = "best"
    /// SRTP with keys in the description, or no stream.
    case sdes
    /// SRTP with keys from DTLS, or no stream.
    case dtls

    var allowsPlain: Bool { self == .off || self == .bestEffort }
    var allowsSDES: Bool { self == .sdes || self == .bestEffort }
    var allowsDTLS: Bool { self == .dtls || self == .bestEffort }
}

/// What this side can do, for all sessions alike.
package struct MediaCapabilities: Hashable, Sendable {
    /// In order of preference.
    package var audio: [CodecCapability] = [.opus, .pcmu, .pcma]
    /// In order of preference.
    package var video: [CodecCapability] = [.vp8]
    /// Whether digits go and come as RFC 4733 events.
    package var hasTelephoneEvents = true
    package var security: MediaSecurityPolicy = .bestEffort
    /// Whether keys from DTLS can be had at all.
    package var hasDTLS = false
    /// The hash functions that certificates can be verified with (RFC 8122 §5, which forbids MD2 and MD5).
    package var fingerprintHashes = ["sha-1", "sha-224", "sha-256", "sha-384", "sha-512"]
    /// In order of preference; our offers give them tags from 1 up.
    package var cryptoSuites: [SDESSuite] = [
        .aeadAES128GCM, .aeadAES256GCM, .aesCM128SHA1Tag80, .aesCM128SHA1Tag32,
    ]
    /// Whether keys with a master key identifier can be used; without it such lines count as not understood.
    package var canUseKeyIdentifiers = false
    package var hasRTCPMux = true
    /// Whether reduced-size RTCP can be sent and read (RFC 5506).
    package var hasReducedSizeRTCP = false
    package var videoFeedback: RTCPFeedback = [.nack, .pictureLoss, .fullIntra]
    package var audioFeedback: RTCPFeedback = []
    /// Whether our offers say AVPF rather than AVP with `a=rtcp-fb` beside, which older peers take more often.
    package var offersFeedbackProfile = false
    /// Whether video packets are repeated on a stream of their own (RFC 4588).
    package var hasRetransmission = false
    /// URIs of the RTP header extensions we know.
    package var audioExtensions: [String] = []
    package var videoExtensions: [String] = []
    /// Likewise, for those that are answered and not offered.
    package var answeredExtensions: [String] = []
    /// Whether streams can share a transport (RFC 9143).
    package var canBundle = false
    /// Whether addresses of these families can be sent to.
    package var canSendVersion4 = true
    package var canSendVersion6 = true
    /// Whether answers list codecs in our order rather than the offer's (RFC 3264 §6.1 recommends the offer's).
    package var prefersOwnCodecOrder = false
    /// `a=ptime` that we write, in milliseconds.
    package var packetTime: Int? = 20
    /// `b=TIAS` and `b=AS` on our video lines, bit/s: what we want to be sent at most.
    package var videoBandwidth: Int?

    package init() {}

    /// Whether the certificate that a description vouches for can be verified.
    func canVerify(_ dtls: DTLSDescription) -> Bool {
        dtls.fingerprints.contains { fingerprintHashes.contains($0.hash) }
    }
}
