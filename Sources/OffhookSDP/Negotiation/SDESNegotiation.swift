extension CryptoAttribute {
    /// Whether the line can be used as it stands: a suite of ours, one key of the right length, and no parameter that
    /// asks for what we do not do. A line that cannot is passed over, never taken with a part of it unheeded.
    func isUsable(with capabilities: MediaCapabilities) -> Bool {
        guard let suite, capabilities.cryptoSuites.contains(suite), keys.count == 1,
            keys[0].bytes.count == suite.inlineLength,
            keys[0].identifier == nil || capabilities.canUseKeyIdentifiers
        else { return false }
        return parameters.allSatisfy(\.isAcceptable)
    }

    /// The key as SRTP wants it; nil where it does not fit its suite.
    var key: SDESKey? {
        guard let suite, let key = keys.first, key.bytes.count == suite.inlineLength else { return nil }
        var windowSizeHint: Int?
        for case .windowSizeHint(let size) in parameters { windowSizeHint = size }
        return SDESKey(
            suite: suite, masterKey: Array(key.bytes.prefix(suite.keyLength)),
            masterSalt: Array(key.bytes.suffix(suite.saltLength)), identifier: key.identifier, lifetime: key.lifetime,
            windowSizeHint: windowSizeHint)
    }
}

extension CryptoAttribute.Parameter {
    /// Whether a line with the parameter may be used (RFC 4568 §6.3): without encryption or authentication never.
    fileprivate var isAcceptable: Bool {
        switch self {
        case .windowSizeHint: true
        case .keyDerivationRate(let power): power == 0
        case .unencryptedSRTP, .unencryptedSRTCP, .unauthenticatedSRTP, .fecKey: false
        // The default order, which matters only to streams with FEC; ours have none.
        case .fecOrder(let order): order == "FEC_SRTP"
        case .unknown(_, let isOptional): isOptional
        }
    }
}

extension [CryptoAttribute] {
    /// The line to answer: that of the suite in force, else the first in our order of suites.
    ///
    /// Tags must differ (RFC 4568 §4.1): where two lines share one, nobody could tell which was meant, so none is taken.
    func choice(
        capabilities: MediaCapabilities, inForce: SDESSuite?, hasKey: (SDESSuite) -> Bool
    ) -> (line: CryptoAttribute, suite: SDESSuite)? {
        guard Set(map(\.tag)).count == count else { return nil }
        let order = (inForce.map { [$0] } ?? []) + capabilities.cryptoSuites
        for suite in order {
            guard suite == inForce || hasKey(suite) else { continue }
            if let line = first(where: { $0.suite == suite && $0.isUsable(with: capabilities) }) {
                return (line, suite)
            }
        }
        return nil
    }
}
