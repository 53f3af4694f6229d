/// The pairs of one data stream, best first, and those whose turn comes early (RFC 8445 §6.1.2).
struct CheckList: Sendable {
    private(set) var pairs: [CandidatePair] = []
    /// Numbers of pairs for triggered checks, first in first out (RFC 8445 §6.1.4.1).
    private(set) var triggered: [Int] = []

    subscript(index: Int) -> CandidatePair {
        get { pairs[index] }
        set { pairs[index] = newValue }
    }

    func index(of id: Int) -> Int? {
        pairs.firstIndex { $0.id == id }
    }

    mutating func insert(_ pair: CandidatePair) {
        pairs.insert(pair, at: pairs.firstIndex { $0.priority < pair.priority } ?? pairs.count)
    }

    /// Drops the least preferred pairs that nothing has come of yet (RFC 8445 §6.1.2.5).
    mutating func trim(to limit: Int, keeping kept: Int? = nil) {
        var index = pairs.count - 1
        while pairs.count > limit, index >= 0 {
            let pair = pairs[index]
            if !pair.isValid, pair.state != .inProgress, pair.id != kept { pairs.remove(at: index) }
            index -= 1
        }
    }

    mutating func removeAll(where isUnwanted: (CandidatePair) -> Bool) {
        pairs.removeAll(where: isUnwanted)
    }

    mutating func trigger(_ id: Int) {
        if !triggered.contains(id) { triggered.append(id) }
    }

    /// The pair whose triggered check is due. One that succeeded while it waited has no need of it any more; two sides that
    /// checked nevertheless would trigger each other for ever.
    mutating func takeTriggered() -> Int? {
        while !triggered.isEmpty {
            guard let index = index(of: triggered.removeFirst()) else { continue }
            if pairs[index].state != .succeeded || pairs[index].isNominating { return index }
        }
        return nil
    }

    mutating func unfreeze(_ foundation: PairFoundation) {
        for index in pairs.indices where pairs[index].state == .frozen && pairs[index].foundation == foundation {
            pairs[index].state = .waiting
        }
    }

    func hasState(_ foundation: PairFoundation, _ matches: (CandidatePair.State) -> Bool) -> Bool {
        pairs.contains { matches($0.state) && $0.foundation == foundation }
    }

    /// The best pair of a component that works, in preference order.
    func bestValid(_ component: UInt16) -> Int? {
        pairs.firstIndex { $0.component == component && $0.isValid }
    }

    /// No check is under way any more, and none was asked for.
    mutating func stopChecks() {
        triggered = []
        for index in pairs.indices {
            pairs[index].isNominating = false
            pairs[index].isNominatedOnSuccess = false
            if pairs[index].state == .inProgress { pairs[index].state = pairs[index].isValid ? .succeeded : .waiting }
        }
    }

    /// After our role changed (RFC 8445 §7.3.1.1).
    mutating func setRole(_ role: ICERole) {
        for index in pairs.indices {
            pairs[index].priority = CandidatePair.priority(
                local: pairs[index].local.priority, remote: pairs[index].remote.priority, role: role)
            pairs[index].isNominating = false
            pairs[index].isNominatedOnSuccess = false
        }
        pairs.sort { ($0.priority, $1.id) > ($1.priority, $0.id) }
    }
}
