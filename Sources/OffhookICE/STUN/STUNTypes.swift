package import OffhookBasics

/// The 96 bits that tie an answer to its request (RFC 8489 §5).
package struct STUNTransactionID: Hashable, Sendable {
    package var high: UInt32
    package var low: UInt64

    package init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(random: inout SeededRandom) {
        high = UInt32(truncatingIfNeeded: random.next() >> 32)
        low = random.next()
    }
}

/// The two bits of a message's kind (RFC 8489 §5).
package enum STUNClass: UInt16, Hashable, Sendable {
    case request = 0x0000
    case indication = 0x0010
    case success = 0x0100
    case error = 0x0110
}

/// The twelve bits of a message's purpose (RFC 8489 §18.2, RFC 8656 §17).
package struct STUNMethod: Hashable, Sendable {
    package static let binding = STUNMethod(0x001)
    package static let allocate = STUNMethod(0x003)
    package static let refresh = STUNMethod(0x004)
    package static let send = STUNMethod(0x006)
    package static let data = STUNMethod(0x007)
    package static let createPermission = STUNMethod(0x008)
    package static let channelBind = STUNMethod(0x009)

    package var rawValue: UInt16

    package init(_ rawValue: UInt16) {
        self.rawValue = rawValue
    }
}

/// How a long-term password becomes a key (RFC 8489 §18.5).
package struct STUNPasswordAlgorithm: Hashable, Sendable {
    package static let md5 = STUNPasswordAlgorithm(number: 1)
    package static let sha256 = STUNPasswordAlgorithm(number: 2)

    package var number: UInt16
    package var parameters: [UInt8]

    package init(number: UInt16, parameters: [UInt8] = []) {
        self.number = number
        self.parameters = parameters
    }
}

/// Why bytes are no STUN message.
package enum STUNParseError: Error, Hashable, Sendable {
    case tooShort
    /// The first two bits or the cookie say that this is something else.
    case notSTUN
    case wrongLength
    /// An attribute reaches beyond the message, or one that must be understood makes no sense.
    case malformedAttribute(UInt16)
    case wrongFingerprint
}
