internal import OffhookBasics

/// A STUN message (RFC 8489 §5), and TURN's, which are STUN messages with methods of their own.
package struct STUNMessage: Hashable, Sendable {
    package static let cookie: UInt32 = 0x2112_A442
    static let headerSize = 20
    /// What FINGERPRINT is masked with, so that it differs from checksums of the protocol beside it (RFC 8489 §14.7).
    static let fingerprintMask: UInt32 = 0x5354_554E

    package var messageClass: STUNClass
    package var method: STUNMethod
    package var transactionID: STUNTransactionID
    package var attributes: [STUNAttribute]

    package init(
        _ messageClass: STUNClass, _ method: STUNMethod, transactionID: STUNTransactionID,
        attributes: [STUNAttribute] = []
    ) {
        self.messageClass = messageClass
        self.method = method
        self.transactionID = transactionID
        self.attributes = attributes
    }

    /// Whether these bytes are STUN, by their first byte (RFC 7983 §7) and the cookie.
    package static func isSTUN(_ bytes: RawSpan) -> Bool {
        var reader = ByteReader(bytes)
        guard bytes.byteCount >= headerSize, let start = reader.readUInt32(), start >> 24 < 4 else { return false }
        return reader.readUInt32() == cookie
    }

    /// Reads a whole message. A FINGERPRINT that is there must fit.
    ///
    /// What follows an integrity attribute is passed over, as RFC 8489 §14.5 and §14.6 ask, and so is an attribute that
    /// need not be understood and makes no sense.
    package init(parsing bytes: RawSpan) throws(STUNParseError) {
        guard bytes.byteCount >= Self.headerSize else { throw .tooShort }
        guard Self.isSTUN(bytes) else { throw .notSTUN }
        var reader = ByteReader(bytes)
        guard let type = reader.readUInt16(), let length = reader.readUInt16(), reader.skip(4),
            let high = reader.readUInt32(), let low = reader.readUInt64(),
            let messageClass = STUNClass(rawValue: type & 0x0110)
        else { throw .tooShort }
        guard length & 3 == 0, Int(length) == reader.remaining else { throw .wrongLength }
        self.init(
            messageClass, STUNMethod(type & 0x000F | (type & 0x00E0) >> 1 | (type & 0x3E00) >> 2),
            transactionID: STUNTransactionID(high: high, low: low))
        try readAttributes(from: &reader, of: bytes)
    }

    private mutating func readAttributes(
        from reader: inout ByteReader, of bytes: RawSpan
    ) throws(STUNParseError) {
        var protection = Protection.none
        while let type = reader.readUInt16() {
            let start = reader.offset - 2
            guard let length = reader.readUInt16(), let value = reader.readSpan(Int(length)),
                reader.skip(-Int(length) & 3)
            else { throw .malformedAttribute(type) }
            guard protection.admits(type) else { continue }
            guard let attribute = STUNAttribute(type: type, value: value, transactionID: transactionID) else {
                guard STUNAttributeType.isOptional(type), type != STUNAttributeType.fingerprint else {
                    throw .malformedAttribute(type)
                }
                continue
            }
            if case .fingerprint(let fingerprint) = attribute {
                // The length in the header counts the fingerprint, so it must be the last attribute.
                guard reader.remaining == 0 else { throw .malformedAttribute(type) }
                let checksum = CRC32.checksum(of: bytes.extracting(0..<start))
                guard checksum ^ Self.fingerprintMask == fingerprint else { throw .wrongFingerprint }
            }
            attributes.append(attribute)
            protection.pass(type)
        }
    }

    /// What still counts after the integrity attributes.
    private enum Protection {
        case none
        case integrity
        case integritySHA256

        func admits(_ type: UInt16) -> Bool {
            switch self {
            case .none: true
            case .integrity:
                type == STUNAttributeType.messageIntegritySHA256 || type == STUNAttributeType.fingerprint
            case .integritySHA256: type == STUNAttributeType.fingerprint
            }
        }

        mutating func pass(_ type: UInt16) {
            switch type {
            case STUNAttributeType.messageIntegrity: self = .integrity
            case STUNAttributeType.messageIntegritySHA256: self = .integritySHA256
            default: break
            }
        }
    }
}
