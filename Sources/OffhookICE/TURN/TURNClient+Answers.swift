internal import OffhookBasics

extension TURNClient {
    /// How long a permission lasts, and a channel (RFC 8656 §9, §12), less time to renew them.
    private static let permissionRenewal = Duration.seconds(240)
    private static let channelRenewal = Duration.seconds(540)
    private static let redirectionLimit = 5
    private static let staleNonceLimit = 3

    mutating func receiveAnswer(
        _ message: STUNMessage, _ datagram: RawSpan, to index: Int, at now: Instant, actions: inout [TURNAction]
    ) {
        let transaction = transactions[index]
        guard isTrustworthy(message, datagram, for: transaction) else { return }
        transactions.remove(at: index)
        guard message.unknownRequiredAttributes.isEmpty else {
            giveUp(transaction.purpose, for: .refused(420), at: now, actions: &actions)
            return
        }
        if message.messageClass == .success {
            succeed(transaction.purpose, with: message, at: now, actions: &actions)
        } else {
            refuse(transaction, with: message, at: now, actions: &actions)
        }
    }

    /// A success must be signed once we sign. Challenges cannot be, and some servers sign no refusal at all, so a
    /// refusal must only not be signed wrongly.
    private func isTrustworthy(_ message: STUNMessage, _ datagram: RawSpan, for transaction: Transaction) -> Bool {
        guard let key = transaction.key else { return true }
        let type =
            key.integrity == .sha1 ? STUNAttributeType.messageIntegrity : STUNAttributeType.messageIntegritySHA256
        if message.errorCode == 401 || message.errorCode == 438 { return true }
        // One that sends us elsewhere must be signed (RFC 8489 §10).
        if message.messageClass == .error, !message.contains(type) { return message.errorCode != 300 }
        return STUNMessage.isSigned(datagram, key: key, authenticator: authenticator)
    }

    private mutating func succeed(
        _ purpose: Purpose, with message: STUNMessage, at now: Instant, actions: inout [TURNAction]
    ) {
        switch purpose {
        case .allocate:
            guard let relayed = message.relayedEndpoint else {
                fail(.refused(400), actions: &actions)
                return
            }
            self.relayed = relayed
            state = .allocated(refreshAt: now + Self.renewal(of: message.lifetime))
            actions.append(.allocated(relayed: relayed, mapped: message.mappedEndpoint))
        case .refresh:
            state = .allocated(refreshAt: now + Self.renewal(of: message.lifetime))
        case .release:
            state = .ended
        case .clear:
            request(.allocate, at: now, actions: &actions)
        case .permission(let address):
            guard let index = permissions.firstIndex(where: { $0.address == address }) else { return }
            permissions[index].state = .granted(renewAt: now + Self.permissionRenewal)
            let waiting = permissions[index].waiting
            permissions[index].waiting = []
            for datagram in waiting { actions.append(.send(sendIndication(datagram.payload, to: datagram.peer))) }
        case .channel(let peer, _):
            guard let index = channels.firstIndex(where: { $0.peer == peer }) else { return }
            channels[index].renewAt = now + Self.channelRenewal
        }
    }

    private mutating func refuse(
        _ transaction: Transaction, with message: STUNMessage, at now: Instant, actions: inout [TURNAction]
    ) {
        let purpose = transaction.purpose
        switch message.errorCode ?? 400 {
        case 401 where transaction.key == nil, 438 where transaction.staleNonces < Self.staleNonceLimit:
            guard
                let challenge = TURNChallenge(
                    from: message, previous: challenge, server: server, authenticator: authenticator)
            else {
                giveUp(purpose, for: .untrustworthyChallenge, at: now, actions: &actions)
                return
            }
            self.challenge = challenge
            let staleNonces = transaction.staleNonces + (message.errorCode == 438 ? 1 : 0)
            request(purpose, staleNonces: staleNonces, at: now, actions: &actions)
        case 300 where purpose == .allocate:
            redirect(to: message.alternateServer, at: now, actions: &actions)
        case 437 where purpose == .allocate && !hasClearedOldAllocation:
            // An allocation of an earlier life on the same port: give it back, then ask anew (RFC 8656 §7.4).
            hasClearedOldAllocation = true
            request(.clear, at: now, actions: &actions)
        case let code:
            giveUp(purpose, for: TURNFailure(code: code), at: now, actions: &actions)
        }
    }

    private mutating func redirect(to alternate: Endpoint?, at now: Instant, actions: inout [TURNAction]) {
        guard let alternate else {
            fail(.refused(300), actions: &actions)
            return
        }
        guard server.transport == .udp else {
            fail(.redirected(to: alternate), actions: &actions)
            return
        }
        guard askedServers.count <= Self.redirectionLimit, askedServers.insert(alternate).inserted,
            alternate.address.isVersion4 == server.endpoint.address.isVersion4
        else {
            fail(.redirectionLoop, actions: &actions)
            return
        }
        server.endpoint = alternate
        challenge = nil
        request(.allocate, at: now, actions: &actions)
    }

    /// A purpose is not reached. Only the allocation itself takes everything with it.
    mutating func giveUp(
        _ purpose: Purpose, for failure: TURNFailure, at now: Instant, actions: inout [TURNAction]
    ) {
        switch purpose {
        case .allocate, .refresh:
            fail(failure, actions: &actions)
        case .release:
            state = .ended
        case .clear:
            fail(.allocationMismatch, actions: &actions)
        case .permission(let address):
            if failure == .allocationMismatch {
                fail(failure, actions: &actions)
                return
            }
            guard let index = permissions.firstIndex(where: { $0.address == address }) else { return }
            permissions[index].state = .refused(until: now + Self.permissionRenewal)
            permissions[index].waiting = []
            actions.append(.permissionRefused(address))
        case .channel(let peer, _):
            // Indications still work without the channel; its number must rest, so it is not used again.
            channels.removeAll { $0.peer == peer }
        }
    }

    mutating func fail(_ failure: TURNFailure, actions: inout [TURNAction]) {
        if case .ended = state { return }
        state = .ended
        relayed = nil
        transactions = []
        permissions = []
        channels = []
        actions.append(.failed(failure))
    }

    /// A minute before the end, or half-way where the life is short (RFC 8656 §8).
    private static func renewal(of lifetime: UInt32?) -> Duration {
        let seconds = Int64(min(max(lifetime ?? 600, 10), 86_400))
        return .seconds(seconds >= 120 ? seconds - 60 : seconds / 2)
    }
}
