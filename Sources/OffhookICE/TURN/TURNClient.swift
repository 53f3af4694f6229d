package import OffhookBasics

/// One allocation at a TURN server (RFC 8656): its credentials, refreshes, permissions and channels.
package struct TURNClient: Sendable {
    enum State: Sendable {
        case idle
        case allocating
        case allocated(refreshAt: Instant)
        /// The refresh with lifetime 0 is on its way.
        case closing
        case ended
    }

    enum Purpose: Hashable, Sendable {
        case allocate
        case refresh
        /// A refresh with lifetime 0 that ends the allocation.
        case release
        /// Likewise, of an older allocation that stands in our way (437).
        case clear
        case permission(IPAddress)
        case channel(Endpoint, UInt16)
    }

    struct Transaction: Sendable {
        let id: STUNTransactionID
        let purpose: Purpose
        let bytes: [UInt8]
        /// What signed it; nil before the server told its realm.
        let key: STUNKey?
        /// How many stale nonces this purpose has met already.
        let staleNonces: Int
        var retransmission: STUNRetransmission
    }

    struct Permission: Sendable {
        enum State: Sendable {
            case requested
            case granted(renewAt: Instant)
            case refused(until: Instant)
        }

        let address: IPAddress
        var state: State
        /// Datagrams that wait for the permission.
        var waiting: [(payload: [UInt8], peer: Endpoint)] = []
    }

    struct Channel: Sendable {
        let peer: Endpoint
        let number: UInt16
        /// When to bind it anew; nil until it is bound the first time.
        var renewAt: Instant?
    }

    /// The server, or the one that it sent us on to.
    package internal(set) var server: TURNServer
    /// The relayed transport address, while we have one.
    package internal(set) var relayed: Endpoint?

    var state = State.idle
    var challenge: TURNChallenge?
    var transactions: [Transaction] = []
    var permissions: [Permission] = []
    var channels: [Channel] = []
    /// Servers asked so far, by whom a redirection must not lead back.
    var askedServers: Set<Endpoint> = []
    var hasClearedOldAllocation = false
    private var framer = STUNStreamFramer()
    private var nextChannelNumber: UInt16 = 0x4000
    private let initialTimeout: Duration
    private var random: SeededRandom
    let authenticator: any MessageAuthenticator

    package init(
        server: TURNServer, seed: UInt64, authenticator: any MessageAuthenticator,
        initialTimeout: Duration = .milliseconds(500)
    ) {
        self.server = server
        self.authenticator = authenticator
        self.initialTimeout = initialTimeout
        random = SeededRandom(seed: seed)
    }

    package var isAllocating: Bool {
        if case .allocating = state { true } else { false }
    }

    var isAllocated: Bool {
        if case .allocated = state { true } else { false }
    }

    // MARK: What is wanted

    package mutating func allocate(at now: Instant, actions: inout [TURNAction]) {
        guard case .idle = state else { return }
        state = .allocating
        askedServers.insert(server.endpoint)
        request(.allocate, at: now, actions: &actions)
    }

    /// Lets peers at an address reach us, and us them.
    package mutating func permit(_ address: IPAddress, at now: Instant, actions: inout [TURNAction]) {
        guard isAllocated, !permissions.contains(where: { $0.address == address }) else { return }
        permissions.append(Permission(address: address, state: .requested))
        request(.permission(address), at: now, actions: &actions)
    }

    /// Gives the peer a channel, which spares 32 bytes a datagram. Until it is up, `send` goes the long way.
    package mutating func bindChannel(to peer: Endpoint, at now: Instant, actions: inout [TURNAction]) {
        // 0x4000 to 0x4FFF are all there are (RFC 8656 §12).
        guard isAllocated, nextChannelNumber <= 0x4FFF, !channels.contains(where: { $0.peer == peer }) else { return }
        permit(peer.address, at: now, actions: &actions)
        channels.append(Channel(peer: peer, number: nextChannelNumber, renewAt: nil))
        request(.channel(peer, nextChannelNumber), at: now, actions: &actions)
        nextChannelNumber += 1
    }

    /// Sends a datagram to a peer. One that finds no permission waits for it.
    package mutating func send(
        _ payload: RawSpan, to peer: Endpoint, at now: Instant, actions: inout [TURNAction]
    ) {
        guard isAllocated else { return }
        if let channel = channels.first(where: { $0.peer == peer && $0.renewAt != nil }) {
            actions.append(.send(channelData(payload, number: channel.number)))
            return
        }
        permit(peer.address, at: now, actions: &actions)
        guard let index = permissions.firstIndex(where: { $0.address == peer.address }) else { return }
        switch permissions[index].state {
        case .granted:
            actions.append(.send(sendIndication(payload.array, to: peer)))
        case .requested:
            if permissions[index].waiting.count < 8 { permissions[index].waiting.append((payload.array, peer)) }
        case .refused:
            break
        }
    }

    /// Gives the allocation back.
    package mutating func close(at now: Instant, actions: inout [TURNAction]) {
        let hadAllocation = isAllocated
        transactions = []
        permissions = []
        channels = []
        relayed = nil
        state = hadAllocation ? .closing : .ended
        if hadAllocation { request(.release, at: now, actions: &actions) }
    }

    // MARK: What comes

    package mutating func receive(
        _ datagram: RawSpan, at now: Instant, actions: inout [TURNAction]
    ) -> TURNReceipt {
        guard datagram.byteCount >= 4 else { return .notMine }
        let first = datagram.loadByte(at: 0)
        if (0x40...0x7F).contains(first) { return receiveChannelData(datagram) }
        guard first < 4, let message = try? STUNMessage(parsing: datagram) else { return .notMine }
        switch message.messageClass {
        case .indication where message.method == .data:
            return receiveDataIndication(message, datagram)
        case .success, .error:
            guard let index = transactions.firstIndex(where: { $0.id == message.transactionID }) else {
                return .notMine
            }
            receiveAnswer(message, datagram, to: index, at: now, actions: &actions)
            return .handled
        case .request, .indication:
            return .notMine
        }
    }

    /// Bytes of the connection, cut anyhow; peers' datagrams come out as actions.
    package mutating func receiveStream(_ bytes: RawSpan, at now: Instant, actions: inout [TURNAction]) {
        framer.append(bytes)
        while let message = framer.next() {
            let receipt = message.withUnsafeBytes { receive($0.bytes, at: now, actions: &actions) }
            if case .data(let range, let peer) = receipt {
                actions.append(.received(Array(message[range]), from: peer))
            }
        }
        if framer.isBroken { fail(.brokenStream, actions: &actions) }
    }

    private func receiveChannelData(_ datagram: RawSpan) -> TURNReceipt {
        let number = UInt16(datagram.loadByte(at: 0)) << 8 | UInt16(datagram.loadByte(at: 1))
        let length = Int(datagram.loadByte(at: 2)) << 8 | Int(datagram.loadByte(at: 3))
        guard let channel = channels.first(where: { $0.number == number }) else { return .notMine }
        guard 4 + length <= datagram.byteCount else { return .handled }
        return .data(4..<4 + length, from: channel.peer)
    }

    private func receiveDataIndication(_ message: STUNMessage, _ datagram: RawSpan) -> TURNReceipt {
        guard let peer = message.peerEndpoint,
            let range = STUNMessage.valueRange(of: STUNAttributeType.data, in: datagram),
            permissions.contains(where: { $0.address == peer.address })
        else { return .handled }
        return .data(range, from: peer)
    }

    // MARK: What goes

    /// Sends a new request for a purpose, signed if the server's realm is known.
    mutating func request(
        _ purpose: Purpose, staleNonces: Int = 0, at now: Instant, actions: inout [TURNAction]
    ) {
        let id = STUNTransactionID(random: &random)
        let message = STUNMessage(
            .request, purpose.method, transactionID: id,
            attributes: purpose.attributes(for: server)
                + (challenge?.attributes(for: server, authenticator: authenticator) ?? []))
        let bytes = message.bytes(key: challenge?.key, authenticator: authenticator)
        transactions.append(
            Transaction(
                id: id, purpose: purpose, bytes: bytes, key: challenge?.key, staleNonces: staleNonces,
                retransmission: STUNRetransmission(
                    initialTimeout: initialTimeout, isReliable: server.transport == .stream, at: now)))
        actions.append(.send(bytes))
    }

    mutating func sendIndication(_ payload: [UInt8], to peer: Endpoint) -> [UInt8] {
        let message = STUNMessage(
            .indication, .send, transactionID: STUNTransactionID(random: &random),
            attributes: [.xorPeerAddress(peer), .data(payload)])
        return message.bytes(addingFingerprint: false, authenticator: authenticator)
    }

    private func channelData(_ payload: RawSpan, number: UInt16) -> [UInt8] {
        let count = payload.byteCount
        var writer = ByteWriter(reserving: count + 7)
        writer.write(number)
        writer.write(UInt16(truncatingIfNeeded: count))
        payload.withUnsafeBytes { writer.write($0) }
        // Only a stream needs the padding (RFC 8656 §12.5).
        if server.transport == .stream { writer.write(repeatElement(0, count: -count & 3)) }
        return writer.bytes
    }
}

extension TURNClient.Purpose {
    fileprivate var method: STUNMethod {
        switch self {
        case .allocate: .allocate
        case .refresh, .release, .clear: .refresh
        case .permission: .createPermission
        case .channel: .channelBind
        }
    }

    fileprivate func attributes(for server: TURNServer) -> [STUNAttribute] {
        switch self {
        case .allocate:
            // 17 is UDP. IPv4 is what a server gives unasked (RFC 8656 §7.1).
            let wantsVersion6 = server.wantsVersion6 ?? !server.endpoint.address.isVersion4
            return [.requestedTransport(17)] + (wantsVersion6 ? [.requestedAddressFamily(2)] : [])
        case .refresh:
            return []
        case .release, .clear:
            return [.lifetime(0)]
        case .permission(let address):
            return [.xorPeerAddress(Endpoint(address, 0))]
        case .channel(let peer, let number):
            return [.channelNumber(number), .xorPeerAddress(peer)]
        }
    }
}
