package import OffhookBasics

/// Judges whether loss comes from sending too much.
///
/// Loss on a bad radio does not care how much is sent; loss at a full queue, or at a limit that has no queue, goes away
/// with less. So new loss is put to the test: the rate goes down once to what has arrived. Where less arrives then, the
/// loss is the path's own and is left to repair; where as much arrives as before, the rate was too high
/// (RFC 8836 §2, item 9: a network that loses at random must not starve a call).
package struct LossController: Sendable {
    package enum Advice: Hashable, Sendable {
        case none
        /// Multiply the rate by this.
        case reduce(Double)
        /// The loss was not ours: go back to this rate.
        case restore(Int)
        /// Less was lost after less was sent: this is about what the path carries.
        case confirmed
    }

    private enum Phase: Sendable {
        case watching(suspicious: Int)
        /// Packets of before the cut are passed over; then one window tells.
        case testing(before: Int, loss: Double, arrived: Double, factor: Double, ends: Instant)
    }

    private static let window = Duration.milliseconds(500)
    private static let smallestSample = 25
    /// With so much gone even repair is no use: some of it must be ours.
    private static let unbearable = 0.45

    private var phase = Phase.watching(suspicious: 0)
    private var lost = 0
    private var total = 0
    private var windowStart: Instant?
    /// What the path loses whatever is sent.
    package private(set) var inherent = 0.0
    /// Of the last seconds, from 0 to 1.
    package private(set) var fraction = 0.0

    package init() {}

    package mutating func note(isLost: Bool) {
        total += 1
        if isLost { lost += 1 }
    }

    /// Takes counts of a report for peers that tell of no single packets.
    package mutating func note(lost: Int, of total: Int) {
        self.lost += max(0, min(lost, total))
        self.total += max(0, total)
    }

    /// What to do; `isQueueing` says that delay tells of a full path already, which then explains the loss.
    package mutating func advise(
        rate: Int, isQueueing: Bool, roundTrip: Duration, at now: Instant
    ) -> Advice {
        let start = windowStart ?? now
        windowStart = start
        if case .testing(_, _, _, _, let ends) = phase, now < ends {
            total = 0
            lost = 0
            windowStart = now
            return .none
        }
        guard now - start >= Self.window, total >= Self.smallestSample else { return .none }
        let share = Double(lost) / Double(total)
        let noise = 2 * (share * (1 - share) / Double(total)).squareRoot()
        fraction += (share - fraction) * 0.4
        let arrived = Double(total - lost) / (now - start).inSeconds
        total = 0
        lost = 0
        windowStart = now
        return judge(
            share, arrived: arrived, noise: noise, rate: rate, isQueueing: isQueueing, roundTrip: roundTrip, at: now)
    }

    private mutating func judge(
        _ share: Double, arrived: Double, noise: Double, rate: Int, isQueueing: Bool, roundTrip: Duration,
        at now: Instant
    ) -> Advice {
        switch phase {
        case .testing(let before, let loss, let arrivedBefore, let factor, _):
            phase = .watching(suspicious: 0)
            // A queue explains what was lost, and the test proves nothing.
            if isQueueing { return .none }
            let hasStayed = share - inherent > (loss - inherent) * 0.5
            if hasStayed, arrived < arrivedBefore * (1 + factor) / 2 {
                inherent = min(share, loss)
                return .restore(before)
            }
            return .confirmed
        case .watching(let suspicious):
            if isQueueing {
                phase = .watching(suspicious: 0)
                return .none
            }
            if share < inherent { inherent += (share - inherent) * 0.3 }
            if share > Self.unbearable { return .reduce(0.8) }
            guard share - inherent > max(0.06, noise) else {
                // Small rises are taken as they come, slowly.
                inherent += max(0, share - inherent) * 0.1
                phase = .watching(suspicious: 0)
                return .none
            }
            guard suspicious >= 1 else {
                phase = .watching(suspicious: suspicious + 1)
                return .none
            }
            let factor = max(0.6, (1 - share) / (1 - inherent))
            phase = .testing(
                before: rate, loss: share, arrived: arrived, factor: factor,
                ends: now + roundTrip + .milliseconds(150))
            return .reduce(factor)
        }
    }
}
