internal import OffhookCodecs

/// The sound between a call, which brings 20 ms at a time by the machine's clock, and a sound card, which takes it by its
/// own.
///
/// It is kept as full as asked for by resampling a little; what jitter takes away is given back by silence, and what
/// jitter piles up is dropped.
struct PlayoutBuffer {
    private static let rate = 48000
    /// So much more than wanted is dropped.
    private static let surplus = rate / 10
    private static let longestTarget = rate / 5
    /// After so much sound without a gap, less is kept in store.
    private static let calm = 30 * rate

    private let resampler: ClockResampler?
    private var drift = DriftController()
    private var samples: [Int16] = []
    private var isFilling = true
    private var pulledSinceGap = 0
    /// How many samples are wanted right after a frame came.
    private let leastTarget: Int
    private var target: Int

    /// How often the card wanted sound and there was none.
    private(set) var gaps = 0
    private(set) var samplesDropped = 0

    /// - Parameter target: how many samples to keep, right after a frame came.
    init(target: Int) {
        resampler = try? ClockResampler(sampleRate: Self.rate)
        leastTarget = max(target, 960)
        self.target = leastTarget
    }

    var count: Int { samples.count }
    /// By how much the card is faster than the machine's clock.
    var driftPPM: Double { -drift.driftPPM }

    /// Takes the next frame's samples.
    mutating func push(_ new: [Int16]) {
        samples += resampler?.resample(new) ?? new
        if samples.count > target + Self.surplus {
            samplesDropped += samples.count - target
            samples.removeFirst(samples.count - target)
            drift.restart()
        }
        if !isFilling {
            let error = Double(samples.count - target) / Double(Self.rate)
            if drift.take(error: error, after: Double(new.count) / Double(Self.rate), tolerance: -0.005...0.02) {
                resampler?.setSpeed(1 + drift.correction)
            }
        } else if samples.count >= target {
            isFilling = false
            drift.restart()
        }
    }

    /// Gives the next samples; silence where there are none.
    mutating func pull(into output: UnsafeMutableBufferPointer<Int16>) {
        let ready = isFilling ? 0 : min(samples.count, output.count)
        for index in 0..<ready { output[index] = samples[index] }
        samples.removeFirst(ready)
        for index in ready..<output.count { output[index] = 0 }
        pulledSinceGap += ready
        if !isFilling, ready < output.count {
            isFilling = true
            gaps += 1
            pulledSinceGap = 0
            target = min(target + Self.rate / 100, Self.longestTarget)
        } else if pulledSinceGap >= Self.calm, target > leastTarget {
            pulledSinceGap = 0
            target = max(target - Self.rate / 200, leastTarget)
        }
    }

    /// No sound comes any more: what comes next begins with a full store.
    mutating func empty() {
        samples = []
        isFilling = true
    }
}
