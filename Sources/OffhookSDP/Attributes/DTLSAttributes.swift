/// `a=fingerprint`: the hash of the certificate that the far end will show (RFC 8122 §5).
package struct FingerprintAttribute: Hashable, Sendable {
    /// The hash in small letters, such as `sha-256`.
    package var hash: String
    package var bytes: [UInt8]

    package init(hash: String, bytes: [UInt8]) {
        self.hash = hash.lowercasedASCII
        self.bytes = bytes
    }

    init?(parsing text: Substring) {
        guard let (hash, rest) = text.firstField() else { return nil }
        var bytes: [UInt8] = []
        for part in rest.parts(separatedBy: ":") {
            // `UInt8` alone would take a sign for a digit.
            guard part.utf8.count == 2, part.utf8.first != UInt8(ascii: "+"), let byte = UInt8(part, radix: 16),
                bytes.count < 128
            else { return nil }
            bytes.append(byte)
        }
        self.init(hash: String(hash), bytes: bytes)
    }

    package var text: String {
        let pairs = bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }
        return "\(hash) \(pairs.joined(separator: ":"))"
    }
}

/// `a=setup`: who opens the connection (RFC 4145 §4, RFC 5763 §5).
package enum SetupRole: String, Hashable, Sendable {
    case active
    case passive
    case activeOrPassive = "actpass"
    case holdConnection = "holdconn"
}

/// What one side says of DTLS on a stream.
package struct DTLSDescription: Hashable, Sendable {
    package var fingerprints: [FingerprintAttribute]
    /// nil where the description says none; an offer without it means `active` (RFC 4145 §4).
    package var setup: SetupRole?
    /// `a=tls-id` (RFC 8842 §5.2).
    package var tlsID: String?

    package init(fingerprints: [FingerprintAttribute], setup: SetupRole? = nil, tlsID: String? = nil) {
        self.fingerprints = fingerprints
        self.setup = setup
        self.tlsID = tlsID
    }
}
