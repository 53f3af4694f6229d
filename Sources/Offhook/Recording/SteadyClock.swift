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
    /// Differences are made good by as much at once; nil does so little by little.
    let step: Duration?
    private var last: (timestamp: UInt32, time: Instant)?
    /// How far the stream is behind our clock, evened out, where that is made good by steps.
    private var lag = Duration.zero

    init(rate: Int, step: Duration? = nil) {
        self.rate = max(rate, 1)
        self.step = step
    }

    /// A clock for sound: its packets follow one another without a gap, since players play them so whatever their times
    /// are, until one packet's worth is missing or too much.
    static func forSound(rate: Int) -> SteadyClock {
        SteadyClock(rate: rate, step: .milliseconds(20))
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
                time = even + correction(of: difference)
            } else {
                lag = .zero
            }
        }
        last = (timestamp, time)
        return time
    }

    private mutating func correction(of difference: Duration) -> Duration {
        guard let step else { return difference / Self.slowness }
        lag += (difference - lag) / Self.slowness
        // Half a step more, so that one does not call for the next one back.
        guard lag >= step * 3 / 2 || .zero - lag >= step * 3 / 2 else { return .zero }
        let correction = step * Int((lag / step).rounded(.towardZero))
        lag -= correction
        return correction
    }
}
