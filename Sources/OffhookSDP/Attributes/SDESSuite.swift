/// A crypto suite of SDES (RFC 4568 §6.2, RFC 6188, RFC 7714 §14.1).
package enum SDESSuite: String, Hashable, Sendable, CaseIterable {
    case aeadAES128GCM = "AEAD_AES_128_GCM"
    case aeadAES256GCM = "AEAD_AES_256_GCM"
    case aesCM128SHA1Tag80 = "AES_CM_128_HMAC_SHA1_80"
    case aesCM128SHA1Tag32 = "AES_CM_128_HMAC_SHA1_32"
    case aesCM192SHA1Tag80 = "AES_192_CM_HMAC_SHA1_80"
    case aesCM192SHA1Tag32 = "AES_192_CM_HMAC_SHA1_32"
    case aesCM256SHA1Tag80 = "AES_256_CM_HMAC_SHA1_80"
    case aesCM256SHA1Tag32 = "AES_256_CM_HMAC_SHA1_32"

    init?(parsing name: String) {
        guard let suite = Self.allCases.first(where: { $0.rawValue.isEqualIgnoringCase(name) }) else { return nil }
        self = suite
    }

    /// The bytes of the master key.
    package var keyLength: Int {
        switch self {
        case .aeadAES128GCM, .aesCM128SHA1Tag80, .aesCM128SHA1Tag32: 16
        case .aesCM192SHA1Tag80, .aesCM192SHA1Tag32: 24
        case .aeadAES256GCM, .aesCM256SHA1Tag80, .aesCM256SHA1Tag32: 32
        }
    }

    /// The bytes of the master salt.
    package var saltLength: Int {
        switch self {
        case .aeadAES128GCM, .aeadAES256GCM: 12
        default: 14
        }
    }

    /// The bytes of an `inline:` key: master key and then salt.
    package var inlineLength: Int { keyLength + saltLength }
}
