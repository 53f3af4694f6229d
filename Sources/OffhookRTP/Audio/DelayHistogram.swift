internal import OffhookBasics

/// How late packets come against the fastest of the last seconds, as a histogram that slowly forgets.
///
/// The jitter buffer's target is a high percentile of it.
struct DelayHistogram {
    private static let binMilliseconds = 5.0
    private static let binCount = 120
    private static let forgetting: Float = 0.998
    private static let percentile: Float = 0.97
    private static let windowLength = Duration.seconds(4)

    private var bins = InlineArray<120, Float>(repeating: 0)
    private var total: Float = 0
    /// The smallest times under way in this and the last window, in milliseconds against an origin of their own.
    private var smallest = Double.infinity
    private var smallestBefore = Double.infinity
    private var windowEnd: Instant?
    /// The packet that times under way are measured against, renewed when the clock or the timestamps jump.
    private var reference: (arrival: Instant, timestamp: RTPTimestamp, clockRate: Int)?

    /// Takes a packet in; the result is how much later than the fastest it came, in milliseconds.
    mutating func insert(timestamp: RTPTimestamp, clockRate: Int, at now: Instant) -> Double {
        guard let transit = transit(of: timestamp, clockRate: clockRate, at: now) else {
            reference = (now, timestamp, clockRate)
            smallest = 0
            smallestBefore = .infinity
            windowEnd = now + Self.windowLength
            return 0
        }
        if let end = windowEnd, now >= end {
            smallestBefore = smallest
            smallest = transit
            windowEnd = now + Self.windowLength
        }
        smallest = min(smallest, transit)
        let delay = transit - min(smallest, smallestBefore)
        count(delay)
        return delay
    }

    /// How long after the fastest way here a sample is at `now`; nil before a packet gave the measure.
    func delay(of timestamp: RTPTimestamp, clockRate: Int, at now: Instant) -> Double? {
        transit(of: timestamp, clockRate: clockRate, at: now).map { $0 - min(smallest, smallestBefore) }
    }

    /// The delay that nearly all packets keep, in milliseconds.
    var highDelay: Double {
        guard total > 0 else { return 0 }
        var rest = total * (1 - Self.percentile)
        for bin in stride(from: Self.binCount - 1, through: 0, by: -1) {
            rest -= bins[bin]
            if rest < 0 { return Double(bin) * Self.binMilliseconds }
        }
        return 0
    }

    private func transit(of timestamp: RTPTimestamp, clockRate: Int, at now: Instant) -> Double? {
        guard let reference, reference.clockRate == clockRate, clockRate > 0 else { return nil }
        let media = Double(timestamp - reference.timestamp) * 1000 / Double(clockRate)
        let passed = (now - reference.arrival).inMilliseconds
        // Wraps of the timestamp and restarts look the same: measure anew.
        guard abs(passed - media - min(smallest, smallestBefore)) < 2000 else { return nil }
        return passed - media
    }

    private mutating func count(_ delay: Double) {
        let chosen = min(Self.binCount - 1, max(0, Int(delay / Self.binMilliseconds)))
        for bin in bins.indices { bins[bin] *= Self.forgetting }
        bins[chosen] += 1
        total = total * Self.forgetting + 1
    }

    /// The reference moves along so that a long call does not wrap away from it.
    mutating func moveReference(to timestamp: RTPTimestamp) {
        guard let old = reference, old.clockRate > 0 else { return }
        let media = Double(timestamp - old.timestamp) * 1000 / Double(old.clockRate)
        reference = (old.arrival + .nanoseconds(Int64(media * 1e6)), timestamp, old.clockRate)
    }
}
