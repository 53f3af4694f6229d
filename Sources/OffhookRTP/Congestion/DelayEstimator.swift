package import OffhookBasics

/// Tells from arrival times how long packets stand in queues on their way.
///
/// A packet's time under way is known but for the difference of the two clocks, which does not change. The shortest of
/// the last half minute stands for an empty path; the shortest of the last few packets, less that, is the queue that
/// all of them stood in (RFC 6817 reasons so; RFC 8836 §2 wants it short). The shortest of several is blind to jitter
/// that comes and goes from packet to packet; what is left of jitter widens the threshold, as in
/// draft-ietf-rmcat-gcc-02 §5.4.
package struct DelayEstimator: Sendable {
    /// Packets whose shortest time is taken.
    private static let depth = 3
    private static let span: Int64 = 30_000
    /// At few packets a second fewer must do, or the queue of long ago would count.
    private static let oldest: Int64 = 300_000
    private static let epoch = Duration.seconds(15)
    /// Smaller packets leave a queue nearly together as well.
    private static let notableSize = 600
    /// Senders and busy machines hold packets up for so many milliseconds as a rule.
    private static let usualBunching = 8.0

    /// The last packets, as a ring: time under way and arrival, in microseconds.
    private var recent = InlineArray<16, (transit: Int64, arrival: Int64)>(repeating: (0, 0))
    private var count = 0
    private var bases: (old: Int64?, new: Int64?) = (nil, nil)
    private var epochStart: Instant?
    private var spread = 3.0
    /// How much of a delay ends at once, in milliseconds, as a queue's never does.
    private var bunching = 0.0
    /// Likewise, of the packets that are arriving together now.
    private var bunch = 0.0
    private var last: (sentAt: Instant, arrival: Int64)?

    /// The queue, in milliseconds; nil before packets have told.
    package private(set) var queue: Double?
    /// The arrival, in microseconds, since which a queue has stood; nil while there is none.
    private var standingSince: Int64?

    package init() {}

    /// Above this the path is overused.
    package var threshold: Double {
        min(80, 20 + 2.5 * spread + max(0, bunching - Self.usualBunching))
    }

    /// For how long a queue has stood, by the far end's clock: what has arrived since then is what the path carries.
    package var standing: Duration? {
        guard let standingSince, count > 0 else { return nil }
        return .microseconds(max(0, recent[(count - 1) & 15].arrival - standingSince))
    }

    package var isOverused: Bool {
        queue.map { $0 > threshold } ?? false
    }

    /// What was taken for a queue is the path's own delay from now on.
    package mutating func acceptAsPath() {
        guard let queue else { return }
        let shift = Int64(queue * 1000)
        bases = (bases.old.map { $0 + shift }, bases.new.map { $0 + shift })
        self.queue = 0
        standingSince = nil
    }

    /// Takes in a packet that arrived.
    package mutating func note(size: Int, sentAt: Instant, arrival: Int64, at now: Instant) {
        let transit = arrival - sentAt.nanoseconds / 1000
        recent[count & 15] = (transit, arrival)
        count += 1
        age(at: now)
        if size >= Self.notableSize { noteBunching(sentAt: sentAt, arrival: arrival) }
        bases.new = min(bases.new ?? transit, transit)
        let base = min(bases.old ?? transit, bases.new ?? transit)
        guard let shortest = shortest(arrival: arrival) else { return }
        let queue = Double(shortest - base) / 1000
        self.queue = queue
        if queue < threshold / 4 {
            standingSince = nil
        } else if standingSince == nil {
            standingSince = recent[(count - Self.depth) & 15].arrival
        }
        noteSpread(Double(transit - base) / 1000, queue: queue)
    }

    /// The shortest time of the last packets; nil while they are too few.
    private func shortest(arrival: Int64) -> Int64? {
        guard count >= Self.depth else { return nil }
        var result = Int64.max
        var index = 1
        while index <= min(count, 16) {
            let packet = recent[(count - index) & 15]
            let age = arrival - packet.arrival
            if index > Self.depth, age > Self.span { break }
            if index > 3, age > Self.oldest { break }
            result = min(result, packet.transit)
            index += 1
        }
        return result
    }

    /// Packets that left apart and arrive together were held up by something that let go of all of them: a radio, a busy
    /// machine. What leaves a queue is spaced by the rate behind it.
    private mutating func noteBunching(sentAt: Instant, arrival: Int64) {
        defer { last = (sentAt, arrival) }
        guard let last, sentAt > last.sentAt else { return }
        let left = (sentAt - last.sentAt).inMilliseconds
        let arrived = Double(arrival - last.arrival) / 1000
        if arrived < left / 4 {
            bunch = min(40, bunch + left - arrived)
        } else {
            bunching += (bunch - bunching) * (bunch > bunching ? 0.2 : 0.01)
            bunch = 0
        }
    }

    private mutating func age(at now: Instant) {
        guard let start = epochStart else {
            epochStart = now
            return
        }
        guard now - start >= Self.epoch else { return }
        bases = (bases.new ?? bases.old, nil)
        epochStart = now
    }

    /// How far single packets stray from the common delay, while no queue stands.
    private mutating func noteSpread(_ delay: Double, queue: Double) {
        guard queue < threshold else { return }
        spread += (min(max(0, delay - queue), 40) - spread) / 128
    }
}
