internal import OffhookBasics

// Whether what was selected still works (RFC 7675).
extension ICEAgent {
    mutating func consentDelay() -> Duration {
        // A lite agent only keeps the binding open (RFC 8445 §11).
        guard !configuration.isLite else { return Self.keepAliveInterval }
        let thousandths = 800 + Int(random.next() % 401)
        return configuration.consentInterval * thousandths / 1000
    }

    mutating func watch(at now: Instant, actions: inout [ICEAction]) {
        for index in streams.indices {
            for selected in streams[index].selections.indices
            where now >= streams[index].selections[selected].nextCheckAt {
                let nextCheckAt = now + consentDelay()
                streams[index].selections[selected].nextCheckAt = nextCheckAt
                checkConsent(streams[index].selections[selected], of: index, at: now, actions: &actions)
                if streams[index].selections[selected].unansweredSince == nil {
                    streams[index].selections[selected].unansweredSince = now
                }
            }
            watchFormer(of: index, at: now, actions: &actions)
            guard !configuration.isLite else { continue }
            expireConsent(of: index, at: now, actions: &actions)
            expireValidPairs(of: index, at: now)
        }
    }

    /// A pair that is valid but not selected may carry media for as long as consent lasts after its last check.
    private mutating func expireValidPairs(of index: Int, at now: Instant) {
        for pair in streams[index].checkList.pairs.indices {
            guard let expiry = expiry(of: streams[index].checkList[pair]), now >= expiry else { continue }
            streams[index].checkList[pair].isValid = false
        }
    }

    func expiry(of pair: CandidatePair) -> Instant? {
        guard pair.isValid, let lastSuccessAt = pair.lastSuccessAt else { return nil }
        return lastSuccessAt + configuration.consentLifetime
    }

    private mutating func watchFormer(of index: Int, at now: Instant, actions: inout [ICEAction]) {
        guard var former = streams[index].former else { return }
        for selected in former.selections.indices where now >= former.selections[selected].nextCheckAt {
            former.selections[selected].nextCheckAt = now + consentDelay()
            checkConsent(former.selections[selected], of: index, at: now, actions: &actions)
        }
        if !configuration.isLite {
            let lost = former.selections.filter { now - $0.lastAnswerAt >= configuration.consentLifetime }
            former.selections.removeAll { now - $0.lastAnswerAt >= configuration.consentLifetime }
            for selection in lost where streams[index].selection(of: selection.component) == nil {
                actions.append(.consentLost(ICEComponentID(streams[index].id, selection.component)))
            }
        }
        streams[index].former = former
    }

    private mutating func checkConsent(
        _ selection: Selection, of index: Int, at now: Instant, actions: inout [ICEAction]
    ) {
        if configuration.isLite {
            let bytes = STUNMessage(.indication, .binding, transactionID: STUNTransactionID(random: &random))
                .bytes(authenticator: authenticator)
            send(bytes, by: selection.base, to: selection.destination, at: now, actions: &actions)
            return
        }
        // Bearing USE-CANDIDATE, it also moves a controlled peer along when our address has changed on the way.
        request(
            .consent(streams[index].id, pair: selection.pairID), username: selection.username, key: selection.key,
            local: selection.pair.local, base: selection.base, destination: selection.destination,
            usesCandidate: role == .controlling,
            // Consent checks are not repeated (RFC 7675 §5.1).
            retransmission: STUNRetransmission(
                initialTimeout: configuration.initialTimeout, requestCount: 1, at: now),
            at: now, actions: &actions)
    }

    private mutating func expireConsent(of index: Int, at now: Instant, actions: inout [ICEAction]) {
        for selected in streams[index].selections.indices.reversed() {
            let selection = streams[index].selections[selected]
            let silence = now - selection.lastAnswerAt
            if silence >= configuration.consentLifetime {
                streams[index].selections.remove(at: selected)
                streams[index].lastProgressAt = now
                failCheck(selection.pairID, of: index)
                transactions.removeAll { $0.purpose == .consent(streams[index].id, pair: selection.pairID) }
                // The path that is dead for the one is so for whatever was found before it.
                invalidate(selection.component, of: index, before: selection.lastAnswerAt)
                actions.append(.consentLost(ICEComponentID(streams[index].id, selection.component)))
            } else if silence >= configuration.disconnectedAfter, !selection.isSilent {
                streams[index].selections[selected].isSilent = true
                revive(selection, of: index)
                fallBack(from: selection, of: index, at: now, actions: &actions)
            }
        }
    }

    /// Media may not go by a pair that nothing has been heard of for as long as consent lasts.
    private mutating func invalidate(_ component: UInt16, of index: Int, before instant: Instant) {
        for pair in streams[index].checkList.pairs.indices {
            let lastSuccessAt = streams[index].checkList[pair].lastSuccessAt
            guard streams[index].checkList[pair].component == component, let lastSuccessAt, lastSuccessAt <= instant
            else { continue }
            streams[index].checkList[pair].isValid = false
            if streams[index].checkList[pair].state == .succeeded { streams[index].checkList[pair].state = .waiting }
        }
    }

    /// Checks all pairs of a component anew, in search of one that works, the selected one first: on a path that loses
    /// much, consent checks, which are not repeated, may be lost six times in a row, but a check that is repeated is not.
    private mutating func revive(_ selection: Selection, of index: Int) {
        for pair in streams[index].checkList.pairs.indices {
            let known = streams[index].checkList[pair]
            guard known.component == selection.component, known.state == .failed || known.state == .succeeded else {
                continue
            }
            streams[index].checkList[pair].state = .waiting
            if known.id == selection.pairID { streams[index].checkList.trigger(known.id) }
        }
    }

    /// Controlled, does not wait for a nomination where another pair has worked since: the far side may not know that
    /// our path to it has changed.
    private mutating func fallBack(
        from selection: Selection, of index: Int, at now: Instant, actions: inout [ICEAction]
    ) {
        guard role == .controlled else { return }
        let pair = streams[index].checkList.pairs.first { pair in
            pair.component == selection.component && pair.isValid && pair.id != selection.pairID
                && (pair.lastSuccessAt.map { $0 > selection.lastAnswerAt } ?? false)
        }
        if let pair { select(pair.id, of: index, at: now, actions: &actions) }
    }

    mutating func renewConsent(of stream: ICEStreamID, pair id: Int, at now: Instant, actions: inout [ICEAction]) {
        guard let index = index(of: stream) else { return }
        if let selected = streams[index].selections.firstIndex(where: { $0.pairID == id }) {
            streams[index].selections[selected].lastAnswerAt = now
            streams[index].selections[selected].unansweredSince = nil
            streams[index].selections[selected].isSilent = false
        } else if let selected = streams[index].former?.selections.firstIndex(where: { $0.pairID == id }) {
            streams[index].former?.selections[selected].lastAnswerAt = now
        }
    }

    // MARK: States

    /// Tells how each stream fares, where that changed.
    mutating func judge(at now: Instant, actions: inout [ICEAction]) {
        for index in streams.indices {
            let stream = streams[index]
            let works = stream.isFullySelected && !stream.selections.contains { $0.isSilent }
            switch stream.status {
            case .checking where works, .disconnected where works, .failed where works, .idle where works:
                streams[index].status = .connected
                actions.append(.connected(stream.id))
            case .connected where !works && !isCarriedByFormer(stream):
                streams[index].status = .disconnected
                actions.append(.disconnected(stream.id))
            case .checking, .disconnected:
                guard let failure = failureDeadline(of: stream), now >= failure else { continue }
                streams[index].status = .failed
                actions.append(.failed(stream.id))
            case .idle, .connected, .failed:
                continue
            }
        }
    }

    /// During a restart the old pair still carries media.
    private func isCarriedByFormer(_ stream: ICEStream) -> Bool {
        guard let former = stream.former else { return false }
        return stream.components.allSatisfy { component in
            stream.selection(of: component) != nil || former.selections.contains { $0.component == component }
        }
    }

    /// When a stream fails unless something comes of some pair: at once is too soon, since the far side's checks may yet
    /// tell of a pair (RFC 8863 §4).
    func failureDeadline(of stream: ICEStream) -> Instant? {
        guard stream.remote != nil, stream.status == .checking || stream.status == .disconnected else { return nil }
        let isHopeless = stream.components.contains { component in
            stream.selection(of: component) == nil
                && !stream.checkList.pairs.contains { $0.component == component && $0.isActive }
        }
        return isHopeless ? stream.lastProgressAt + configuration.failurePatience : nil
    }
}
