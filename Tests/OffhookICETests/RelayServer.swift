import OffhookBasics
import OffhookICE

/// A tiny STUN and TURN server as a value: enough of RFC 8656 to hold a client to it.
struct RelayServer {
    struct Datagram: Equatable {
        let bytes: [UInt8]
        let source: Endpoint
        let destination: Endpoint
    }

    struct Allocation {
        let client: Endpoint
        let relayed: Endpoint
        var permissions: Set<IPAddress> = []
        var channels: [UInt16: Endpoint] = [:]
    }

    let endpoint: Endpoint
    let username: String
    let password: String
    let realm = "example.org"
    /// Whether it offers SHA-256 and hides names (RFC 8489 §9.2).
    var isModern = false
    /// How many signed requests are told that their nonce is stale.
    var staleNonces = 0
    /// Codes that the next signed allocations are refused with.
    var refusals: [Int] = []
    /// Where allocations are sent on to.
    var alternate: Endpoint?
    var forbiddenPeers: Set<IPAddress> = []
    private(set) var allocations: [Allocation] = []
    private(set) var receivedMethods: [STUNMethod] = []
    private(set) var receivedChannelData = 0
    private var nextPort: UInt16 = 50_000
    private var nonceNumber = 0

    init(endpoint: Endpoint, username: String = "user", password: String = "secret") {
        self.endpoint = endpoint
        self.username = username
        self.password = password
    }

    func owns(_ destination: Endpoint) -> Bool {
        destination.address == endpoint.address
    }

    mutating func receive(_ bytes: [UInt8], from source: Endpoint, to destination: Endpoint) -> [Datagram] {
        if destination != endpoint { return relay(bytes, from: source, to: destination) }
        if let first = bytes.first, (0x40...0x4F).contains(first) { return receiveChannelData(bytes, from: source) }
        guard let message = try? STUNMessage(bytes) else { return [] }
        receivedMethods.append(message.method)
        switch (message.messageClass, message.method) {
        case (.request, .binding):
            return [answer(message, [.xorMappedAddress(source)], to: source)]
        case (.request, _):
            return [authenticated(message, bytes, from: source)]
        case (.indication, .send):
            guard let peer = message.peerEndpoint, let data = message.data,
                let allocation = allocations.first(where: { $0.client == source }),
                allocation.permissions.contains(peer.address)
            else { return [] }
            return [Datagram(bytes: data, source: allocation.relayed, destination: peer)]
        default:
            return []
        }
    }

    private var nonce: String { (isModern ? "obMatJos2AAAD" : "nonce") + String(nonceNumber) }

    private var key: STUNKey {
        STUNKey(
            username: username, realm: Array(realm.utf8), password: password, algorithm: isModern ? .sha256 : .md5,
            integrity: isModern ? .sha256 : .sha1, authenticator: Authenticator())
    }

    private mutating func authenticated(_ message: STUNMessage, _ bytes: [UInt8], from source: Endpoint) -> Datagram {
        let signature = isModern ? STUNAttributeType.messageIntegritySHA256 : STUNAttributeType.messageIntegrity
        guard message.contains(signature) else { return challenge(message, 401, to: source) }
        guard STUNMessage.isSigned(bytes, key: key), isNamed(message) else {
            return challenge(message, 401, to: source)
        }
        guard message.nonce == Array(nonce.utf8), staleNonces == 0 else {
            staleNonces = max(staleNonces - 1, 0)
            nonceNumber += 1
            return challenge(message, 438, to: source)
        }
        switch message.method {
        case .allocate: return allocate(message, from: source)
        case .refresh:
            if message.lifetime == 0 { allocations.removeAll { $0.client == source } }
            return answer(message, [.lifetime(message.lifetime ?? 600)], signed: true, to: source)
        case .createPermission:
            guard let peer = message.peerEndpoint, !forbiddenPeers.contains(peer.address) else {
                return refuse(message, 403, to: source)
            }
            guard let index = allocations.firstIndex(where: { $0.client == source }) else {
                return refuse(message, 437, to: source)
            }
            allocations[index].permissions.insert(peer.address)
            return answer(message, [], signed: true, to: source)
        case .channelBind:
            guard let peer = message.peerEndpoint, let number = message.channelNumber,
                let index = allocations.firstIndex(where: { $0.client == source })
            else { return refuse(message, 400, to: source) }
            allocations[index].channels[number] = peer
            return answer(message, [], signed: true, to: source)
        default:
            return refuse(message, 400, to: source)
        }
    }

    private func isNamed(_ message: STUNMessage) -> Bool {
        guard isModern else { return message.username == Array(username.utf8) }
        let hash = Authenticator().sha256(Array("\(username):\(realm)".utf8))
        return message.attributes.contains(.userHash(hash))
            && message.attributes.contains(.passwordAlgorithm(.sha256))
    }

    private mutating func allocate(_ message: STUNMessage, from source: Endpoint) -> Datagram {
        if let alternate {
            return answer(
                message, [.errorCode(300, reason: "Try Alternate"), .alternateServer(alternate)], .error, signed: true,
                to: source)
        }
        if !refusals.isEmpty { return refuse(message, refusals.removeFirst(), to: source) }
        guard !allocations.contains(where: { $0.client == source }) else { return refuse(message, 437, to: source) }
        let wantsVersion6 = message.attributes.contains(.requestedAddressFamily(2))
        guard wantsVersion6 != endpoint.address.isVersion4 else { return refuse(message, 440, to: source) }
        let relayed = Endpoint(endpoint.address, nextPort)
        nextPort += 1
        allocations.append(Allocation(client: source, relayed: relayed))
        return answer(
            message, [.xorRelayedAddress(relayed), .xorMappedAddress(source), .lifetime(600)], signed: true, to: source)
    }

    private mutating func receiveChannelData(_ bytes: [UInt8], from source: Endpoint) -> [Datagram] {
        let number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        let length = Int(bytes[2]) << 8 | Int(bytes[3])
        guard let allocation = allocations.first(where: { $0.client == source }),
            let peer = allocation.channels[number], bytes.count >= 4 + length
        else { return [] }
        receivedChannelData += 1
        return [Datagram(bytes: Array(bytes[4..<4 + length]), source: allocation.relayed, destination: peer)]
    }

    private func relay(_ bytes: [UInt8], from source: Endpoint, to relayed: Endpoint) -> [Datagram] {
        guard let allocation = allocations.first(where: { $0.relayed == relayed }),
            allocation.permissions.contains(source.address)
        else { return [] }
        let wrapped: [UInt8]
        if let channel = allocation.channels.first(where: { $0.value == source })?.key {
            wrapped =
                [UInt8(channel >> 8), UInt8(channel & 0xFF), UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
        } else {
            wrapped = STUNMessage(
                .indication, .data, transactionID: STUNTransactionID(high: 0, low: 0),
                attributes: [.xorPeerAddress(source), .data(bytes)]
            ).bytes(addingFingerprint: false, authenticator: Authenticator())
        }
        return [Datagram(bytes: wrapped, source: endpoint, destination: allocation.client)]
    }

    private func challenge(_ message: STUNMessage, _ code: Int, to source: Endpoint) -> Datagram {
        var attributes: [STUNAttribute] = [
            .errorCode(code, reason: "Challenge"), .realm(Array(realm.utf8)), .nonce(Array(nonce.utf8)),
        ]
        if isModern { attributes.append(.passwordAlgorithms([.md5, .sha256])) }
        return answer(message, attributes, .error, to: source)
    }

    private func refuse(_ message: STUNMessage, _ code: Int, to source: Endpoint) -> Datagram {
        answer(message, [.errorCode(code, reason: "Refused")], .error, signed: true, to: source)
    }

    private func answer(
        _ message: STUNMessage, _ attributes: [STUNAttribute], _ messageClass: STUNClass = .success,
        signed: Bool = false, to destination: Endpoint
    ) -> Datagram {
        let answer = STUNMessage(
            messageClass, message.method, transactionID: message.transactionID, attributes: attributes)
        return Datagram(
            bytes: answer.bytes(key: signed ? key : nil, authenticator: Authenticator()), source: endpoint,
            destination: destination)
    }
}
