/// The hash of a certificate, which signalling vouches for (RFC 8122 §5).
package struct CertificateFingerprint: Hashable, Sendable {
    /// The hash functions of RFC 8122 §5 but for the broken MD2 and MD5, best last.
    package enum Algorithm: String, Hashable, Sendable, CaseIterable, Comparable {
        case sha1 = "sha-1"
        case sha224 = "sha-224"
        case sha256 = "sha-256"
        case sha384 = "sha-384"
        case sha512 = "sha-512"

        package static func < (left: Algorithm, right: Algorithm) -> Bool {
            left.function.strength < right.function.strength
        }

        fileprivate var function: (hash: MessageDigest.Function, strength: Int) {
            switch self {
            case .sha1: (.sha1, 160)
            case .sha224: (.sha224, 224)
            case .sha256: (.sha256, 256)
            case .sha384: (.sha384, 384)
            case .sha512: (.sha512, 512)
            }
        }
    }

    package let algorithm: Algorithm
    package let bytes: [UInt8]

    /// The fingerprint of a certificate in DER.
    package init(ofCertificate certificate: [UInt8], algorithm: Algorithm = .sha256) {
        self.algorithm = algorithm
        bytes = MessageDigest.hash(certificate, with: algorithm.function.hash)
    }

    /// Reads the two fields of an `a=fingerprint` attribute, in any letter case; nil for a hash function that is not
    /// known, or a value of the wrong length.
    package init?(algorithm name: some StringProtocol, value: some StringProtocol) {
        guard let algorithm = Algorithm(rawValue: name.lowercased()) else { return nil }
        let groups = value.split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count == algorithm.function.strength / 8 else { return nil }
        var bytes: [UInt8] = []
        for group in groups {
            guard group.utf8.count == 2, group.allSatisfy(\.isHexDigit), let byte = UInt8(group, radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// The value as the attribute carries it: upper-case digits in pairs, with colons.
    package var value: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// Whether a certificate is the one that a set of fingerprints vouches for.
    ///
    /// Of several, those with the best hash function decide, and one of them must match (RFC 8122 §5).
    package static func matches(_ fingerprints: [CertificateFingerprint], certificate: [UInt8]) -> Bool {
        guard let best = fingerprints.map(\.algorithm).max() else { return false }
        let computed = CertificateFingerprint(ofCertificate: certificate, algorithm: best)
        return fingerprints.contains(computed)
    }
}
