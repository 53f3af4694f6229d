/// What one direction of SRTP is keyed with.
package struct SRTPKeys: Hashable, Sendable {
    package var suite: SRTPSuite
    /// The master key with the master salt after it.
    package var keyAndSalt: [UInt8]
    /// The master key identifier that every packet carries, of the signalled length; empty where none was signalled
    /// (RFC 3711 §3.1, RFC 4568 §6.1).
    package var masterKeyIdentifier: [UInt8]

    /// Nil where the lengths do not fit the suite, or the identifier is longer than the 128 bytes RFC 4568 §6.1 allows.
    package init?(suite: SRTPSuite, keyAndSalt: [UInt8], masterKeyIdentifier: [UInt8] = []) {
        guard keyAndSalt.count == suite.keyAndSaltLength, masterKeyIdentifier.count <= 128 else { return nil }
        self.suite = suite
        self.keyAndSalt = keyAndSalt
        self.masterKeyIdentifier = masterKeyIdentifier
    }

    /// Fresh keys from the system's random source.
    package static func random(suite: SRTPSuite) -> SRTPKeys {
        SRTPKeys(suite: suite, verified: SecureRandom.bytes(suite.keyAndSaltLength))
    }

    private init(suite: SRTPSuite, verified keyAndSalt: [UInt8]) {
        self.suite = suite
        self.keyAndSalt = keyAndSalt
        masterKeyIdentifier = []
    }

    /// Reads the key parameter of an `a=crypto` attribute, `inline:<base64>[|lifetime][|MKI:length]` (RFC 4568 §6.1),
    /// with or without `inline:`.
    ///
    /// The lifetime is checked and dropped: keys outlive no call. Nil for several keys in one attribute, which no
    /// packet here could choose among.
    package init?(suite: SRTPSuite, inline text: some StringProtocol) {
        var rest = Substring(text)
        if rest.prefix(7).lowercased() == "inline:" { rest = rest.dropFirst(7) }
        let parts = rest.split(separator: "|", omittingEmptySubsequences: false)
        guard let first = parts.first, let keyAndSalt = Base64.decode(first), parts.count <= 3 else { return nil }
        var identifier: [UInt8] = []
        for (index, part) in parts.dropFirst().enumerated() {
            if let colon = part.firstIndex(of: ":") {
                guard index == parts.count - 2, let length = Int(part[part.index(after: colon)...]),
                    let read = Self.identifier(part[..<colon], length: length)
                else { return nil }
                identifier = read
            } else {
                let number = part.hasPrefix("2^") ? part.dropFirst(2) : part
                guard index == 0, UInt64(number) != nil else { return nil }
            }
        }
        self.init(suite: suite, keyAndSalt: keyAndSalt, masterKeyIdentifier: identifier)
    }

    /// The key parameter of an `a=crypto` attribute: `inline:` and what follows it (RFC 4568 §6.1).
    package var inlineParameter: String {
        let key = "inline:" + Base64.encode(keyAndSalt)
        guard !masterKeyIdentifier.isEmpty else { return key }
        return key + "|\(Self.decimal(masterKeyIdentifier)):\(masterKeyIdentifier.count)"
    }

    /// A decimal number of any size as big-endian bytes, `length` of them.
    private static func identifier(_ digits: some StringProtocol, length: Int) -> [UInt8]? {
        guard (1...128).contains(length), !digits.isEmpty, digits.utf8.count <= 310 else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        for digit in digits.utf8 {
            guard (0x30...0x39).contains(digit) else { return nil }
            var carry = Int(digit - 0x30)
            for index in bytes.indices.reversed() {
                carry += Int(bytes[index]) * 10
                bytes[index] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
            guard carry == 0 else { return nil }
        }
        return bytes
    }

    private static func decimal(_ bytes: [UInt8]) -> String {
        var digits: [Int] = [0]
        for byte in bytes {
            var carry = Int(byte)
            for index in digits.indices {
                carry += digits[index] << 8
                digits[index] = carry % 10
                carry /= 10
            }
            while carry > 0 {
                digits.append(carry % 10)
                carry /= 10
            }
        }
        return digits.reversed().map(String.init).joined()
    }
}
