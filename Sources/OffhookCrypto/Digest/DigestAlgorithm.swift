internal import COpenSSL

/// A hash function that digest authentication can be built on (RFC 7616 §6.1).
package enum DigestAlgorithm: Hashable, Sendable, CaseIterable {
    case sha512Truncated256
    case sha256
    case md5

    /// The name in a challenge, without `-sess`.
    package var name: String {
        switch self {
        case .md5: "MD5"
        case .sha256: "SHA-256"
        case .sha512Truncated256: "SHA-512-256"
        }
    }

    /// The hash of the bytes, in lower-case hexadecimal.
    package func hexadecimalHash(_ bytes: some Sequence<UInt8>) -> String {
        Hexadecimal.encode(hash(bytes))
    }

    /// The hash of the bytes.
    package func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        MessageDigest.hash(Array(bytes), with: function)
    }

    private var function: MessageDigest.Function {
        switch self {
        case .md5: .md5
        case .sha256: .sha256
        case .sha512Truncated256: .sha512Truncated256
        }
    }
}
