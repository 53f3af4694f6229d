/// `a=crypto`: a key for SRTP in the description itself (RFC 4568).
package struct CryptoAttribute: Hashable, Sendable {
    /// One `inline:` key.
    package struct Key: Hashable, Sendable {
        /// Master key and then master salt.
        package var bytes: [UInt8]
        /// How many packets it may protect; nil where the line says nothing.
        package var lifetime: UInt64?
        /// The master key identifier with its length in bytes.
        package var identifier: KeyIdentifier?

        package init(bytes: [UInt8], lifetime: UInt64? = nil, identifier: KeyIdentifier? = nil) {
            self.bytes = bytes
            self.lifetime = lifetime
            self.identifier = identifier
        }
    }

    /// MKI and length, as `|1:4`.
    package struct KeyIdentifier: Hashable, Sendable {
        package var value: UInt64
        /// 1 to 128 bytes by RFC 4568 §6.1.
        package var length: Int

        package init(value: UInt64, length: Int) {
            self.value = value
            self.length = length
        }

        /// The identifier as it stands in each packet, most significant byte first.
        package var bytes: [UInt8] {
            let digits = (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
            return length <= 8
                ? Array(digits.suffix(length)) : [UInt8](repeating: 0, count: length - 8) + digits
        }
    }

    /// A session parameter (RFC 4568 §6.3).
    package enum Parameter: Hashable, Sendable {
        /// 2 to the power of the number is the rate at which keys are derived anew; 0 to 24.
        case keyDerivationRate(Int)
        case unencryptedSRTP
        case unencryptedSRTCP
        case unauthenticatedSRTP
        case fecOrder(String)
        case fecKey(String)
        /// The least replay window.
        case windowSizeHint(Int)
        /// `-` before the name allows to pass it over (§6.3.7); the text is without it.
        case unknown(String, isOptional: Bool)
    }

    package var tag: UInt32
    /// As written.
    package var suiteName: String
    package var keys: [Key]
    package var parameters: [Parameter]

    package init(tag: UInt32, suite: SDESSuite, key: [UInt8]) {
        self.tag = tag
        suiteName = suite.rawValue
        keys = [Key(bytes: key)]
        parameters = []
    }

    /// The suite where it is one that this package knows.
    package var suite: SDESSuite? { SDESSuite(parsing: suiteName) }

    /// Reads what follows `a=crypto:`; nil where any part of it breaks the grammar of RFC 4568 §9.
    init?(parsing text: Substring) {
        let fields = text.fields()
        guard fields.count >= 3, fields[0].utf8.count <= 9, let tag = fields[0].number(UInt32.self) else { return nil }
        self.tag = tag
        suiteName = String(fields[1])
        keys = []
        for part in fields[2].parts(separatedBy: ";") {
            guard let key = Key(parsing: part) else { return nil }
            keys.append(key)
        }
        parameters = []
        for field in fields[3...] {
            guard let parameter = Parameter(parsing: field) else { return nil }
            parameters.append(parameter)
        }
    }

    /// What follows `a=crypto:`.
    package var text: String {
        let keyTexts = keys.map(\.text).joined(separator: ";")
        return (["\(tag)", suiteName, keyTexts] + parameters.map(\.text)).joined(separator: " ")
    }
}

extension CryptoAttribute.Key {
    init?(parsing text: Substring) {
        let (method, info) = text.cut(at: ":")
        guard method.isEqualIgnoringCase("inline"), let info else { return nil }
        let parts = info.parts(separatedBy: "|")
        guard parts.count <= 3, let bytes = Base64.decode(parts[0]), !bytes.isEmpty else { return nil }
        self.init(bytes: bytes)
        for part in parts[1...] {
            let (head, tail) = part.cut(at: ":")
            if let tail {
                guard identifier == nil, let value = head.decimal, let length = tail.number(Int.self),
                    (1...128).contains(length), length >= 8 || value >> UInt64(8 * length) == 0
                else { return nil }
                identifier = CryptoAttribute.KeyIdentifier(value: value, length: length)
            } else {
                guard lifetime == nil, identifier == nil, let count = Self.lifetime(head) else { return nil }
                lifetime = count
            }
        }
    }

    /// `2^n` or a number, from 1 to 2^48, the most that SRTP allows.
    private static func lifetime(_ text: Substring) -> UInt64? {
        let limit = UInt64(1) << 48
        if text.hasPrefix("2^") {
            guard let power = text.dropFirst(2).number(UInt64.self), power <= 48 else { return nil }
            return UInt64(1) << power
        }
        guard let count = text.decimal, (1...limit).contains(count) else { return nil }
        return count
    }

    fileprivate var text: String {
        var text = "inline:" + Base64.encode(bytes)
        if let lifetime {
            text += lifetime.nonzeroBitCount == 1 ? "|2^\(lifetime.trailingZeroBitCount)" : "|\(lifetime)"
        }
        if let identifier { text += "|\(identifier.value):\(identifier.length)" }
        return text
    }
}

extension CryptoAttribute.Parameter {
    init?(parsing text: Substring) {
        let (name, value) = text.cut(at: "=")
        switch name {
        case "KDR":
            guard let power = value?.number(Int.self), (0...24).contains(power) else { return nil }
            self = .keyDerivationRate(power)
        case "UNENCRYPTED_SRTP": self = .unencryptedSRTP
        case "UNENCRYPTED_SRTCP": self = .unencryptedSRTCP
        case "UNAUTHENTICATED_SRTP": self = .unauthenticatedSRTP
        case "FEC_ORDER": self = .fecOrder(value.map(String.init) ?? "")
        case "FEC_KEY": self = .fecKey(value.map(String.init) ?? "")
        case "WSH":
            guard let size = value?.number(Int.self), size >= 64 else { return nil }
            self = .windowSizeHint(size)
        default:
            self =
                text.hasPrefix("-")
                ? .unknown(String(text.dropFirst()), isOptional: true) : .unknown(String(text), isOptional: false)
        }
    }

    fileprivate var text: String {
        switch self {
        case .keyDerivationRate(let power): "KDR=\(power)"
        case .unencryptedSRTP: "UNENCRYPTED_SRTP"
        case .unencryptedSRTCP: "UNENCRYPTED_SRTCP"
        case .unauthenticatedSRTP: "UNAUTHENTICATED_SRTP"
        case .fecOrder(let order): "FEC_ORDER=\(order)"
        case .fecKey(let key): "FEC_KEY=\(key)"
        case .windowSizeHint(let size): "WSH=\(size)"
        case .unknown(let text, let isOptional): (isOptional ? "-" : "") + text
        }
    }
}
