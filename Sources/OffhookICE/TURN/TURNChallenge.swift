internal import OffhookBasics

/// A server's demand for long-term credentials, and our answer to it (RFC 8489 §9.2).
struct TURNChallenge: Sendable {
    private let realm: [UInt8]
    private let nonce: [UInt8]
    private let offered: [STUNPasswordAlgorithm]?
    private let chosen: STUNPasswordAlgorithm
    private let hidesUsername: Bool
    let key: STUNKey

    /// Reads a 401 or 438. Nil where it makes no sense, or where somebody on the way has taken out what the nonce says
    /// was in it (RFC 8489 §9.2.5).
    init?(
        from message: STUNMessage, previous: TURNChallenge?, server: TURNServer, authenticator: any MessageAuthenticator
    ) {
        guard let nonce = message.nonce, let realm = message.realm ?? previous?.realm else { return nil }
        let features = Self.securityFeatures(of: nonce)
        let offered = message.passwordAlgorithms
        let chosen: STUNPasswordAlgorithm
        if let offered {
            let known = [STUNPasswordAlgorithm.sha256, .md5].first { known in
                offered.contains { $0.number == known.number }
            }
            guard let known else { return nil }
            chosen = known
        } else {
            guard features & 1 == 0 else { return nil }
            chosen = .md5
        }
        self.realm = realm
        self.nonce = nonce
        self.offered = offered
        self.chosen = chosen
        hidesUsername = features & 2 != 0
        key = STUNKey(
            username: server.username, realm: realm, password: server.password, algorithm: chosen,
            integrity: offered == nil ? .sha1 : .sha256, authenticator: authenticator)
    }

    func attributes(for server: TURNServer, authenticator: any MessageAuthenticator) -> [STUNAttribute] {
        let username = Array(server.username.utf8)
        var attributes: [STUNAttribute] = [
            hidesUsername
                ? .userHash(authenticator.sha256(username + [UInt8(ascii: ":")] + realm)) : .username(username),
            .realm(realm), .nonce(nonce),
        ]
        if let offered { attributes += [.passwordAlgorithms(offered), .passwordAlgorithm(chosen)] }
        return attributes
    }

    /// The 24 bits after the nonce's cookie; bit 0 is password algorithms, bit 1 hidden names (RFC 8489 §9.2, §18.1).
    private static func securityFeatures(of nonce: [UInt8]) -> UInt32 {
        let cookie = Array("obMatJos2".utf8)
        guard nonce.count >= cookie.count + 4, nonce.starts(with: cookie) else { return 0 }
        var bits: UInt32 = 0
        for byte in nonce[cookie.count..<cookie.count + 4] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): digit = 62
            case UInt8(ascii: "/"): digit = 63
            default: return 0
            }
            bits = bits << 6 | UInt32(digit)
        }
        return bits
    }
}
