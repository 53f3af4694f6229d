internal import OffhookBasics

/// When the next regular report goes out (RFC 3550 §6.2, §6.3).
struct RTCPSchedule {
    private let reportInterval: Duration
    private var averageSize = 128.0
    private var isFirst = true
    /// Bits a second for the whole session.
    var bandwidth = 1_000_000.0
    private(set) var next: Instant?

    init(reportInterval: Duration) {
        self.reportInterval = reportInterval
    }

    /// Plans the first report, unless one is planned.
    mutating func start(at now: Instant, random: inout SeededRandom) {
        if next == nil { plan(at: now, random: &random) }
    }

    /// A report has gone out.
    mutating func sent(size: Int, at now: Instant, random: inout SeededRandom) {
        isFirst = false
        note(size: size)
        plan(at: now, random: &random)
    }

    /// Takes a packet's size, with UDP and IP, into the average.
    mutating func note(size: Int) {
        averageSize += (Double(size + 28) - averageSize) / 16
    }

    mutating func stop() {
        next = nil
    }

    /// Two members, who share a twentieth of the bandwidth.
    private mutating func plan(at now: Instant, random: inout SeededRandom) {
        let byBandwidth = averageSize * 8 * 2 / max(1000, bandwidth * 0.05)
        let smallest = reportInterval.inSeconds * (isFirst ? 0.5 : 1)
        // The factor makes up for timer reconsideration (§6.3.1), which two members do not need.
        let seconds = max(smallest, byBandwidth) * Double.random(in: 0.5..<1.5, using: &random)
        next = now + .nanoseconds(Int64(min(60, seconds) * 1e9))
    }
}
