internal import OffhookBasics

/// What a candidate sends from: a socket, or the relay of that number.
enum ICEBase: Hashable, Sendable {
    case socket(SocketID)
    case relay(Int)
}

/// A candidate of ours, and what it sends from.
struct LocalCandidate: Sendable {
    var candidate: ICECandidate
    var base: ICEBase

    /// A reflexive candidate sends from its base, whose pairs are the same (RFC 8445 §6.1.2.4).
    var formsPairs: Bool {
        candidate.kind == .host || candidate.kind == .relayed
    }
}

/// A local and a remote candidate, and how checks between them went (RFC 8445 §6.1.2.6).
struct CandidatePair: Sendable {
    enum State: Sendable {
        case frozen
        case waiting
        case inProgress
        case succeeded
        case failed
    }

    let id: Int
    let base: ICEBase
    let local: ICECandidate
    /// Where datagrams go: the remote candidate's address, with the scope that a link-local one needs.
    let destination: Endpoint
    var remote: ICECandidate
    var priority: UInt64
    var state: State
    /// A check went through, and none has failed since: media may use the pair.
    var isValid = false
    var lastSuccessAt: Instant?
    /// From the last check to its answer.
    var roundTrip: Duration?
    /// The far side's own checks come through on this pair, so that one of ours that is not answered was lost.
    var isHeard = false
    /// Our address as the far side sees it.
    var mapped: Endpoint?
    /// We, controlling, want it: its next check bears USE-CANDIDATE.
    var isNominating = false
    /// The far side, controlling, wants it; it is followed once our own check went through (RFC 8445 §7.3.1.5).
    var isNominatedOnSuccess = false
    var firstNominatedAt: Instant?

    var component: UInt16 { local.component }

    var isActive: Bool {
        switch state {
        case .frozen, .waiting, .inProgress: true
        case .succeeded, .failed: isNominating
        }
    }

    /// RFC 8445 §6.1.2.6.
    var foundation: PairFoundation {
        PairFoundation(local: local.foundation, remote: remote.foundation)
    }

    /// Our candidate as the far side knows it (RFC 8445 §7.2.5.3.1).
    var localAsSeen: ICECandidate {
        guard let mapped, mapped != local.endpoint.withoutScope else { return local }
        var seen = local
        seen.kind = local.kind == .relayed ? .relayed : .peerReflexive
        seen.endpoint = mapped
        seen.related = local.endpoint
        return seen
    }

    static func priority(local: UInt32, remote: UInt32, role: ICERole) -> UInt64 {
        // Candidates have at most 31 bits (RFC 8445 §5.1.2); a peer's may not make the sum overflow.
        let (own, other) = (UInt64(min(local, 0x7FFF_FFFF)), UInt64(min(remote, 0x7FFF_FFFF)))
        let (controlling, controlled) = role == .controlling ? (own, other) : (other, own)
        return min(controlling, controlled) << 32 + 2 * max(controlling, controlled)
            + (controlling > controlled ? 1 : 0)
    }
}

/// What makes a pair the same one.
struct PairEnds: Hashable, Sendable {
    var base: ICEBase
    var remote: Endpoint
}

struct PairFoundation: Hashable, Sendable {
    var local: String
    var remote: String
}

extension IPAddress {
    /// Whether this is in fe80::/10.
    var isLinkLocal: Bool {
        !isVersion4 && version6Value.high >> 54 == 0xFE80 >> 6
    }
}

extension Endpoint {
    /// The address as it stands in messages and descriptions, where a scope means nothing.
    var withoutScope: Endpoint {
        guard !address.isVersion4 else { return self }
        let value = address.version6Value
        return Endpoint(IPAddress(version6High: value.high, low: value.low), port)
    }

    func withScope(of other: IPAddress) -> Endpoint {
        guard address.isLinkLocal, other.isLinkLocal else { return self }
        let value = address.version6Value
        return Endpoint(
            IPAddress(version6High: value.high, low: value.low, scope: other.version6Value.scope), port)
    }
}
