internal import OffhookBasics

extension STUNAttribute {
    /// Writes type, length, value and padding.
    func write(to writer: inout ByteWriter, transactionID: STUNTransactionID) {
        var value = ByteWriter()
        writeValue(to: &value, transactionID: transactionID)
        writer.write(type)
        writer.write(UInt16(truncatingIfNeeded: value.bytes.count))
        writer.write(value.bytes)
        writer.write(repeatElement(0, count: -value.bytes.count & 3))
    }

    private func writeValue(to writer: inout ByteWriter, transactionID: STUNTransactionID) {
        switch self {
        case .mappedAddress(let endpoint), .alternateServer(let endpoint):
            Self.write(endpoint, to: &writer)
        case .xorMappedAddress(let endpoint), .xorPeerAddress(let endpoint), .xorRelayedAddress(let endpoint):
            Self.write(endpoint, mask: transactionID, to: &writer)
        case .username(let bytes), .userHash(let bytes), .realm(let bytes), .nonce(let bytes), .data(let bytes),
            .messageIntegrity(let bytes), .messageIntegritySHA256(let bytes), .other(_, let bytes):
            writer.write(bytes)
        case .passwordAlgorithm(let algorithm):
            Self.write([algorithm], to: &writer)
        case .passwordAlgorithms(let algorithms):
            Self.write(algorithms, to: &writer)
        case .errorCode(let code, let reason):
            writer.write(UInt16(0))
            writer.write(UInt8(truncatingIfNeeded: code / 100))
            writer.write(UInt8(truncatingIfNeeded: code % 100))
            writer.write(reason.utf8)
        case .unknownAttributes(let types):
            for type in types { writer.write(type) }
        case .software(let text):
            writer.write(text.utf8)
        case .fingerprint(let number), .priority(let number), .lifetime(let number):
            writer.write(number)
        case .iceControlled(let number), .iceControlling(let number), .reservationToken(let number):
            writer.write(number)
        case .channelNumber(let number):
            writer.write(number)
            writer.write(UInt16(0))
        case .requestedTransport(let number), .requestedAddressFamily(let number):
            writer.write(number)
            writer.writeUInt24(0)
        case .evenPort(let reservesNext):
            writer.write(UInt8(reservesNext ? 0x80 : 0))
        case .useCandidate, .dontFragment:
            break
        }
    }

    private static func write(_ endpoint: Endpoint, mask: STUNTransactionID? = nil, to writer: inout ByteWriter) {
        writer.write(UInt8(0))
        writer.write(UInt8(endpoint.address.isVersion4 ? 1 : 2))
        writer.write(mask == nil ? endpoint.port : endpoint.port ^ UInt16(STUNMessage.cookie >> 16))
        if let value = endpoint.address.version4Value {
            writer.write(mask == nil ? value : value ^ STUNMessage.cookie)
        } else {
            let value = endpoint.address.version6Value
            let highMask = mask.map { UInt64(STUNMessage.cookie) << 32 | UInt64($0.high) } ?? 0
            writer.write(value.high ^ highMask)
            writer.write(value.low ^ (mask?.low ?? 0))
        }
    }

    private static func write(_ algorithms: [STUNPasswordAlgorithm], to writer: inout ByteWriter) {
        for algorithm in algorithms {
            writer.write(algorithm.number)
            writer.write(UInt16(truncatingIfNeeded: algorithm.parameters.count))
            writer.write(algorithm.parameters)
            writer.write(repeatElement(0, count: -algorithm.parameters.count & 3))
        }
    }
}
