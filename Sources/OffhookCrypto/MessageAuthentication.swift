internal import COpenSSL

/// Keyed and plain hashes of short messages, by OpenSSL, for protocols that take their hashes from outside.
package enum MessageAuthentication {
    /// HMAC-SHA1 (RFC 2104): 20 bytes.
    package static func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] {
        hmac(key: key, message: message, digest: "SHA1")
    }

    /// HMAC-SHA256 (RFC 2104): 32 bytes.
    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        hmac(key: key, message: message, digest: "SHA256")
    }

    package static func md5(_ message: [UInt8]) -> [UInt8] {
        MessageDigest.hash(message, with: .md5)
    }

    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        MessageDigest.hash(message, with: .sha256)
    }

    private static func hmac(key: [UInt8], message: [UInt8], digest: String) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = 0
        let result = EVP_Q_mac(
            nil, "HMAC", nil, digest, nil, key, key.count, message, message.count, &output, output.count, &count)
        precondition(result != nil, "OpenSSL's default provider, with HMAC, must be there")
        return Array(output.prefix(count))
    }
}
