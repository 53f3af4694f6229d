internal import OffhookBasics
internal import OffhookCodecs

/// Brings the sound of a sound card to the pace of the machine's clock.
///
/// The card's own clock is a little fast or slow. The sound is resampled by as little, so that sample n is heard or
/// recorded exactly n sample periods after the first one, and pictures, packets and echoes can be matched by time.
struct SampleClock {
    /// Sound at the machine's pace.
    struct Piece {
        var samples: [Int16]
        /// When its first sample was recorded or is heard.
        var time: Instant
        /// Whether it has no connection with what came before.
        var isAnew: Bool
    }

    static let rate = 48000
    /// Beyond so many seconds it is no drift: the card was stopped, or another took its place.
    private let jump: Double
    /// For how long samples may come too late by more than that before it counts.
    private let patience: Duration
    private let resampler: ClockResampler?
    private var drift: DriftController
    private var start: Instant?
    private var produced = 0
    /// Since when samples have come far too late.
    private var lateSince: Instant?
    /// How often the sound began anew after a jump.
    private(set) var restarts = 0

    /// - Parameter deadZone: how far apart, in seconds, the clocks may come before anything is corrected: what the times
    ///   themselves are wrong by.
    init(jump: Double, patience: Duration, deadZone: Double) {
        (self.jump, self.patience) = (jump, patience)
        // Whoever is held up tells the time of a sound too late, never too early: the greatest age is the true one.
        drift = DriftController(estimate: .greatest, deadZone: deadZone)
        resampler = try? ClockResampler(sampleRate: Self.rate)
    }

    /// By how much the card is faster than the machine's clock.
    var driftPPM: Double { drift.driftPPM }

    /// Takes the next samples, the first of which belongs to that time by the machine's clock.
    mutating func take(_ samples: UnsafeBufferPointer<Int16>, at time: Instant) -> Piece {
        var isAnew = false
        let begin: Instant
        if let start, !hasJumped(at: time, since: start) {
            begin = start
        } else {
            if start != nil { restarts += 1 }
            isAnew = true
            begin = time
            (start, produced, lateSince) = (time, 0, nil)
            drift.restart()
        }
        let seconds = Double(samples.count) / Double(Self.rate)
        if drift.take(error: -error(at: time, since: begin), after: seconds) {
            resampler?.setSpeed(1 + drift.correction)
        }
        let even = resampler?.resample(Array(samples)) ?? Array(samples)
        defer { produced += even.count }
        return Piece(samples: even, time: begin + Self.duration(of: produced), isAnew: isAnew)
    }

    /// Samples cannot come too early. Those that come late may do so since the program was held up, and then the next
    /// ones make up for it.
    private mutating func hasJumped(at time: Instant, since begin: Instant) -> Bool {
        let error = error(at: time, since: begin)
        guard error > jump else {
            lateSince = nil
            return error < -jump
        }
        let late = lateSince ?? time
        lateSince = late
        return time - late >= patience
    }

    /// By how many seconds a sample of that time comes later than the count of samples says.
    private func error(at time: Instant, since begin: Instant) -> Double {
        (time - (begin + Self.duration(of: produced))).inSeconds
    }

    static func duration(of samples: Int) -> Duration {
        .nanoseconds(Int64(samples) * 1_000_000_000 / Int64(rate))
    }
}
