/// What a digest answer covers (RFC 7616 §3.4).
package enum QualityOfProtection: String, Hashable, Sendable, CaseIterable {
    /// Method and URI.
    case auth
    /// Method, URI and body.
    case authInt = "auth-int"
}

/// The arithmetic of digest authentication (RFC 7616 §3.4, RFC 2617, RFC 8760), for either side.
package struct DigestAuthentication: Hashable, Sendable {
    package var algorithm: DigestAlgorithm
    /// Whether the algorithm was named with `-sess`.
    package var isSession: Bool
    package var realm: String
    package var nonce: String

    package init(algorithm: DigestAlgorithm = .md5, isSession: Bool = false, realm: String, nonce: String) {
        self.algorithm = algorithm
        self.isSession = isSession
        self.realm = realm
        self.nonce = nonce
    }

    /// Makes it from the parameters of a challenge, without their quotes; nil for an algorithm we do not have, so that
    /// the next challenge is tried (RFC 8760 §2.4). No algorithm means MD5.
    package init?(algorithm name: String?, realm: String, nonce: String) {
        guard let (algorithm, isSession) = Self.algorithm(named: name) else { return nil }
        self.init(algorithm: algorithm, isSession: isSession, realm: realm, nonce: nonce)
    }

    /// The algorithm's name as challenge and answer carry it.
    package var algorithmName: String {
        isSession ? algorithm.name + "-sess" : algorithm.name
    }

    /// Reads an algorithm's name, in any letter case.
    package static func algorithm(named name: String?) -> (algorithm: DigestAlgorithm, isSession: Bool)? {
        guard let name else { return (.md5, false) }
        var lowercased = name.lowercased()
        let isSession = lowercased.hasSuffix("-sess")
        if isSession { lowercased.removeLast(5) }
        let found = DigestAlgorithm.allCases.first { $0.name.lowercased() == lowercased }
        return found.map { ($0, isSession) }
    }

    /// One of the protections that a challenge's `qop` lists: `auth` where it is there, else `auth-int`.
    ///
    /// Nil for a challenge without `qop`, which is answered by the old formula; nil also for a list of nothing we know.
    package static func chooseProtection(from list: String?) -> QualityOfProtection? {
        guard let list else { return nil }
        let offered = list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" || $0 == "\"" }
        return QualityOfProtection.allCases.first { offered.contains(Substring($0.rawValue)) }
    }

    /// What a server may keep in place of the password: the hash of name, realm and password (RFC 7616 §3.4.2).
    package static func storedSecret(
        username: String, realm: String, password: String, algorithm: DigestAlgorithm
    ) -> String {
        algorithm.hexadecimalHash("\(username):\(realm):\(password)".utf8)
    }

    /// The `response` parameter.
    ///
    /// `protection` nil is the formula of RFC 2069, with no client nonce or count. `body` counts for `auth-int` alone.
    package func response(
        username: String, password: String, method: String, uri: String,
        protection: QualityOfProtection?, clientNonce: String = "", nonceCount: UInt32 = 1, body: [UInt8] = []
    ) -> String {
        let secret = Self.storedSecret(username: username, realm: realm, password: password, algorithm: algorithm)
        return response(
            storedSecret: secret, method: method, uri: uri, protection: protection, clientNonce: clientNonce,
            nonceCount: Self.text(nonceCount: nonceCount), body: body)
    }

    /// The `response` parameter, from a stored secret and a nonce count as it was written.
    package func response(
        storedSecret: String, method: String, uri: String,
        protection: QualityOfProtection?, clientNonce: String, nonceCount: String, body: [UInt8] = []
    ) -> String {
        var first = storedSecret
        if isSession { first = algorithm.hexadecimalHash("\(first):\(nonce):\(clientNonce)".utf8) }
        var second = "\(method):\(uri)"
        if protection == .authInt { second += ":\(algorithm.hexadecimalHash(body))" }
        second = algorithm.hexadecimalHash(second.utf8)
        guard let protection else { return algorithm.hexadecimalHash("\(first):\(nonce):\(second)".utf8) }
        return algorithm.hexadecimalHash(
            "\(first):\(nonce):\(nonceCount):\(clientNonce):\(protection.rawValue):\(second)".utf8)
    }

    /// A nonce count as the `nc` parameter carries it: eight hexadecimal digits.
    package static func text(nonceCount: UInt32) -> String {
        let digits = String(nonceCount, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Whether two responses are the same, in a time that does not tell how much of them is.
    package static func areEqual(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
