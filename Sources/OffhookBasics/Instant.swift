/// A point on the monotonic clock, in nanoseconds since an origin that only differences give a meaning.
///
/// Protocol code never reads a clock: it is handed the instant of each event.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's origin.
    public var nanoseconds: Int64

    /// Makes the instant so many nanoseconds after the origin.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's origin.
    public static let zero = Instant(nanoseconds: 0)

    /// Later than every instant a clock tells.
    public static let distantFuture = Instant(nanoseconds: .max)

    /// Whether the left instant is the earlier one.
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant a duration later.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.inNanoseconds)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }

    /// The instant a duration earlier.
    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds &- duration.inNanoseconds)
    }

    /// The time from the right instant to the left one; negative where the right one is later.
    public static func - (left: Instant, right: Instant) -> Duration {
        .nanoseconds(left.nanoseconds &- right.nanoseconds)
    }
}

extension Duration {
    /// The duration in whole nanoseconds; it saturates after 292 years.
    public var inNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : whole &+ attoseconds / 1_000_000_000
    }

    /// The duration in seconds.
    public var inSeconds: Double {
        Double(inNanoseconds) / 1e9
    }

    /// The duration in milliseconds.
    public var inMilliseconds: Double {
        Double(inNanoseconds) / 1e6
    }
}
