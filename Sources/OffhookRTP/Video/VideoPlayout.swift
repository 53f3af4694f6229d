package import OffhookBasics

/// When to show the pictures of a stream, so that those that had to be repaired over a long round trip do not make it stop
/// and go.
///
/// A picture's time under way is known but for the difference of the clocks; the shortest of the last half minute stands
/// for a picture that nothing held up. Where many are held up for so long that each would be seen as a freeze, all are
/// shown that much later. Below that they are shown as they come: what is late by less is not noticed, and a call is the
/// better the sooner it is seen.
package struct VideoPlayout: Sendable {
    /// Delays that are put on, and below which one is taken off again.
    private static let worthwhile = Duration.milliseconds(100)
    private static let negligible = Duration.milliseconds(60)
    private static let longest = Duration.milliseconds(600)
    private static let epoch = Duration.seconds(15)
    /// How many pictures are in time.
    private static let share = 0.95
    /// Of all pictures before; half of the weight is on the last seventy.
    private static let memory = 0.99
    private static let bucket: Int64 = 20_000_000
    private static let buckets = 40
    /// What a delay shrinks by with each picture: too little to be seen.
    private static let step = Duration.milliseconds(2)
    private static let clockRate: Int64 = 90_000

    private var histogram = InlineArray<40, Double>(repeating: 0)
    private var weight = 0.0
    private var bases: (old: Duration?, new: Duration?) = (nil, nil)
    private var epochStart: Instant?
    private var first: (timestamp: RTPTimestamp, at: Instant)?
    private var lastTimestamp = RTPTimestamp(0)
    /// Ticks of the 90 kHz clock since the first picture.
    private var ticks: Int64 = 0

    /// What pictures are held back for, at the moment.
    package private(set) var delay = Duration.zero

    package init() {}

    /// When to show a picture that is whole now.
    package mutating func time(of timestamp: RTPTimestamp, wholeAt now: Instant) -> Instant {
        guard let first else {
            first = (timestamp, now)
            lastTimestamp = timestamp
            return now
        }
        let advance = Int64(timestamp - lastTimestamp)
        ticks += advance
        lastTimestamp = timestamp
        // Whole nanoseconds of a 90 kHz clock are within one of the truth.
        let capture = first.at + .nanoseconds(ticks * 100_000 / 9)
        let transit = now - capture
        age(at: now)
        let shortest = min(bases.old ?? transit, bases.new ?? transit)
        guard advance > -Self.clockRate, advance < 10 * Self.clockRate, transit - shortest < .seconds(5),
            abs(ticks) < 1 << 45
        else {
            // The sender's clock has jumped, or the stream stood still, or it ran for years, as a hostile one may in a day.
            self = VideoPlayout()
            return time(of: timestamp, wholeAt: now)
        }
        bases.new = min(bases.new ?? transit, transit)
        let lateness = max(.zero, transit - min(bases.old ?? transit, bases.new ?? transit))
        note(lateness)
        update(lateness: lateness)
        return max(now, now - lateness + delay)
    }

    private mutating func age(at now: Instant) {
        guard let start = epochStart, now - start < Self.epoch else {
            epochStart = now
            bases = (bases.new, nil)
            return
        }
    }

    private mutating func note(_ lateness: Duration) {
        weight = weight * Self.memory + 1
        for index in 0..<Self.buckets { histogram[index] *= Self.memory }
        histogram[min(Self.buckets - 1, Int(lateness.inNanoseconds / Self.bucket))] += 1
    }

    /// The delay that brings most pictures in time.
    private var wanted: Duration {
        var sum = 0.0
        for index in 0..<Self.buckets {
            sum += histogram[index]
            if sum >= weight * Self.share { return .nanoseconds(Int64(index + 1) * Self.bucket) }
        }
        return Self.longest
    }

    private mutating func update(lateness: Duration) {
        let wanted = min(Self.longest, wanted)
        if wanted < (delay > .zero ? Self.negligible : Self.worthwhile) {
            delay = max(.zero, delay - Self.step)
        } else if wanted > delay {
            // It grows with a picture that is late anyway: to hold back one that is not would itself be a freeze.
            delay = max(delay, min(wanted, lateness))
        } else if delay - wanted > .nanoseconds(Self.bucket) {
            delay = max(wanted, delay - Self.step)
        }
    }
}
