internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookMedia

/// Cuts what a sound card records into frames of 20 ms that keep the pace of the machine's clock.
///
/// The card's own clock is a little fast or slow. The sound is resampled by as little, so that frame n begins exactly
/// n times 20 ms after the first one, and pictures, packets and echoes can be matched by time.
struct RecordingClock {
    private static let rate = 48000
    private static let frameSamples = 960
    private static let patience = Duration.milliseconds(400)
    /// Beyond so many seconds it is no drift: the card was stopped, or another took its place.
    private let jump: Double

    private let resampler: ClockResampler?
    private var drift = DriftController()
    private var pending: [Int16] = []
    private var start: Instant?
    private var produced = 0
    /// Since when samples have come far too late.
    private var lateSince: Instant?
    /// How often the sound began anew after a jump.
    private(set) var restarts = 0

    init(jump: Double = 0.1) {
        self.jump = jump
        resampler = try? ClockResampler(sampleRate: Self.rate)
    }

    /// By how much the card is faster than the machine's clock.
    var driftPPM: Double { drift.driftPPM }

    /// Takes the next samples, the first of which was recorded about then, and returns the frames that are full.
    mutating func take(_ samples: UnsafeBufferPointer<Int16>, recordedAt time: Instant) -> [AudioFrame] {
        let begin: Instant
        if let start, !hasJumped(at: time, since: start) {
            begin = start
        } else {
            if start != nil { restarts += 1 }
            begin = time
            (start, produced, pending) = (time, 0, [])
            drift.restart()
            lateSince = nil
        }
        let seconds = Double(samples.count) / Double(Self.rate)
        if drift.take(error: -error(at: time, since: begin), after: seconds) {
            resampler?.setSpeed(1 + drift.correction)
        }
        pending += resampler?.resample(Array(samples)) ?? Array(samples)
        var frames: [AudioFrame] = []
        while pending.count >= Self.frameSamples {
            frames.append(
                AudioFrame(
                    samples: Array(pending[..<Self.frameSamples]), sampleRate: Self.rate,
                    captureTime: begin + Self.duration(produced)))
            pending.removeFirst(Self.frameSamples)
            produced += Self.frameSamples
        }
        return frames
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
        return time - late > Self.patience
    }

    /// By how many seconds a sample recorded then comes later than the count of samples says.
    private func error(at time: Instant, since begin: Instant) -> Double {
        (time - (begin + Self.duration(produced + pending.count))).inSeconds
    }

    private static func duration(_ samples: Int) -> Duration {
        .nanoseconds(Int64(samples) * 1_000_000_000 / Int64(rate))
    }
}
