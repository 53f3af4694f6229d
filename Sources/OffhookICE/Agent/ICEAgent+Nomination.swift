internal import OffhookBasics

// Which pair is used (RFC 8445 §8).
extension ICEAgent {
    /// How long the far side's nominations of different pairs belong together, as they do where it is aggressive.
    private static let nominationBurst = Duration.seconds(2)

    /// Controlling, chooses among the pairs that work.
    mutating func nominate(at now: Instant) {
        guard role == .controlling, !configuration.isLite else { return }
        for index in streams.indices where streams[index].remote != nil {
            for component in streams[index].components {
                guard let pair = pairToNominate(component, of: streams[index], at: now) else { continue }
                streams[index].checkList[pair].isNominating = true
                streams[index].checkList.trigger(streams[index].checkList[pair].id)
            }
        }
    }

    private func pairToNominate(_ component: UInt16, of stream: ICEStream, at now: Instant) -> Int? {
        let pairs = stream.checkList.pairs
        guard !pairs.contains(where: { $0.component == component && $0.isNominating }) else { return nil }
        if let selection = stream.selection(of: component) {
            guard selection.isDoubtful(at: now) else { return nil }
            return alternative(to: selection, in: stream)
        }
        guard let best = stream.checkList.bestValid(component), let due = nominationDue(best, of: stream), now >= due
        else { return nil }
        return best
    }

    /// A pair that has worked since the selected one last did: the far side's address has changed, or the path.
    private func alternative(to selection: Selection, in stream: ICEStream) -> Int? {
        stream.checkList.pairs.firstIndex { pair in
            pair.component == selection.component && pair.isValid && pair.id != selection.pairID
                && (pair.lastSuccessAt.map { $0 > selection.lastAnswerAt } ?? false)
        }
    }

    /// Waits for better pairs, yet not long (RFC 8445 §8.1.1 leaves it to us).
    private func nominationDue(_ best: Int, of stream: ICEStream) -> Instant? {
        let pair = stream.checkList[best]
        guard let since = stream.firstValidAt[pair.component] else { return nil }
        let hasBetter = stream.checkList.pairs.contains {
            $0.component == pair.component && $0.priority > pair.priority && $0.isActive
        }
        let mayGetBetter = !(stream.remoteIsComplete && isGatheringComplete) && !pair.isDirect
        guard hasBetter || mayGetBetter else { return since }
        // A relay costs delay and money for the whole call: it is worth a longer wait.
        return since + configuration.nominationPatience * (pair.isRelayed ? 3 : 1)
    }

    var nextNomination: Instant? {
        guard role == .controlling, !configuration.isLite else { return nil }
        var deadline = Instant.distantFuture
        for stream in streams where stream.remote != nil {
            for component in stream.components {
                let isBusy = stream.checkList.pairs.contains { $0.component == component && $0.isNominating }
                guard !isBusy else { continue }
                if let selection = stream.selection(of: component) {
                    guard let since = selection.unansweredSince, alternative(to: selection, in: stream) != nil else {
                        continue
                    }
                    deadline = min(deadline, since + Self.doubt)
                } else if let best = stream.checkList.bestValid(component),
                    let due = nominationDue(best, of: stream)
                {
                    deadline = min(deadline, due)
                }
            }
        }
        return deadline == .distantFuture ? nil : deadline
    }

    /// Controlled, takes a pair that the far side nominated and that works.
    ///
    /// An aggressive peer nominates all pairs in one burst, of which the best counts (RFC 5245 §8.1.1.2); a later
    /// nomination is a change of mind, and is followed whatever its priority.
    mutating func follow(_ id: Int, of index: Int, at now: Instant, actions: inout [ICEAction]) {
        guard let pairIndex = streams[index].checkList.index(of: id) else { return }
        let pair = streams[index].checkList[pairIndex]
        guard let selected = streams[index].selections.firstIndex(where: { $0.component == pair.component }) else {
            select(id, of: index, at: now, actions: &actions)
            return
        }
        let selection = streams[index].selections[selected]
        if selection.pairID == id {
            streams[index].selections[selected].lastNominatedAt = now
            return
        }
        let isFresh =
            pair.firstNominatedAt.map {
                $0 - selection.selectedAt >= Self.nominationBurst && now - $0 < .seconds(5)
            } ?? false
        guard
            pair.priority > selection.priority || selection.isDoubtful(at: now) || isFresh
                || now - selection.lastNominatedAt >= .seconds(7)
        else { return }
        select(id, of: index, at: now, actions: &actions)
    }

    mutating func select(_ id: Int, of index: Int, at now: Instant, actions: inout [ICEAction]) {
        guard let pairIndex = streams[index].checkList.index(of: id), let remote = streams[index].remote else { return }
        let pair = streams[index].checkList[pairIndex]
        guard let route = route(by: pair.base, to: pair.destination) else { return }
        let selected = ICESelectedPair(local: pair.localAsSeen, remote: pair.remote, route: route)
        streams[index].selections.removeAll { $0.component == pair.component }
        streams[index].selections.append(
            Selection(
                component: pair.component, pairID: id, priority: pair.priority, pair: selected, base: pair.base,
                destination: pair.destination,
                username: Array("\(remote.userFragment):\(streams[index].local.userFragment)".utf8),
                key: STUNKey(shortTerm: remote.password), selectedAt: now, lastNominatedAt: now, lastAnswerAt: now,
                nextCheckAt: now + consentDelay()))
        actions.append(.selected(selected, ICEComponentID(streams[index].id, pair.component)))
        if case .relay(let relayID) = pair.base, let relay = relays.firstIndex(where: { $0.id == relayID }) {
            var turnActions: [TURNAction] = []
            relays[relay].client.bindChannel(to: pair.destination, at: now, actions: &turnActions)
            perform(turnActions, of: relayID, at: now, actions: &actions)
        }
        if streams[index].isFullySelected { streams[index].former = nil }
    }
}

extension CandidatePair {
    fileprivate var isDirect: Bool {
        local.kind == .host && remote.kind == .host
    }

    fileprivate var isRelayed: Bool {
        local.kind == .relayed || remote.kind == .relayed
    }
}
