package import OffhookBasics

// The far side's checks (RFC 8445 §7.3).
extension ICEAgent {
    /// Shows a datagram to the agent.
    package mutating func receive(
        _ datagram: RawSpan, on socket: SocketID, from source: Endpoint, at now: Instant, actions: inout [ICEAction]
    ) -> ICEReceipt {
        // Media is nearly everything that comes: it is told apart by its first byte (RFC 7983 §7).
        guard datagram.byteCount >= 4, datagram.loadByte(at: 0) < 0x80 else { return .notSTUN }
        for index in relays.indices
        where relays[index].socket == socket && relays[index].client.server.transport == .udp
            && relays[index].client.server.endpoint == source
        {
            let (id, component) = (relays[index].id, relays[index].component)
            var turnActions: [TURNAction] = []
            let receipt = relays[index].client.receive(datagram, at: now, actions: &turnActions)
            perform(turnActions, of: id, at: now, actions: &actions)
            switch receipt {
            case .notMine:
                continue
            case .handled:
                settle(at: now, actions: &actions)
                return .handled
            case .data(let range, let peer):
                let payload = datagram.extracting(range)
                guard STUNMessage.isSTUN(payload) else { return .relayedMedia(range, component) }
                receiveSTUN(payload, by: .relay(id), from: peer, at: now, actions: &actions)
                settle(at: now, actions: &actions)
                return .handled
            }
        }
        guard STUNMessage.isSTUN(datagram) else { return .notSTUN }
        guard sockets.contains(where: { $0.id == socket }) else { return .handled }
        receiveSTUN(datagram, by: .socket(socket), from: source, at: now, actions: &actions)
        settle(at: now, actions: &actions)
        return .handled
    }

    /// Bytes of a TURN server's connection, cut anyhow.
    package mutating func receiveStream(
        _ bytes: RawSpan, on socket: SocketID, at now: Instant, actions: inout [ICEAction]
    ) {
        guard
            let index = relays.firstIndex(where: { $0.socket == socket && $0.client.server.transport == .stream })
        else { return }
        let id = relays[index].id
        var turnActions: [TURNAction] = []
        relays[index].client.receiveStream(bytes, at: now, actions: &turnActions)
        perform(turnActions, of: id, at: now, actions: &actions)
        settle(at: now, actions: &actions)
    }

    mutating func receiveSTUN(
        _ datagram: RawSpan, by base: ICEBase, from source: Endpoint, at now: Instant, actions: inout [ICEAction]
    ) {
        // Of what cannot be read nothing can be answered; the sender repeats what was damaged on the way.
        guard let message = try? STUNMessage(parsing: datagram) else { return }
        switch message.messageClass {
        case .request:
            receiveRequest(message, datagram, by: base, from: source, at: now, actions: &actions)
        case .success, .error:
            receiveAnswer(message, datagram, by: base, from: source, at: now, actions: &actions)
        case .indication:
            // A keep-alive (RFC 8445 §11).
            break
        }
    }

    private mutating func receiveRequest(
        _ message: STUNMessage, _ datagram: RawSpan, by base: ICEBase, from source: Endpoint, at now: Instant,
        actions: inout [ICEAction]
    ) {
        guard let index = streams.firstIndex(where: { $0.localCandidates.contains { $0.base == base } }),
            let local = streams[index].localCandidates.first(where: { $0.base == base }), isTold(local.candidate)
        else { return }
        let isSigned = message.contains(STUNAttributeType.messageIntegrity)
        guard let username = message.username, isSigned else {
            // A bare Binding request is some client's keep-alive, and not worth an answer; half a credential is wrong.
            if message.username != nil || isSigned {
                refuse(message, 400, "Bad Request", by: base, to: source, at: now, actions: &actions)
            }
            return
        }
        let fragment = username.prefix { $0 != UInt8(ascii: ":") }
        let former = streams[index].former?.local
        let isFormer = former.map { fragment.elementsEqual($0.userFragment.utf8) } ?? false
        guard let credentials = isFormer ? former : streams[index].local,
            isFormer || fragment.elementsEqual(credentials.userFragment.utf8),
            STUNMessage.isSigned(
                datagram, key: STUNKey(shortTerm: credentials.password), authenticator: authenticator)
        else {
            refuse(message, 401, "Unauthenticated", by: base, to: source, at: now, actions: &actions)
            return
        }
        let key = STUNKey(shortTerm: credentials.password)
        guard message.method == .binding else {
            refuse(message, 400, "Bad Request", key: key, by: base, to: source, at: now, actions: &actions)
            return
        }
        let unknown = message.unknownRequiredAttributes
        guard unknown.isEmpty else {
            refuse(
                message, 420, "Unknown Attribute", key: key, adding: [.unknownAttributes(unknown)], by: base,
                to: source, at: now, actions: &actions)
            return
        }
        guard settleRoles(with: message, actions: &actions) else {
            refuse(message, 487, "Role Conflict", key: key, by: base, to: source, at: now, actions: &actions)
            return
        }
        let answer = STUNMessage(
            .success, .binding, transactionID: message.transactionID,
            attributes: [.xorMappedAddress(source.withoutScope)])
        send(
            answer.bytes(key: key, authenticator: authenticator), by: base, to: source, at: now, actions: &actions)
        // What belongs to the time before a restart is answered, so that the old pair lives, and changes nothing.
        guard !isFormer else { return }
        let check = EarlyCheck(
            base: base, source: source, priority: message.priority,
            usesCandidate: message.contains(STUNAttributeType.useCandidate))
        if streams[index].remote == nil {
            if streams[index].earlyChecks.count < Self.earlyCheckLimit { streams[index].earlyChecks.append(check) }
        } else {
            accept(check, for: index, at: now, actions: &actions)
        }
    }

    private mutating func refuse(
        _ message: STUNMessage, _ code: Int, _ reason: String, key: STUNKey? = nil, adding more: [STUNAttribute] = [],
        by base: ICEBase, to source: Endpoint, at now: Instant, actions: inout [ICEAction]
    ) {
        let answer = STUNMessage(
            .error, message.method, transactionID: message.transactionID,
            attributes: [.errorCode(code, reason: reason)] + more)
        send(
            answer.bytes(key: key, authenticator: authenticator), by: base, to: source, at: now, actions: &actions)
    }

    /// Whether the sender's role goes with ours, now or after we gave way (RFC 8445 §7.3.1.1).
    private mutating func settleRoles(with message: STUNMessage, actions: inout [ICEAction]) -> Bool {
        let controlling: UInt64? = message.first { if case .iceControlling(let value) = $0 { value } else { nil } }
        let controlled: UInt64? = message.first { if case .iceControlled(let value) = $0 { value } else { nil } }
        if role == .controlling, let controlling {
            if tieBreaker >= controlling { return false }
            changeRole(actions: &actions)
        } else if role == .controlled, let controlled, !configuration.isLite {
            if tieBreaker < controlled { return false }
            changeRole(actions: &actions)
        }
        return true
    }

    /// Learns from an authenticated check: a new address, a pair to check in turn, a nomination (RFC 8445 §7.3.1).
    mutating func accept(
        _ check: EarlyCheck, for index: Int, at now: Instant, actions: inout [ICEAction]
    ) {
        guard let local = streams[index].localCandidates.first(where: { $0.base == check.base && $0.formsPairs }),
            let id = pairID(for: check, local: local, in: index, at: now, actions: &actions),
            let pairIndex = streams[index].checkList.index(of: id)
        else { return }
        if check.usesCandidate, role == .controlled, streams[index].checkList[pairIndex].firstNominatedAt == nil {
            streams[index].checkList[pairIndex].firstNominatedAt = now
        }
        if configuration.isLite {
            streams[index].checkList[pairIndex].state = .succeeded
            streams[index].checkList[pairIndex].isValid = true
            streams[index].checkList[pairIndex].lastSuccessAt = now
            if check.usesCandidate { follow(id, of: index, at: now, actions: &actions) }
            return
        }
        streams[index].checkList[pairIndex].isHeard = true
        let pair = streams[index].checkList[pairIndex]
        if check.usesCandidate, role == .controlled {
            if pair.state == .succeeded {
                follow(id, of: index, at: now, actions: &actions)
            } else {
                streams[index].checkList[pairIndex].isNominatedOnSuccess = true
            }
        }
        if pair.state != .succeeded {
            if pair.state != .inProgress { streams[index].checkList[pairIndex].state = .waiting }
            streams[index].checkList.trigger(id)
        }
    }

    private mutating func pairID(
        for check: EarlyCheck, local: LocalCandidate, in index: Int, at now: Instant, actions: inout [ICEAction]
    ) -> Int? {
        let source = check.source.withoutScope
        let known = streams[index].checkList.pairs.first {
            $0.base == check.base && $0.remote.endpoint == source
        }
        if let known { return known.id }
        let component = local.candidate.component
        let remote: ICECandidate
        let signalled = streams[index].remoteCandidates.first { $0.component == component && $0.endpoint == source }
        if let signalled {
            remote = signalled
        } else {
            remote = ICECandidate(
                foundation: "prflx\(number())", component: component,
                priority: check.priority
                    ?? ICECandidate.priority(kind: .peerReflexive, localPreference: 0, component: component),
                endpoint: source, kind: .peerReflexive)
            // The newest counts: an address that changes often must not lock itself out.
            if streams[index].remoteCandidates.count >= Self.candidateLimit {
                let oldest = streams[index].remoteCandidates.firstIndex { $0.kind == .peerReflexive }
                guard let oldest else { return nil }
                let forgotten = streams[index].remoteCandidates.remove(at: oldest)
                streams[index].paired.remove(PairEnds(base: check.base, remote: forgotten.endpoint))
            }
            streams[index].remoteCandidates.append(remote)
        }
        let new = pair(local, remote)
        streams[index].paired.insert(PairEnds(base: check.base, remote: source))
        streams[index].checkList.insert(new)
        streams[index].checkList.trim(to: max(configuration.pairLimit / max(streams.count, 1), 1), keeping: new.id)
        streams[index].lastProgressAt = now
        if streams[index].status == .failed { streams[index].status = .checking }
        permit(new, at: now, actions: &actions)
        return new.id
    }
}
