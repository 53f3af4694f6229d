internal import OffhookBasics

/// Counts the pictures that a driver numbered but did not deliver.
struct SequenceCounter {
    private var last: UInt32?

    /// How many are missing before this one. The first picture's number is taken as it is, since cameras drop some at
    /// the start, and so is one that has nothing to do with the last, since some drivers start anew.
    mutating func lost(before number: UInt32) -> Int {
        defer { last = number }
        guard let last else { return 0 }
        let step = number &- last
        return step > 0 && step <= 1000 ? Int(step) - 1 : 0
    }
}

/// Tells when a picture was taken.
struct CaptureClock {
    private var last = Instant(nanoseconds: .min)

    /// The driver's time where it counts on the monotonic clock and is believable, else now; never before the last.
    mutating func captureTime(stamp: Instant?, now: Instant) -> Instant {
        var time = now
        if let stamp, stamp <= now, now - stamp < .seconds(1) { time = stamp }
        if time <= last { time = max(now, Instant(nanoseconds: last.nanoseconds &+ 1)) }
        last = time
        return time
    }
}

/// Measures how many pictures come a second, by when they were taken.
struct FrameRateMeter {
    private static let window = Duration.seconds(2)
    private var times: [Instant] = []

    /// Pictures a second over the last two seconds; 0 until there are two.
    var rate: Double {
        guard let first = times.first, let last = times.last, last > first else { return 0 }
        return Double(times.count - 1) / (last - first).inSeconds
    }

    mutating func record(_ time: Instant) {
        times.append(time)
        let firstKept = times.firstIndex { time - $0 <= Self.window } ?? 0
        times.removeFirst(firstKept)
    }
}
