internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookSIP

/// What one account knows of those who ask it for credentials: their challenges, its passwords, and how often each
/// nonce was used (RFC 3261 §22, RFC 7616, RFC 8760).
struct DigestClient: Sendable {
    /// Somebody who asks: a server or a proxy, by its realm.
    struct Space: Hashable, Sendable {
        let isProxy: Bool
        /// As it stands between the quotes of the challenge.
        let realm: String

        /// The header field that answers.
        var headerName: SIPHeaderName { isProxy ? .proxyAuthorization : .authorization }
    }

    /// A challenge that can be answered.
    struct Challenge: Sendable {
        let space: Space
        let digest: DigestAuthentication
        let protection: QualityOfProtection?
        /// With its quotes.
        let opaque: String?
        /// Whether the challenge named its algorithm: only then does the answer.
        let namesAlgorithm: Bool
        let isStale: Bool
    }

    private struct Known {
        var challenge: Challenge
        var nonceCount: UInt32 = 0
    }

    /// The name to log in with.
    let name: String
    private var known: [Space: Known] = [:]
    private var passwords: [String: String] = [:]

    init(name: String) {
        self.name = name
    }

    // MARK: Challenges

    /// The challenges to answer: for each realm the one with the strongest algorithm that we have, and among equals the
    /// topmost, which is the server's favourite (RFC 8760 §2.4).
    ///
    /// Of two realms both are answered: several proxies may have forked a request (RFC 3261 §22.3).
    static func challenges(in response: SIPResponse) -> [Challenge] {
        let isProxy = response.status == 407
        var best: [Challenge] = []
        for value in response.headers.challenges(isProxy ? .proxyAuthenticate : .wwwAuthenticate) {
            guard let challenge = Challenge(value, isProxy: isProxy) else { continue }
            guard let index = best.firstIndex(where: { $0.space == challenge.space }) else {
                best.append(challenge)
                continue
            }
            if challenge.strength > best[index].strength { best[index] = challenge }
        }
        return best
    }

    /// Takes a challenge for the answers from here on. A nonce that is known goes on being counted.
    mutating func learn(_ challenge: Challenge) {
        if known[challenge.space]?.challenge.digest == challenge.digest {
            known[challenge.space]?.challenge = challenge
        } else {
            known[challenge.space] = Known(challenge: challenge)
        }
    }

    // MARK: Passwords

    func hasPassword(for space: Space) -> Bool { passwords[space.realm] != nil }

    /// Takes the password of a realm; nil forgets it, and with it all challenges that it answered.
    mutating func setPassword(_ password: String?, for space: Space) {
        passwords[space.realm] = password
        if password == nil { known = known.filter { $0.key.realm != space.realm } }
    }

    // MARK: Answers

    /// Whom to send credentials before being asked: the registrar for its REGISTER, proxies for everything.
    func spaces(for method: SIPMethod) -> Set<Space> {
        Set(known.keys.filter { ($0.isProxy || method == .register) && hasPassword(for: $0) })
    }

    /// The header fields that answer for these spaces; each call counts as one use of their nonces.
    mutating func headers(
        for spaces: Set<Space>, method: SIPMethod, uri: String, body: [UInt8], random: inout SeededRandom
    ) -> SIPHeaders {
        var headers = SIPHeaders()
        for space in spaces.sorted(by: { ($0.realm, $0.isProxy ? 1 : 0) < ($1.realm, $1.isProxy ? 1 : 0) }) {
            guard let password = passwords[space.realm], var entry = known[space] else { continue }
            entry.nonceCount &+= 1
            known[space] = entry
            let answer = entry.challenge.answer(
                name: name, password: password, method: method.name, uri: uri, body: body,
                nonceCount: entry.nonceCount, clientNonce: random.token(length: 16))
            headers.append(space.headerName, answer)
        }
        return headers
    }
}

extension DigestClient.Challenge {
    /// Reads a challenge; nil for a scheme, an algorithm or a protection that we do not have.
    init?(_ value: AuthenticationValue, isProxy: Bool) {
        let parameters = value.parameters
        guard value.isDigest, let realm = parameters.quotedText("realm"), let nonce = parameters.quotedText("nonce"),
            let digest = DigestAuthentication(algorithm: parameters["algorithm"], realm: realm, nonce: nonce)
        else { return nil }
        protection = DigestAuthentication.chooseProtection(from: parameters["qop"])
        // A list of protections that we do not know cannot be answered; none at all is the old formula (RFC 7616 §3.4).
        if protection == nil, parameters.contains("qop") { return nil }
        space = DigestClient.Space(isProxy: isProxy, realm: realm)
        self.digest = digest
        opaque = parameters.quotedText("opaque")
        namesAlgorithm = parameters.contains("algorithm")
        isStale = value.isStale
    }

    fileprivate var strength: Int {
        switch digest.algorithm {
        case .md5: 0
        case .sha256: 1
        case .sha512Truncated256: 2
        }
    }

    fileprivate func answer(
        name: String, password: String, method: String, uri: String, body: [UInt8], nonceCount: UInt32,
        clientNonce: String
    ) -> String {
        let response = digest.response(
            username: name, password: password, method: method, uri: uri, protection: protection,
            clientNonce: clientNonce, nonceCount: nonceCount, body: body)
        let escaped = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        var text = "Digest username=\"\(escaped)\", realm=\"\(digest.realm)\", nonce=\"\(digest.nonce)\""
        text += ", uri=\"\(uri)\", response=\"\(response)\""
        if namesAlgorithm { text += ", algorithm=\(digest.algorithmName)" }
        if let protection {
            // The count and the chosen protection are tokens, without quotes (RFC 7616 §3.4).
            text += ", cnonce=\"\(clientNonce)\", qop=\(protection.rawValue)"
            text += ", nc=\(DigestAuthentication.text(nonceCount: nonceCount))"
        } else if digest.isSession {
            text += ", cnonce=\"\(clientNonce)\""
        }
        if let opaque { text += ", opaque=\"\(opaque)\"" }
        return text
    }
}

extension SIPParameters {
    /// A value as it stands between its quotes, escapes and all: digests are made of that (RFC 7616 §3.4, "unq").
    fileprivate func quotedText(_ name: String) -> String? {
        guard let raw = list.first(where: { $0.name.lowercased() == name })?.rawValue else { return nil }
        guard raw.count >= 2, raw.hasPrefix("\""), raw.hasSuffix("\"") else { return raw }
        return String(raw.dropFirst().dropLast())
    }
}
