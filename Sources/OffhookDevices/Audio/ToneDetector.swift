internal import Glibc
internal import OffhookBasics
public import OffhookMedia

/// Tells which tone is loudest in what was last heard, and how much of the sound is that tone.
///
/// Frames come on a media thread and cost little; the search is done by whoever reads ``result``, on any thread.
public final class ToneDetector: AudioSink {
    /// What was heard in the last 200 ms.
    public struct Result: Hashable, Sendable {
        /// The loudest tone in hertz, to a hertz or so: from 50 to 3500. 0 for silence.
        public var frequency: Double
        /// The tone's share of all energy: near 1 for a clean tone, near 0 for noise and silence.
        public var share: Double
        /// The root mean square of the samples, 1 being the loudest square wave.
        public var level: Double
    }

    private struct State {
        var rate = 0
        /// The whole window before `current`.
        var window: [Float] = []
        var current: [Float] = []
    }

    private let state = Lock(State())

    /// Makes a detector.
    public init() {}

    /// The newest 200 ms that are complete; nil until there are any.
    public var result: Result? {
        let (window, rate) = state.withLock { ($0.window, $0.rate) }
        return window.isEmpty ? nil : Self.analyse(window, rate: Double(rate))
    }

    /// Takes the next samples; of stereo sound the mean of both sides.
    public func handleAudioFrame(_ frame: AudioFrame) {
        guard frame.sampleRate >= 8000 else { return }
        let samples = mixed(frame.samples, from: frame.channelCount, to: 1)
        state.withLock { state in
            if state.rate != frame.sampleRate { state = State(rate: frame.sampleRate) }
            for sample in samples {
                state.current.append(Float(sample) / 32768)
                if state.current.count == state.rate / 5 {
                    swap(&state.window, &state.current)
                    state.current.removeAll(keepingCapacity: true)
                }
            }
        }
    }

    /// Searches in steps of the window's resolution among fewer samples, and then around the best among all.
    static func analyse(_ window: [Float], rate: Double) -> Result {
        let energy = window.reduce(0) { $0 + Double($1 * $1) }
        let level = (energy / Double(max(window.count, 1))).squareRoot()
        guard level > 1e-4 else { return Result(frequency: 0, share: 0, level: level) }
        let factor = max(Int(rate / 8000), 1)
        let coarse = stride(from: 0, to: window.count - factor + 1, by: factor).map { start in
            window[start..<start + factor].reduce(0, +)
        }
        let resolution = rate / Double(window.count)
        var best = (frequency: 50.0, power: 0.0)
        for frequency in stride(from: 50, to: 3500, by: resolution) {
            let power = power(of: frequency, in: coarse, rate: rate / Double(factor))
            if power > best.power { best = (frequency, power) }
        }
        best.power = power(of: best.frequency, in: window, rate: rate)
        var step = resolution / 2
        while step > 0.25 {
            for candidate in [best.frequency - step, best.frequency + step] {
                let power = power(of: candidate, in: window, rate: rate)
                if power > best.power { best = (candidate, power) }
            }
            step /= 2
        }
        return Result(frequency: best.frequency, share: min(best.power / energy, 1), level: level)
    }

    /// The energy of one frequency (Goertzel), in the units of the sum of squares.
    private static func power(of frequency: Double, in window: [Float], rate: Double) -> Double {
        let coefficient = 2 * cos(2 * Double.pi * frequency / rate)
        var (first, second) = (0.0, 0.0)
        for sample in window {
            (first, second) = (Double(sample) + coefficient * first - second, first)
        }
        let magnitude = first * first + second * second - coefficient * first * second
        return 2 * magnitude / Double(window.count)
    }
}
