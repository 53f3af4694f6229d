internal import OffhookBasics

/// The pair that a component uses, and the watch over it (RFC 7675).
struct Selection: Sendable {
    let component: UInt16
    let pairID: Int
    let priority: UInt64
    let pair: ICESelectedPair
    let base: ICEBase
    let destination: Endpoint
    /// What consent checks bear: of the generation in which the pair was found.
    let username: [UInt8]
    let key: STUNKey
    let selectedAt: Instant
    /// When the far side last said that it wants this pair.
    var lastNominatedAt: Instant
    var lastAnswerAt: Instant
    var nextCheckAt: Instant
    /// When the first check was sent that has not been answered.
    var unansweredSince: Instant?
    /// It did not answer for so long that the stream counts as disconnected.
    var isSilent = false

    /// A check has been under way for longer than any path takes.
    func isDoubtful(at now: Instant) -> Bool {
        guard let unansweredSince else { return false }
        return now - unansweredSince >= ICEAgent.doubt
    }
}

/// An authenticated check that came before the far side's credentials.
struct EarlyCheck: Sendable {
    let base: ICEBase
    let source: Endpoint
    let priority: UInt32?
    let usesCandidate: Bool
}

/// What still works of the time before a restart (RFC 8445 §9).
struct FormerGeneration: Sendable {
    var local: ICECredentials
    var remote: ICECredentials?
    var remoteCandidates: [ICECandidate]
    var checkList: CheckList
    var paired: Set<PairEnds>
    var selections: [Selection]
}

/// One data stream of an agent.
struct ICEStream: Sendable {
    enum Status: Sendable {
        /// The far side's description has not come.
        case idle
        case checking
        case connected
        case disconnected
        case failed
    }

    let id: ICEStreamID
    private(set) var components: [UInt16]
    var local: ICECredentials
    var remote: ICECredentials?
    var remoteIsLite = false
    var remoteIsComplete = false
    var localCandidates: [LocalCandidate] = []
    var remoteCandidates: [ICECandidate] = []
    var checkList = CheckList()
    /// Ends that have been paired, whether or not the pair is still in the list.
    var paired: Set<PairEnds> = []
    var selections: [Selection] = []
    var former: FormerGeneration?
    var earlyChecks: [EarlyCheck] = []
    var status = Status.idle
    /// When a candidate or an answer last came.
    var lastProgressAt = Instant.zero
    /// When each component had its first valid pair.
    var firstValidAt: [UInt16: Instant] = [:]

    init(id: ICEStreamID, components: [UInt16], local: ICECredentials) {
        self.id = id
        self.components = components
        self.local = local
    }

    /// RTCP goes with RTP from now on, so that only the first component needs a way (RFC 5761 §5.1.1).
    mutating func multiplex() {
        components.removeAll { $0 != ICEComponentID.rtp }
        selections.removeAll { $0.component != ICEComponentID.rtp }
        localCandidates.removeAll { $0.candidate.component != ICEComponentID.rtp }
        checkList.removeAll { $0.component != ICEComponentID.rtp }
    }

    func selection(of component: UInt16) -> Selection? {
        selections.first { $0.component == component }
    }

    /// Whether ordinary checks of a component still make sense (RFC 8445 §8.1.2).
    func isOpen(_ component: UInt16) -> Bool {
        selection(of: component)?.isSilent ?? true
    }

    var isFullySelected: Bool {
        components.allSatisfy { selection(of: $0) != nil }
    }

    /// Drops what belongs to one generation; what is in use goes on as the former one.
    mutating func startGeneration(with credentials: ICECredentials) {
        if !selections.isEmpty {
            // Components that were not yet selected keep what they had before.
            let older = former?.selections.filter { selection(of: $0.component) == nil } ?? []
            former = FormerGeneration(
                local: local, remote: remote, remoteCandidates: remoteCandidates, checkList: checkList, paired: paired,
                selections: selections + older)
        }
        local = credentials
        remote = nil
        remoteIsComplete = false
        remoteCandidates = []
        checkList = CheckList()
        paired = []
        selections = []
        earlyChecks = []
        firstValidAt = [:]
        if status == .failed { status = .idle }
    }

    /// Takes a restart back, as long as nothing came of it; false where there is nothing to go back to.
    mutating func resumeFormerGeneration() -> Bool {
        guard let former, selections.isEmpty else { return false }
        local = former.local
        remote = former.remote
        remoteCandidates = former.remoteCandidates
        checkList = former.checkList
        checkList.stopChecks()
        paired = former.paired
        selections = former.selections
        earlyChecks = []
        self.former = nil
        return true
    }
}
