package import OffhookBasics

extension ICEAgent {
    /// When `handle(timeoutAt:)` should next be called, if ever.
    package var nextDeadline: Instant? {
        var deadline = Instant.distantFuture
        for transaction in transactions { deadline = min(deadline, transaction.retransmission.deadline) }
        for relay in relays { deadline = min(deadline, relay.client.nextDeadline ?? .distantFuture) }
        for binding in reflexiveBindings { deadline = min(deadline, binding.refreshAt) }
        if let gatheringDeadline { deadline = min(deadline, gatheringDeadline) }
        if let nextNomination { deadline = min(deadline, nextNomination) }
        if hasNext { deadline = min(deadline, nextPaceAt) }
        for stream in streams {
            for selection in stream.selections {
                deadline = min(deadline, selection.nextCheckAt)
                guard !configuration.isLite else { continue }
                deadline = min(deadline, selection.lastAnswerAt + configuration.consentLifetime)
                if !selection.isSilent {
                    deadline = min(deadline, selection.lastAnswerAt + configuration.disconnectedAfter)
                }
            }
            for selection in stream.former?.selections ?? [] {
                deadline = min(deadline, selection.nextCheckAt)
                guard !configuration.isLite else { continue }
                deadline = min(deadline, selection.lastAnswerAt + configuration.consentLifetime)
            }
            if !configuration.isLite {
                for pair in stream.checkList.pairs { deadline = min(deadline, expiry(of: pair) ?? .distantFuture) }
            }
            if let failure = failureDeadline(of: stream) { deadline = min(deadline, failure) }
        }
        return deadline == .distantFuture ? nil : deadline
    }

    package mutating func handle(timeoutAt now: Instant, actions: inout [ICEAction]) {
        repeatRequests(at: now, actions: &actions)
        for id in relays.map(\.id) {
            guard let index = relays.firstIndex(where: { $0.id == id }) else { continue }
            var turnActions: [TURNAction] = []
            relays[index].client.handle(timeoutAt: now, actions: &turnActions)
            perform(turnActions, of: id, at: now, actions: &actions)
        }
        refreshBindings(at: now, actions: &actions)
        watch(at: now, actions: &actions)
        settle(at: now, actions: &actions)
    }

    private mutating func repeatRequests(at now: Instant, actions: inout [ICEAction]) {
        var finished: Set<STUNTransactionID> = []
        for index in transactions.indices {
            switch transactions[index].retransmission.step(at: now) {
            case .wait:
                continue
            case .resend:
                let transaction = transactions[index]
                guard !transaction.isCancelled else { continue }
                if isMoot(transaction) {
                    finished.insert(transaction.id)
                } else {
                    send(
                        transaction.bytes, by: transaction.base, to: transaction.destination, at: now,
                        actions: &actions)
                }
            case .timedOut:
                finished.insert(transactions[index].id)
                if !transactions[index].isCancelled, case .check(let stream, let pair) = transactions[index].purpose,
                    let streamIndex = self.index(of: stream)
                {
                    failCheck(pair, of: streamIndex)
                }
            }
        }
        transactions.removeAll { finished.contains($0.id) }
    }

    /// A pair was selected meanwhile, so that this check need not go on (RFC 8445 §8.1.2).
    private mutating func isMoot(_ transaction: ICETransaction) -> Bool {
        guard case .check(let stream, let id) = transaction.purpose, let index = index(of: stream),
            let pairIndex = streams[index].checkList.index(of: id)
        else { return false }
        let pair = streams[index].checkList[pairIndex]
        guard !streams[index].isOpen(pair.component), !pair.isNominating, !pair.isNominatedOnSuccess,
            pair.firstNominatedAt == nil, pair.remote.kind != .peerReflexive
        else { return false }
        streams[index].checkList[pairIndex].state = .waiting
        return true
    }

    private mutating func refreshBindings(at now: Instant, actions: inout [ICEAction]) {
        for index in reflexiveBindings.indices.reversed() where now >= reflexiveBindings[index].refreshAt {
            let binding = reflexiveBindings[index]
            let isNeeded = self.index(of: binding.component.stream).map {
                streams[$0].selection(of: binding.component.component) == nil
            }
            guard isNeeded == true else {
                reflexiveBindings.remove(at: index)
                continue
            }
            let bytes = STUNMessage(.indication, .binding, transactionID: STUNTransactionID(random: &random))
                .bytes(authenticator: authenticator)
            actions.append(.send(bytes, from: binding.socket, to: binding.server))
            reflexiveBindings[index].refreshAt = now + Self.keepAliveInterval
        }
    }
}
