internal import OffhookBasics

// Our own checks (RFC 8445 §6.1.4, §7.2).
extension ICEAgent {
    /// Starts new transactions as fast as the pacing allows.
    mutating func pace(at now: Instant, actions: inout [ICEAction]) {
        while now >= nextPaceAt, startNext(at: now, actions: &actions) {
            nextPaceAt = now + configuration.pacing
        }
    }

    var hasNext: Bool {
        !gatherQueue.isEmpty
            || streams.contains { canCheck($0) && (!$0.checkList.triggered.isEmpty || nextOrdinary(in: $0) != nil) }
    }

    private mutating func startNext(at now: Instant, actions: inout [ICEAction]) -> Bool {
        if !gatherQueue.isEmpty {
            start(gatherQueue.removeFirst(), at: now, actions: &actions)
            return true
        }
        for offset in 0..<streams.count {
            let index = (nextStreamIndex + offset) % streams.count
            guard canCheck(streams[index]),
                let pair = streams[index].checkList.takeTriggered() ?? nextOrdinary(in: streams[index])
            else { continue }
            nextStreamIndex = index + 1
            startCheck(of: pair, in: index, at: now, actions: &actions)
            return true
        }
        return false
    }

    private func canCheck(_ stream: ICEStream) -> Bool {
        stream.remote != nil && !configuration.isLite
    }

    /// The best waiting pair; without one, the best frozen pair whose foundation nobody is checking.
    private func nextOrdinary(in stream: ICEStream) -> Int? {
        let pairs = stream.checkList.pairs
        if let waiting = pairs.firstIndex(where: { $0.state == .waiting && stream.isOpen($0.component) }) {
            return waiting
        }
        return pairs.firstIndex { pair in
            pair.state == .frozen && stream.isOpen(pair.component)
                && !streams.contains {
                    $0.checkList.hasState(pair.foundation) { $0 == .waiting || $0 == .inProgress }
                }
        }
    }

    private mutating func startCheck(
        of index: Int, in streamIndex: Int, at now: Instant, actions: inout [ICEAction]
    ) {
        let stream = streams[streamIndex]
        let pair = stream.checkList[index]
        guard let remote = stream.remote else { return }
        // Where the path is known to work, a caller who waits for a sound need not wait ever longer for a repetition.
        let steadyCount = pair.isHeard || pair.isValid ? configuration.steadyCount : 0
        let purpose = ICETransaction.Purpose.check(stream.id, pair: pair.id)
        for earlier in transactions.indices where transactions[earlier].purpose == purpose {
            transactions[earlier].isCancelled = true
        }
        streams[streamIndex].checkList[index].state = .inProgress
        request(
            purpose, username: Array("\(remote.userFragment):\(stream.local.userFragment)".utf8),
            key: STUNKey(shortTerm: remote.password), local: pair.local, base: pair.base,
            destination: pair.destination, usesCandidate: role == .controlling && pair.isNominating,
            retransmission: STUNRetransmission(
                initialTimeout: checkTimeout, requestCount: configuration.requestCount + steadyCount,
                steadyCount: steadyCount, at: now),
            at: now, actions: &actions)
    }

    /// RFC 8445 §14.3: more pairs under way mean slower repetition.
    private var checkTimeout: Duration {
        let active = streams.reduce(0) { sum, stream in
            sum + stream.checkList.pairs.count { $0.state == .waiting || $0.state == .inProgress }
        }
        return max(configuration.initialTimeout, configuration.pacing * active)
    }

    /// Sends a Binding request that bears what ICE adds (RFC 8445 §7.1).
    mutating func request(
        _ purpose: ICETransaction.Purpose, username: [UInt8], key: STUNKey, local: ICECandidate, base: ICEBase,
        destination: Endpoint, usesCandidate: Bool, retransmission: STUNRetransmission, at now: Instant,
        actions: inout [ICEAction]
    ) {
        let id = STUNTransactionID(random: &random)
        // The priority that a candidate found by this check would have (RFC 8445 §7.1.1).
        let priority = ICECandidate.priority(
            kind: .peerReflexive, localPreference: local.localPreference, component: local.component)
        var attributes: [STUNAttribute] = [
            .username(username), .priority(priority),
            role == .controlling ? .iceControlling(tieBreaker) : .iceControlled(tieBreaker),
        ]
        if usesCandidate { attributes.append(.useCandidate) }
        let bytes = STUNMessage(.request, .binding, transactionID: id, attributes: attributes)
            .bytes(key: key, authenticator: authenticator)
        transactions.append(
            ICETransaction(
                id: id, purpose: purpose, bytes: bytes, base: base, destination: destination, key: key, role: role,
                usesCandidate: usesCandidate, retransmission: retransmission))
        send(bytes, by: base, to: destination, at: now, actions: &actions)
    }

    // MARK: Answers

    mutating func receiveAnswer(
        _ message: STUNMessage, _ datagram: RawSpan, by base: ICEBase, from source: Endpoint, at now: Instant,
        actions: inout [ICEAction]
    ) {
        guard let index = transactions.firstIndex(where: { $0.id == message.transactionID }) else { return }
        let transaction = transactions[index]
        // An answer that is not signed by the far side is as good as none (RFC 8489 §9.1.4).
        if let key = transaction.key {
            guard STUNMessage.isSigned(datagram, key: key, authenticator: authenticator) else { return }
        }
        guard message.method == .binding else { return }
        transactions.remove(at: index)
        let isSymmetric =
            transaction.base == base && transaction.destination.withoutScope == source.withoutScope
        let isUnderstood = message.unknownRequiredAttributes.isEmpty
        let mapped = message.messageClass == .success && isUnderstood ? message.mappedEndpoint : nil
        switch transaction.purpose {
        case .reflexive(let socket):
            guard let mapped, isSymmetric else { return }
            learnReflexive(mapped, of: socket, from: transaction.destination, at: now, actions: &actions)
        case .check(let stream, let pair):
            guard let streamIndex = self.index(of: stream),
                let pairIndex = streams[streamIndex].checkList.index(of: pair)
            else { return }
            if message.errorCode == 487 {
                yieldRole(after: transaction, actions: &actions)
                streams[streamIndex].checkList[pairIndex].state = .waiting
                streams[streamIndex].checkList.trigger(pair)
            } else if let mapped, isSymmetric {
                succeed(pair, of: streamIndex, mapped: mapped, after: transaction, at: now, actions: &actions)
            } else {
                // Refused, or answered from elsewhere (RFC 8445 §7.2.5.2.1).
                failCheck(pair, of: streamIndex)
            }
        case .consent(let stream, let pair):
            if message.errorCode == 487 {
                yieldRole(after: transaction, actions: &actions)
            } else if mapped != nil, isSymmetric {
                renewConsent(of: stream, pair: pair, at: now, actions: &actions)
            }
        }
    }

    private mutating func succeed(
        _ id: Int, of streamIndex: Int, mapped: Endpoint, after transaction: ICETransaction, at now: Instant,
        actions: inout [ICEAction]
    ) {
        guard let index = streams[streamIndex].checkList.index(of: id) else { return }
        var pair = streams[streamIndex].checkList[index]
        pair.state = .succeeded
        pair.isValid = true
        pair.lastSuccessAt = now
        pair.mapped = mapped
        pair.roundTrip = now - transaction.retransmission.lastSentAt
        let isNominated =
            pair.isNominatedOnSuccess
            || pair.isNominating && transaction.usesCandidate && transaction.role == role
        pair.isNominatedOnSuccess = false
        if transaction.usesCandidate { pair.isNominating = false }
        streams[streamIndex].checkList[index] = pair
        streams[streamIndex].lastProgressAt = now
        if streams[streamIndex].firstValidAt[pair.component] == nil {
            streams[streamIndex].firstValidAt[pair.component] = now
        }
        for stream in streams.indices { streams[stream].checkList.unfreeze(pair.foundation) }
        // An answer to any check of the pair is consent (RFC 7675 §5.1).
        renewConsent(of: streams[streamIndex].id, pair: id, at: now, actions: &actions)
        if isNominated {
            if role == .controlling {
                select(id, of: streamIndex, at: now, actions: &actions)
            } else {
                follow(id, of: streamIndex, at: now, actions: &actions)
            }
        }
    }

    /// A check, or all of its repetitions, came to nothing.
    mutating func failCheck(_ id: Int, of streamIndex: Int) {
        guard let index = streams[streamIndex].checkList.index(of: id) else { return }
        streams[streamIndex].checkList[index].state = .failed
        streams[streamIndex].checkList[index].isValid = false
        streams[streamIndex].checkList[index].isNominating = false
        streams[streamIndex].checkList[index].isNominatedOnSuccess = false
    }

    // MARK: Roles

    /// The far side insists on the role that we had when we asked (RFC 8445 §7.2.5.1).
    private mutating func yieldRole(after transaction: ICETransaction, actions: inout [ICEAction]) {
        guard transaction.role == role, !configuration.isLite else { return }
        changeRole(actions: &actions)
        tieBreaker = random.next()
    }

    mutating func changeRole(actions: inout [ICEAction]) {
        role = role.opposite
        for index in streams.indices { streams[index].checkList.setRole(role) }
        actions.append(.roleChanged(role))
    }
}
