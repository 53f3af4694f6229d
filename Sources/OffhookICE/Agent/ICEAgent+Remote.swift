package import OffhookBasics

// What the far side says (RFC 8839, RFC 8838).
extension ICEAgent {
    /// Takes the far side's description. Credentials other than those known restart the stream (RFC 8445 §9).
    package mutating func setRemote(
        _ description: ICERemoteDescription, for stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]
    ) {
        guard let index = index(of: stream) else { return }
        if let known = streams[index].remote, known != description.credentials {
            startGeneration(of: index)
            actions.append(.restarted(stream))
        }
        if streams[index].remote == nil {
            streams[index].remote = description.credentials
            streams[index].remoteIsLite = description.isLite
            streams[index].lastProgressAt = now
            if streams[index].status == .idle { streams[index].status = .checking }
            if description.isLite, !configuration.isLite, role == .controlled { changeRole(actions: &actions) }
        }
        for candidate in description.candidates { learn(candidate, for: index) }
        if description.isComplete { streams[index].remoteIsComplete = true }
        formPairs(of: index, at: now, actions: &actions)
        let early = streams[index].earlyChecks
        streams[index].earlyChecks = []
        for check in early { accept(check, for: index, at: now, actions: &actions) }
        if configuration.isLite, description.isLite { selectUnchecked(of: index, at: now, actions: &actions) }
        settle(at: now, actions: &actions)
    }

    /// A candidate that trickled in.
    package mutating func addRemoteCandidate(
        _ candidate: ICECandidate, for stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]
    ) {
        guard let index = index(of: stream) else { return }
        learn(candidate, for: index)
        formPairs(of: index, at: now, actions: &actions)
        settle(at: now, actions: &actions)
    }

    /// No more candidates will trickle in.
    package mutating func endRemoteCandidates(
        for stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]
    ) {
        guard let index = index(of: stream) else { return }
        streams[index].remoteIsComplete = true
        settle(at: now, actions: &actions)
    }

    /// Restarts a stream from our side: new local credentials; media goes on by the old pair meanwhile.
    package mutating func restart(_ stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]) {
        guard let index = index(of: stream) else { return }
        startGeneration(of: index)
        streams[index].lastProgressAt = now
        settle(at: now, actions: &actions)
    }

    /// The far side refused the description that a `restart` was for: all is as before it.
    ///
    /// Without effect where no pair was selected before the restart, or one already is after it.
    package mutating func abandonRestart(_ stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]) {
        guard let index = index(of: stream), streams[index].resumeFormerGeneration() else { return }
        transactions.removeAll { if case .check(stream, _) = $0.purpose { true } else { false } }
        streams[index].checkList.setRole(role)
        settle(at: now, actions: &actions)
    }

    private mutating func startGeneration(of index: Int) {
        let id = streams[index].id
        transactions.removeAll { if case .check(id, _) = $0.purpose { true } else { false } }
        streams[index].startGeneration(with: ICECredentials(random: &random))
    }

    private mutating func learn(_ candidate: ICECandidate, for index: Int) {
        guard streams[index].components.contains(candidate.component) else { return }
        var candidate = candidate
        candidate.endpoint = candidate.endpoint.withoutScope
        let known = streams[index].remoteCandidates.firstIndex {
            $0.component == candidate.component && $0.endpoint == candidate.endpoint
        }
        if let known {
            // What we took for peer-reflexive now has its proper name (RFC 8838 §11).
            guard streams[index].remoteCandidates[known].kind == .peerReflexive else { return }
            streams[index].remoteCandidates[known] = candidate
            for pair in streams[index].checkList.pairs.indices
            where streams[index].checkList[pair].remote.endpoint == candidate.endpoint
                && streams[index].checkList[pair].component == candidate.component
            {
                streams[index].checkList[pair].remote = candidate
            }
        } else if streams[index].remoteCandidates.count < Self.candidateLimit {
            streams[index].remoteCandidates.append(candidate)
        }
    }

    // MARK: Pairs

    /// Pairs what is new (RFC 8445 §6.1.2; RFC 8838 §12 for what comes late).
    mutating func formPairs(of index: Int, at now: Instant, actions: inout [ICEAction]) {
        guard streams[index].remote != nil else { return }
        let (locals, remotes) = (streams[index].localCandidates, streams[index].remoteCandidates)
        var found: [CandidatePair] = []
        for local in locals where local.formsPairs && isTold(local.candidate) {
            for remote in remotes where Self.fit(local.candidate, remote) {
                // What the limit has dropped once does not come back.
                let ends = PairEnds(base: local.base, remote: remote.endpoint)
                if streams[index].paired.insert(ends).inserted { found.append(pair(local, remote)) }
            }
        }
        guard !found.isEmpty else { return }
        streams[index].lastProgressAt = now
        if streams[index].status == .failed { streams[index].status = .checking }
        // Component 1 first, then by preference (RFC 8445 §6.1.2.6).
        found.sort { ($0.component, $1.priority) < ($1.component, $0.priority) }
        for pair in found { insert(pair, into: index) }
        for pair in found where streams[index].checkList.index(of: pair.id) != nil {
            permit(pair, at: now, actions: &actions)
        }
    }

    private mutating func insert(_ pair: CandidatePair, into index: Int) {
        var pair = pair
        // The first of a foundation is checked at once; the others wait for what comes of it.
        let isKnown = streams.contains { $0.checkList.hasState(pair.foundation) { $0 != .failed } }
        let hasSucceeded = streams.contains { $0.checkList.hasState(pair.foundation) { $0 == .succeeded } }
        pair.state = isKnown && !hasSucceeded ? .frozen : .waiting
        streams[index].checkList.insert(pair)
        streams[index].checkList.trim(to: max(configuration.pairLimit / max(streams.count, 1), 1))
    }

    /// Without a permission the relay would drop the far side's checks, and ours to it (RFC 8445 §6.1.4.2).
    mutating func permit(_ pair: CandidatePair, at now: Instant, actions: inout [ICEAction]) {
        guard case .relay(let id) = pair.base, let index = relays.firstIndex(where: { $0.id == id }) else { return }
        var turnActions: [TURNAction] = []
        relays[index].client.permit(pair.destination.address, at: now, actions: &turnActions)
        perform(turnActions, of: id, at: now, actions: &actions)
    }

    mutating func pair(_ local: LocalCandidate, _ remote: ICECandidate) -> CandidatePair {
        CandidatePair(
            id: number(), base: local.base, local: local.candidate,
            destination: remote.endpoint.withScope(of: local.candidate.endpoint.address), remote: remote,
            priority: CandidatePair.priority(
                local: local.candidate.priority, remote: remote.priority, role: role),
            state: .waiting)
    }

    private static func fit(_ local: ICECandidate, _ remote: ICECandidate) -> Bool {
        local.component == remote.component
            && local.endpoint.address.isVersion4 == remote.endpoint.address.isVersion4
            && local.endpoint.address.isLinkLocal == remote.endpoint.address.isLinkLocal
    }

    /// Two lite agents use their best pair unchecked (RFC 8445 §8.2).
    private mutating func selectUnchecked(of index: Int, at now: Instant, actions: inout [ICEAction]) {
        for component in streams[index].components where streams[index].selection(of: component) == nil {
            guard let pair = streams[index].checkList.pairs.first(where: { $0.component == component }) else {
                continue
            }
            select(pair.id, of: index, at: now, actions: &actions)
        }
    }
}
