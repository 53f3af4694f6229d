internal import CSRTP

/// How media packets are encrypted and authenticated.
package enum SRTPSuite: Hashable, Sendable, CaseIterable {
    /// AEAD_AES_128_GCM (RFC 7714), the cheapest of all here.
    case aeadAES128GCM
    /// AEAD_AES_256_GCM (RFC 7714).
    case aeadAES256GCM
    /// AES_CM_128_HMAC_SHA1_80 (RFC 4568 §6.2), which every peer has.
    case aesCM128HMACSHA1Tag80
    /// AES_CM_128_HMAC_SHA1_32 (RFC 4568 §6.2). Its RTCP packets have the 80-bit tag.
    case aesCM128HMACSHA1Tag32
    /// AES_256_CM_HMAC_SHA1_80 (RFC 6188 §4).
    case aesCM256HMACSHA1Tag80
    /// AES_256_CM_HMAC_SHA1_32 (RFC 6188 §4). Its RTCP packets have the 80-bit tag.
    case aesCM256HMACSHA1Tag32

    /// The suite's name in an SDP `a=crypto` attribute.
    package var sdesName: String {
        switch self {
        case .aeadAES128GCM: "AEAD_AES_128_GCM"
        case .aeadAES256GCM: "AEAD_AES_256_GCM"
        case .aesCM128HMACSHA1Tag80: "AES_CM_128_HMAC_SHA1_80"
        case .aesCM128HMACSHA1Tag32: "AES_CM_128_HMAC_SHA1_32"
        case .aesCM256HMACSHA1Tag80: "AES_256_CM_HMAC_SHA1_80"
        case .aesCM256HMACSHA1Tag32: "AES_256_CM_HMAC_SHA1_32"
        }
    }

    /// The suite of an SDES name; letter case does not matter, and neither does `AES_CM_256` for `AES_256_CM`, a
    /// spelling that some peers use.
    package init?(sdesName: some StringProtocol) {
        var name = sdesName.uppercased()
        if name.hasPrefix("AES_CM_256_") {
            name = "AES_256_CM_" + name.dropFirst("AES_CM_256_".count)
        }
        guard let suite = Self.allCases.first(where: { $0.sdesName == name }) else { return nil }
        self = suite
    }

    /// Bytes of a master key.
    package var keyLength: Int {
        switch self {
        case .aeadAES128GCM, .aesCM128HMACSHA1Tag80, .aesCM128HMACSHA1Tag32: 16
        case .aeadAES256GCM, .aesCM256HMACSHA1Tag80, .aesCM256HMACSHA1Tag32: 32
        }
    }

    /// Bytes of a master salt.
    package var saltLength: Int {
        switch self {
        case .aeadAES128GCM, .aeadAES256GCM: 12
        case .aesCM128HMACSHA1Tag80, .aesCM128HMACSHA1Tag32, .aesCM256HMACSHA1Tag80, .aesCM256HMACSHA1Tag32: 14
        }
    }

    /// Bytes of a master key with the salt after it.
    package var keyAndSaltLength: Int { keyLength + saltLength }

    /// Bytes that protection adds to an RTP packet, without an MKI.
    package var tagLength: Int {
        switch self {
        case .aeadAES128GCM, .aeadAES256GCM: 16
        case .aesCM128HMACSHA1Tag80, .aesCM256HMACSHA1Tag80: 10
        case .aesCM128HMACSHA1Tag32, .aesCM256HMACSHA1Tag32: 4
        }
    }

    func setPolicies(rtp: inout srtp_crypto_policy_t, rtcp: inout srtp_crypto_policy_t) {
        switch self {
        case .aeadAES128GCM:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&rtcp)
        case .aeadAES256GCM:
            srtp_crypto_policy_set_aes_gcm_256_16_auth(&rtp)
            srtp_crypto_policy_set_aes_gcm_256_16_auth(&rtcp)
        case .aesCM128HMACSHA1Tag80:
            srtp_crypto_policy_set_rtp_default(&rtp)
            srtp_crypto_policy_set_rtp_default(&rtcp)
        case .aesCM128HMACSHA1Tag32:
            // RFC 3711 §5.2, RFC 4568 §6.2.2: the short tag is for RTP alone.
            srtp_crypto_policy_set_aes_cm_128_hmac_sha1_32(&rtp)
            srtp_crypto_policy_set_rtp_default(&rtcp)
        case .aesCM256HMACSHA1Tag80:
            srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&rtp)
            srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&rtcp)
        case .aesCM256HMACSHA1Tag32:
            srtp_crypto_policy_set_aes_cm_256_hmac_sha1_32(&rtp)
            srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&rtcp)
        }
    }
}
