internal import Glibc
internal import OffhookBasics
public import OffhookMedia

/// Tells which tone is loudest in what was last heard, and how much of the sound is that tone.
///
/// Frames come on a media thread; ``result`` may be read on any thread.
public final class ToneDetector: AudioSink {
    /// What was heard in the last 200 ms.
    public struct Result: Hashable, Sendable {
        /// The loudest tone in hertz, to a few hertz.
        public var frequency: Double
        /// The tone's share of all energy: near 1 for a clean tone, near 0 for noise.
        public var share: Double
        /// The root mean square of the samples, 1 being the loudest square wave.
        public var level: Double
    }

    private struct State {
        var window: [Float] = []
        var rate = 0
        var result: Result?
    }

    private let state = Lock(State())

    /// Makes a detector.
    public init() {}

    /// The newest 200 ms; nil until so much was heard, and with frequency and share 0 for silence.
    public var result: Result? { state.withLock { $0.result } }

    /// Takes the next samples; of stereo sound the mean of both sides.
    public func handleAudioFrame(_ frame: AudioFrame) {
        let channels = max(frame.channelCount, 1)
        state.withLock { state in
            if state.rate != frame.sampleRate {
                state = State(rate: frame.sampleRate)
            }
            for start in stride(from: 0, to: frame.samples.count - channels + 1, by: channels) {
                let sum = frame.samples[start..<start + channels].reduce(Float(0)) { $0 + Float($1) }
                state.window.append(sum / Float(channels) / 32768)
            }
            let needed = state.rate / 5
            if needed > 0, state.window.count >= needed {
                state.result = Self.analyse(state.window[..<needed], rate: Double(state.rate))
                state.window.removeFirst(needed)
            }
        }
    }

    /// Searches 50 Hz to 4 kHz in steps of the window's resolution and refines the best by halving.
    static func analyse(_ window: ArraySlice<Float>, rate: Double) -> Result {
        let energy = window.reduce(0.0) { $0 + Double($1) * Double($1) }
        let level = (energy / Double(max(window.count, 1))).squareRoot()
        guard level > 1e-4 else { return Result(frequency: 0, share: 0, level: level) }
        let resolution = rate / Double(window.count)
        func power(_ frequency: Double) -> Double { Self.power(of: frequency, in: window, rate: rate) }
        var best = (frequency: 0.0, power: 0.0)
        var frequency = 50.0
        while frequency < min(4000, rate / 2 - resolution) {
            let power = power(frequency)
            if power > best.power { best = (frequency, power) }
            frequency += resolution
        }
        var step = resolution / 2
        while step > 0.25 {
            for candidate in [best.frequency - step, best.frequency + step] {
                let power = power(candidate)
                if power > best.power { best = (candidate, power) }
            }
            step /= 2
        }
        return Result(frequency: best.frequency, share: min(best.power / energy, 1), level: level)
    }

    /// The energy of one frequency (Goertzel), in the units of the sum of squares.
    private static func power(of frequency: Double, in window: ArraySlice<Float>, rate: Double) -> Double {
        let omega = 2 * Double.pi * frequency / rate
        let coefficient = 2 * cos(omega)
        var (first, second) = (0.0, 0.0)
        for sample in window {
            (first, second) = (Double(sample) + coefficient * first - second, first)
        }
        let magnitude = first * first + second * second - coefficient * first * second
        return 2 * magnitude / Double(window.count)
    }
}
