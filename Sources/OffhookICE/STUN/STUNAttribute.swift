package import OffhookBasics

/// One attribute of a message, its value read.
///
/// User names, realms and nonces are bytes, since what is echoed must be echoed exactly.
package enum STUNAttribute: Hashable, Sendable {
    case mappedAddress(Endpoint)
    case xorMappedAddress(Endpoint)
    case xorPeerAddress(Endpoint)
    case xorRelayedAddress(Endpoint)
    case alternateServer(Endpoint)
    case username([UInt8])
    case userHash([UInt8])
    case realm([UInt8])
    case nonce([UInt8])
    case passwordAlgorithm(STUNPasswordAlgorithm)
    case passwordAlgorithms([STUNPasswordAlgorithm])
    case messageIntegrity([UInt8])
    case messageIntegritySHA256([UInt8])
    case fingerprint(UInt32)
    case errorCode(Int, reason: String)
    case unknownAttributes([UInt16])
    case software(String)
    case priority(UInt32)
    case useCandidate
    case iceControlled(UInt64)
    case iceControlling(UInt64)
    case channelNumber(UInt16)
    case lifetime(UInt32)
    case data([UInt8])
    case requestedTransport(UInt8)
    /// 1 asks for IPv4, 2 for IPv6.
    case requestedAddressFamily(UInt8)
    case dontFragment
    /// Whether the next port shall be reserved as well.
    case evenPort(Bool)
    case reservationToken(UInt64)
    case other(type: UInt16, value: [UInt8])

    package var type: UInt16 {
        switch self {
        case .mappedAddress: STUNAttributeType.mappedAddress
        case .xorMappedAddress: STUNAttributeType.xorMappedAddress
        case .xorPeerAddress: STUNAttributeType.xorPeerAddress
        case .xorRelayedAddress: STUNAttributeType.xorRelayedAddress
        case .alternateServer: STUNAttributeType.alternateServer
        case .username: STUNAttributeType.username
        case .userHash: STUNAttributeType.userHash
        case .realm: STUNAttributeType.realm
        case .nonce: STUNAttributeType.nonce
        case .passwordAlgorithm: STUNAttributeType.passwordAlgorithm
        case .passwordAlgorithms: STUNAttributeType.passwordAlgorithms
        case .messageIntegrity: STUNAttributeType.messageIntegrity
        case .messageIntegritySHA256: STUNAttributeType.messageIntegritySHA256
        case .fingerprint: STUNAttributeType.fingerprint
        case .errorCode: STUNAttributeType.errorCode
        case .unknownAttributes: STUNAttributeType.unknownAttributes
        case .software: STUNAttributeType.software
        case .priority: STUNAttributeType.priority
        case .useCandidate: STUNAttributeType.useCandidate
        case .iceControlled: STUNAttributeType.iceControlled
        case .iceControlling: STUNAttributeType.iceControlling
        case .channelNumber: STUNAttributeType.channelNumber
        case .lifetime: STUNAttributeType.lifetime
        case .data: STUNAttributeType.data
        case .requestedTransport: STUNAttributeType.requestedTransport
        case .requestedAddressFamily: STUNAttributeType.requestedAddressFamily
        case .dontFragment: STUNAttributeType.dontFragment
        case .evenPort: STUNAttributeType.evenPort
        case .reservationToken: STUNAttributeType.reservationToken
        case .other(let type, _): type
        }
    }
}
