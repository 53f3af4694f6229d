internal import OffhookBasics
internal import OffhookMedia

/// Cuts what a sound card records into frames of 20 ms that keep the pace of the machine's clock: frame n begins exactly
/// n times 20 ms after the first one.
struct RecordingClock {
    private static let frameSamples = 960

    private var clock = SampleClock(jump: 0.1, patience: .milliseconds(400), deadZone: 0.002)
    private var pending: [Int16] = []

    /// By how much the card is faster than the machine's clock.
    var driftPPM: Double { clock.driftPPM }
    /// How often the sound began anew after a jump.
    var restarts: Int { clock.restarts }

    /// Takes the next samples, the first of which was recorded about then, and returns the frames that are full.
    mutating func take(_ samples: UnsafeBufferPointer<Int16>, recordedAt time: Instant) -> [AudioFrame] {
        let piece = clock.take(samples, at: time)
        if piece.isAnew { pending = [] }
        var start = piece.time - SampleClock.duration(of: pending.count)
        pending += piece.samples
        var frames: [AudioFrame] = []
        while pending.count >= Self.frameSamples {
            frames.append(
                AudioFrame(
                    samples: Array(pending[..<Self.frameSamples]), sampleRate: SampleClock.rate, captureTime: start))
            pending.removeFirst(Self.frameSamples)
            start = start + SampleClock.duration(of: Self.frameSamples)
        }
        return frames
    }
}
