package import OffhookBasics

// Of attributes that come twice the first one counts (RFC 8489 §14).
extension STUNMessage {
    package func first<Value>(_ value: (STUNAttribute) -> Value?) -> Value? {
        for attribute in attributes {
            if let found = value(attribute) { return found }
        }
        return nil
    }

    package func contains(_ type: UInt16) -> Bool {
        attributes.contains { $0.type == type }
    }

    /// Our address as the answering side sees it: XOR-MAPPED-ADDRESS, or MAPPED-ADDRESS from an old server.
    package var mappedEndpoint: Endpoint? {
        first { if case .xorMappedAddress(let endpoint) = $0 { endpoint } else { nil } }
            ?? first { if case .mappedAddress(let endpoint) = $0 { endpoint } else { nil } }
    }

    package var peerEndpoint: Endpoint? {
        first { if case .xorPeerAddress(let endpoint) = $0 { endpoint } else { nil } }
    }

    package var relayedEndpoint: Endpoint? {
        first { if case .xorRelayedAddress(let endpoint) = $0 { endpoint } else { nil } }
    }

    package var alternateServer: Endpoint? {
        first { if case .alternateServer(let endpoint) = $0 { endpoint } else { nil } }
    }

    package var errorCode: Int? {
        first { if case .errorCode(let code, _) = $0 { code } else { nil } }
    }

    package var username: [UInt8]? {
        first { if case .username(let bytes) = $0 { bytes } else { nil } }
    }

    package var realm: [UInt8]? {
        first { if case .realm(let bytes) = $0 { bytes } else { nil } }
    }

    package var nonce: [UInt8]? {
        first { if case .nonce(let bytes) = $0 { bytes } else { nil } }
    }

    package var passwordAlgorithms: [STUNPasswordAlgorithm]? {
        first { if case .passwordAlgorithms(let algorithms) = $0 { algorithms } else { nil } }
    }

    package var lifetime: UInt32? {
        first { if case .lifetime(let seconds) = $0 { seconds } else { nil } }
    }

    package var channelNumber: UInt16? {
        first { if case .channelNumber(let number) = $0 { number } else { nil } }
    }

    package var data: [UInt8]? {
        first { if case .data(let bytes) = $0 { bytes } else { nil } }
    }

    package var priority: UInt32? {
        first { if case .priority(let priority) = $0 { priority } else { nil } }
    }

    /// Attributes that must be understood and are not (RFC 8489 §6.3.1).
    package var unknownRequiredAttributes: [UInt16] {
        attributes.compactMap { attribute in
            guard case .other(let type, _) = attribute, !STUNAttributeType.isOptional(type) else { return nil }
            return type
        }
    }
}
