internal import OffhookBasics

/// Gives each moment of a stream's own clock a place on ours: as even as the stream counts, and in the long run as ours goes.
///
/// Where the two part by more than a jitter buffer may explain, the stream has paused or begun anew, and so does this.
struct SteadyClock {
    private static let mostDifference = Duration.milliseconds(250)
    /// What part of the difference each step makes good.
    private static let slowness = 64

    /// Units of the stream's clock a second.
    let rate: Int
    private var last: (timestamp: UInt32, time: Instant)?

    init(rate: Int) {
        self.rate = max(rate, 1)
    }

    /// When, on our clock, the moment with this timestamp was.
    ///
    /// - Parameter reference: when it seems to have been, give or take what waiting and scheduling add.
    mutating func time(of timestamp: UInt32, near reference: Instant) -> Instant {
        var time = reference
        if let last {
            let units = Int64(Int32(bitPattern: timestamp &- last.timestamp))
            let even = last.time + .nanoseconds(units * 1_000_000_000 / Int64(rate))
            let difference = reference - even
            if difference < Self.mostDifference, .zero - difference < Self.mostDifference {
                time = even + difference / Self.slowness
            }
        }
        last = (timestamp, time)
        return time
    }
}
