package import OffhookBasics

/// Decides how much may be sent, from what the far end tells of arrivals, loss and limits (RFC 8836;
/// draft-ietf-rmcat-gcc-02 for the kinds of signal).
///
/// - A queue on the way is the sign of too much. Then the rate falls to what arrives, less what empties the queue, and
///   comes back to a little below what arrived: the path's capacity, which is remembered.
/// - Without a queue the rate rises: quickly towards the remembered capacity, slowly past it, and where nothing queues
///   there either, ever faster, for then the path has changed.
/// - Loss alone counts only where it goes away with less (``LossController``).
/// - Peers without feedback on single packets are judged by their reports, and by round trips that grow.
///
/// Rates are bits a second on the wire of what is controlled.
package struct BitrateController: Sendable {
    package struct Limits: Hashable, Sendable {
        package var minimum = 50_000
        package var start = 800_000
        package var maximum = 2_500_000

        package init() {}
    }

    private enum Constants {
        /// Of the remembered capacity: where the rate returns to after a queue, and where doubt of it begins.
        static let resume = 0.94
        static let beyond = 1.06
        /// Growth in a second: back to the capacity, near it, and at most.
        static let recovery = 0.6
        static let careful = 0.07
        static let fastest = 1.0
        static let firstBoost = 0.1
        static let boostDoubling = 0.35
        /// Where there are reports alone: growth in a second on an unknown path, and just past what was too much.
        static let reported = 0.2
        static let cautious = 0.04
        static let silence = Duration.seconds(1)
        /// A queue that is no shorter after this time of sending less is none.
        static let patience = Duration.seconds(2)
    }

    package private(set) var estimate: Int
    package var limits: Limits {
        didSet { estimate = clamp(Double(estimate)) }
    }
    package private(set) var delay = DelayEstimator()
    package private(set) var loss = LossController()
    /// What arrives.
    package private(set) var delivery = DeliveryRate()
    /// Whether a queue is being emptied.
    package private(set) var isDraining = false
    /// What the far end allows: REMB, TMMBR.
    package var remoteLimit: Int?

    private var capacity: Double?
    /// The longest queue since it began to be emptied, when that was, and the most that was sent since.
    private var peak: (queue: Double, at: Instant, rate: Double)?
    private var boost = Constants.firstBoost
    private var lastUpdate: Instant?
    private var lastDecrease: Instant?
    private var lastOveruse: Instant?
    private var lastFeedback: Instant?
    private var lastSilenceCut: Instant?
    private var hasPacketFeedback = false
    private var shortestRoundTrip: Duration?
    private var newestSent = Instant.zero
    private var reportedQueue: Double?

    package init(limits: Limits) {
        self.limits = limits
        estimate = min(max(limits.start, limits.minimum), limits.maximum)
    }

    /// Whether a full queue on the way was seen lately, so that loss is no accident.
    package func wasOverused(at now: Instant) -> Bool {
        // Reports come once a second or so.
        let memory = hasPacketFeedback ? Duration.seconds(1) : .seconds(3)
        return lastOveruse.map { now - $0 < memory } ?? false
    }

    /// Whether it is known that no queue stands: reports alone tell too late.
    package func isFree(at now: Instant) -> Bool {
        hasPacketFeedback && !wasOverused(at: now)
    }

    /// Whether a queue on the way has told what the path carries.
    package var knowsCapacity: Bool { capacity != nil }

    /// What may be sent now.
    package var rate: Int {
        max(limits.minimum, min(estimate, remoteLimit ?? .max))
    }

    private func clamp(_ rate: Double) -> Int {
        guard rate.isFinite else { return limits.minimum }
        return Int(min(max(rate, Double(limits.minimum)), Double(max(limits.minimum, limits.maximum))))
    }

    // MARK: Feedback on single packets

    /// Takes what became of packets; `sentRate` is what goes out at the moment.
    package mutating func handle(
        _ outcomes: [PacketOutcome], sentRate: Int?, roundTrip: Duration, at now: Instant
    ) {
        hasPacketFeedback = true
        lastFeedback = now
        for outcome in outcomes {
            loss.note(isLost: outcome.arrival == nil)
            guard let arrival = outcome.arrival else { continue }
            newestSent = max(newestSent, outcome.sentAt)
            delay.note(size: outcome.size, sentAt: outcome.sentAt, arrival: arrival, at: now)
            delivery.note(size: outcome.size, arrival: arrival)
        }
        update(sentRate: sentRate, roundTrip: roundTrip, at: now)
    }

    private mutating func update(sentRate: Int?, roundTrip: Duration, at now: Instant) {
        let elapsed = min(0.2, lastUpdate.map { (now - $0).inSeconds } ?? 0)
        lastUpdate = now
        if isPathLonger(sentRate: sentRate, at: now) { acceptPath() }
        let queue = delay.queue ?? 0
        if delay.isOverused {
            lastOveruse = now
            boost = Constants.firstBoost
            let settled = lastDecrease.map { now - $0 >= roundTrip + .milliseconds(60) } ?? true
            if settled { decrease(queue: queue, sentRate: sentRate, at: now) }
        } else if isDraining {
            if queue < delay.threshold / 3 || lastDecrease.map({ now - $0 > .seconds(2) }) == true { resume() }
        } else if queue < delay.threshold * 0.6 {
            grow(elapsed: elapsed, sentRate: sentRate)
        }
        heedLoss(roundTrip: roundTrip, at: now)
    }

    /// Whether what looks like a queue does not get shorter though much less is sent, and nothing is lost in it: then the
    /// packets have another way, which is longer, or others fill the queue whatever we do.
    private mutating func isPathLonger(sentRate: Int?, at now: Instant) -> Bool {
        guard isDraining, let queue = delay.queue else {
            peak = nil
            return false
        }
        let sent = Double(sentRate ?? 0)
        guard let peak, queue < peak.queue * 1.05 + 5 else {
            peak = (queue, now, max(sent, peak?.rate ?? 0))
            return false
        }
        return now - peak.at > Constants.patience && queue > peak.queue * 0.8 && sent < peak.rate * 0.8
            && loss.fraction < loss.inherent + 0.02
    }

    private mutating func acceptPath() {
        capacity = peak?.rate
        delay.acceptAsPath()
        peak = nil
        lastOveruse = nil
        resume()
    }

    private mutating func decrease(queue: Double, sentRate: Int?, at now: Instant) {
        // What arrived before the queue stood says nothing of what the path carries now.
        let window = min(.milliseconds(250), max(.milliseconds(70), delay.standing ?? .milliseconds(250)))
        guard let delivered = delivery.bitsPerSecond(over: window) else { return }
        // What did arrive, had nothing been lost that the path loses anyway.
        let carried = Double(delivered) / (1 - min(0.5, loss.inherent))
        if let old = capacity, abs(old - carried) < old * 0.3 {
            capacity = old + (carried - old) * 0.4
        } else {
            capacity = carried
        }
        // What was sent after the packets that told of the queue stands in it as well by now.
        let excess = isDraining ? 0 : max(0, Double(sentRate ?? 0) / max(1, carried) - 1)
        let expected = queue + min(300, excess * (now - newestSent).inMilliseconds)
        // The queue is gone in about a second; sooner would leave no room for the picture.
        let share = max(0.7, 0.96 - expected / 900)
        lastDecrease = now
        isDraining = true
        // While little is sent, what arrives says little of what could: then the way down is by steps, for a stall of
        // either machine looks like a queue as well.
        let isUsed = sentRate.map { Double($0) > Double(estimate) * 0.6 } ?? true
        let lowest = isUsed ? 0 : Double(estimate) * 0.75
        estimate = clamp(min(Double(estimate), max(carried * share, lowest)))
    }

    private mutating func resume() {
        isDraining = false
        guard let capacity else { return }
        estimate = max(estimate, clamp(capacity * Constants.resume))
    }

    private mutating func grow(elapsed: Double, sentRate: Int?) {
        let rate = Double(estimate)
        var growth = Constants.careful
        if let known = capacity {
            if rate < known * Constants.resume {
                growth = Constants.recovery
            } else if rate > known * Constants.beyond {
                capacity = nil
            }
        }
        if capacity == nil {
            growth = boost
            boost = min(Constants.fastest, boost * (1 + elapsed / Constants.boostDoubling))
        }
        let grown = rate * (1 + growth * elapsed)
        // A rate that is not used proves nothing.
        let proven = sentRate.map { Double($0) * 1.5 + 100_000 } ?? .infinity
        estimate = max(estimate, clamp(min(grown, proven)))
    }

    private mutating func heedLoss(roundTrip: Duration, at now: Instant) {
        let isQueueing = wasOverused(at: now)
        switch loss.advise(rate: estimate, isQueueing: isQueueing, roundTrip: roundTrip, at: now) {
        case .none: break
        case .reduce(let factor):
            estimate = clamp(Double(estimate) * factor)
            boost = Constants.firstBoost
        case .restore(let before):
            estimate = max(estimate, clamp(Double(before)))
        case .confirmed:
            capacity = Double(estimate)
        }
    }

    // MARK: Reports alone

    /// Takes the counts of a receiver report (RFC 3550 §6.4.1) of a peer that gives no other feedback, and the round trip
    /// that it tells of: a queue shows there before it overflows.
    package mutating func handle(
        lost: Int, of total: Int, sentRate: Int?, roundTrip: Duration?, at now: Instant
    ) {
        guard !hasPacketFeedback else { return }
        lastFeedback = now
        loss.note(lost: lost, of: total)
        let elapsed = lastUpdate.map { (now - $0).inSeconds } ?? 0
        lastUpdate = now
        let share = Double(lost) / Double(max(1, total))
        var queue = 0.0
        if let roundTrip {
            let shortest = min(shortestRoundTrip ?? roundTrip, roundTrip)
            // A path that has become longer for good is believed after a while.
            shortestRoundTrip = shortest + (roundTrip - shortest) / 64
            queue = (roundTrip - shortest).inMilliseconds
        }
        if queue > (share > 0.03 ? 25 : 40) {
            lastOveruse = now
            boost = Constants.firstBoost
            let carried = carried(share: share, queue: queue, elapsed: elapsed, sentRate: sentRate)
            // While a queue is being emptied, what is sent says nothing of what could be; only one that stays does.
            var known = isDraining ? max(capacity ?? carried, carried) : carried
            if isDraining, queue > (reportedQueue ?? 0) * 0.9 { known = max(known * 0.8, carried * 0.9) }
            capacity = known
            isDraining = true
            estimate = clamp(min(Double(estimate), known * max(0.65, 0.96 - queue / 700)))
        } else if isDraining {
            resume()
        } else {
            growByReports(elapsed: elapsed, sentRate: sentRate, at: now)
        }
        reportedQueue = queue
        heedLoss(roundTrip: roundTrip ?? .milliseconds(100), at: now)
    }

    /// What arrived of what was sent since the last report, in bits a second.
    private func carried(share: Double, queue: Double, elapsed: Double, sentRate: Int?) -> Double {
        // Repeats are sent beside what the estimate is for.
        let sent = Double(sentRate ?? estimate)
        // What was sent while the queue grew has not all come out of it. The first report tells of a second or so.
        let growth = max(0, queue - (reportedQueue ?? 0)) / 1000
        let length = elapsed > 0 ? elapsed : 1
        return sent * (1 - share) * length / (length + growth)
    }

    /// Reports are rare: a step that is too far is noticed late, so near what was once too much steps are small.
    private mutating func growByReports(elapsed: Double, sentRate: Int?, at now: Instant) {
        let rate = Double(estimate)
        var growth = Constants.reported
        if let known = capacity {
            if rate < known * (Constants.resume - 0.01) {
                growth = min(Constants.recovery * min(elapsed, 1.5), max(0, known * Constants.resume / rate - 1))
            } else {
                // The longer all is well, the bolder.
                let calm = min(1, (lastOveruse.map { (now - $0).inSeconds } ?? 20) / 20)
                growth =
                    (Constants.cautious + (Constants.reported - Constants.cautious) * calm * calm) * min(elapsed, 1.5)
                capacity = max(known, rate)
            }
        } else {
            growth *= min(elapsed, 3)
        }
        let proven = sentRate.map { Double($0) * 1.5 + 100_000 } ?? .infinity
        estimate = max(estimate, clamp(min(rate * (1 + growth), proven)))
    }

    // MARK: Silence

    /// Slows down where feedback that used to come has stopped: then nobody may hear us at all. To be called a few
    /// times a second while something is sent.
    package mutating func heedSilence(at now: Instant) {
        let patience = hasPacketFeedback ? Constants.silence : Constants.silence * 12
        guard let lastFeedback, now - lastFeedback > patience else { return }
        if let cut = lastSilenceCut, now - cut < .milliseconds(500) { return }
        lastSilenceCut = now
        // Packets from before say nothing of now.
        estimate = min(estimate, max(clamp(Double(estimate) * 0.8), min(estimate, 100_000)))
        boost = Constants.firstBoost
    }
}
