internal import OffhookBasics

extension STUNAttribute {
    /// Reads a value; nil where it does not fit its type. Types unknown to us become `other`.
    init?(type: UInt16, value: RawSpan, transactionID: STUNTransactionID) {
        var reader = ByteReader(value)
        switch type {
        case STUNAttributeType.mappedAddress, STUNAttributeType.alternateServer:
            guard let endpoint = Self.endpoint(from: &reader) else { return nil }
            self = type == STUNAttributeType.mappedAddress ? .mappedAddress(endpoint) : .alternateServer(endpoint)
        case STUNAttributeType.xorMappedAddress, STUNAttributeType.xorPeerAddress, STUNAttributeType.xorRelayedAddress:
            guard let masked = Self.endpoint(from: &reader, mask: transactionID) else { return nil }
            self = Self.maskedAddress(type, masked)
        case STUNAttributeType.username, STUNAttributeType.realm, STUNAttributeType.nonce, STUNAttributeType.data,
            STUNAttributeType.software, STUNAttributeType.userHash:
            guard let content = Self(type: type, content: value.array) else { return nil }
            self = content
        case STUNAttributeType.messageIntegrity, STUNAttributeType.messageIntegritySHA256,
            STUNAttributeType.fingerprint:
            guard let check = Self(type: type, check: value.array) else { return nil }
            self = check
        case STUNAttributeType.passwordAlgorithm, STUNAttributeType.passwordAlgorithms:
            guard let algorithms = Self.passwordAlgorithms(from: &reader) else { return nil }
            if type == STUNAttributeType.passwordAlgorithms {
                self = .passwordAlgorithms(algorithms)
            } else if algorithms.count == 1 {
                self = .passwordAlgorithm(algorithms[0])
            } else {
                return nil
            }
        case STUNAttributeType.errorCode:
            guard reader.skip(2), let hundreds = reader.readUInt8(), let rest = reader.readUInt8(),
                (3...6).contains(hundreds & 7), rest < 100, let reason = reader.readSpan(reader.remaining)
            else { return nil }
            self = .errorCode(
                Int(hundreds & 7) * 100 + Int(rest), reason: String(decoding: reason.array, as: UTF8.self))
        case STUNAttributeType.unknownAttributes:
            var types: [UInt16] = []
            while let type = reader.readUInt16() { types.append(type) }
            self = .unknownAttributes(types)
        default:
            guard let number = Self(type: type, number: value) else { return nil }
            self = number
        }
    }

    /// Attributes that are one number or none.
    private init?(type: UInt16, number value: RawSpan) {
        var reader = ByteReader(value)
        let parsed: STUNAttribute?
        switch type {
        case STUNAttributeType.priority: parsed = reader.readUInt32().map { .priority($0) }
        case STUNAttributeType.useCandidate: parsed = .useCandidate
        case STUNAttributeType.iceControlled: parsed = reader.readUInt64().map { .iceControlled($0) }
        case STUNAttributeType.iceControlling: parsed = reader.readUInt64().map { .iceControlling($0) }
        case STUNAttributeType.channelNumber: parsed = reader.readUInt16().map { .channelNumber($0) }
        case STUNAttributeType.lifetime: parsed = reader.readUInt32().map { .lifetime($0) }
        case STUNAttributeType.requestedTransport: parsed = reader.readUInt8().map { .requestedTransport($0) }
        case STUNAttributeType.requestedAddressFamily:
            parsed = reader.readUInt8().map { .requestedAddressFamily($0) }
        case STUNAttributeType.dontFragment: parsed = .dontFragment
        case STUNAttributeType.evenPort: parsed = reader.readUInt8().map { .evenPort($0 & 0x80 != 0) }
        case STUNAttributeType.reservationToken: parsed = reader.readUInt64().map { .reservationToken($0) }
        default: parsed = .other(type: type, value: value.array)
        }
        guard let parsed else { return nil }
        self = parsed
    }

    private init?(type: UInt16, content: [UInt8]) {
        switch type {
        case STUNAttributeType.username where content.count < 513: self = .username(content)
        case STUNAttributeType.realm where content.count < 764: self = .realm(content)
        case STUNAttributeType.nonce where content.count < 764: self = .nonce(content)
        case STUNAttributeType.userHash where content.count == 32: self = .userHash(content)
        case STUNAttributeType.data: self = .data(content)
        case STUNAttributeType.software: self = .software(String(decoding: content, as: UTF8.self))
        default: return nil
        }
    }

    private init?(type: UInt16, check: [UInt8]) {
        switch (type, check.count) {
        case (STUNAttributeType.messageIntegrity, 20): self = .messageIntegrity(check)
        // It may be cut to a multiple of four, but not below sixteen (RFC 8489 §14.6).
        case (STUNAttributeType.messageIntegritySHA256, 16), (STUNAttributeType.messageIntegritySHA256, 20),
            (STUNAttributeType.messageIntegritySHA256, 24), (STUNAttributeType.messageIntegritySHA256, 28),
            (STUNAttributeType.messageIntegritySHA256, 32):
            self = .messageIntegritySHA256(check)
        case (STUNAttributeType.fingerprint, 4): self = .fingerprint(check.reduce(0) { $0 << 8 | UInt32($1) })
        default: return nil
        }
    }

    private static func maskedAddress(_ type: UInt16, _ endpoint: Endpoint) -> STUNAttribute {
        switch type {
        case STUNAttributeType.xorPeerAddress: .xorPeerAddress(endpoint)
        case STUNAttributeType.xorRelayedAddress: .xorRelayedAddress(endpoint)
        default: .xorMappedAddress(endpoint)
        }
    }

    /// RFC 8489 §14.1; §14.2 with a mask.
    private static func endpoint(from reader: inout ByteReader, mask: STUNTransactionID? = nil) -> Endpoint? {
        guard reader.skip(1), let family = reader.readUInt8(), let port = reader.readUInt16() else { return nil }
        let unmaskedPort = mask == nil ? port : port ^ UInt16(STUNMessage.cookie >> 16)
        switch family {
        case 1:
            guard let value = reader.readUInt32() else { return nil }
            return Endpoint(IPAddress(version4: mask == nil ? value : value ^ STUNMessage.cookie), unmaskedPort)
        case 2:
            guard let high = reader.readUInt64(), let low = reader.readUInt64() else { return nil }
            guard let mask else { return Endpoint(IPAddress(version6High: high, low: low), unmaskedPort) }
            let highMask = UInt64(STUNMessage.cookie) << 32 | UInt64(mask.high)
            return Endpoint(IPAddress(version6High: high ^ highMask, low: low ^ mask.low), unmaskedPort)
        default:
            return nil
        }
    }

    private static func passwordAlgorithms(from reader: inout ByteReader) -> [STUNPasswordAlgorithm]? {
        var algorithms: [STUNPasswordAlgorithm] = []
        while reader.remaining > 0 {
            guard let number = reader.readUInt16(), let count = reader.readUInt16(),
                let parameters = reader.readSpan(Int(count))
            else { return nil }
            algorithms.append(STUNPasswordAlgorithm(number: number, parameters: parameters.array))
            _ = reader.skip(min(-Int(count) & 3, reader.remaining))
        }
        return algorithms
    }
}

extension RawSpan {
    /// A copy of the bytes.
    var array: [UInt8] {
        withUnsafeBytes { Array($0) }
    }
}
