internal import Glibc
internal import OffhookBasics
public import OffhookMedia

/// What a telephone lets one hear by itself: ringing, ringback, busy, keys. 48 kHz, mono, 20 ms at a time.
///
/// Calls of the sink come from a thread that all paced sources share.
public final class CallTone: AudioCapturer {
    /// Which of the tones.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A call comes in: until it is stopped.
        case ringing
        /// It rings at the far end: until it is stopped.
        case ringback
        /// The far end is busy: four seconds.
        case busy
        /// The call could not be put through: three seconds.
        case congestion
    }

    private let paced: PacedAudio
    private let ending: Ending

    /// What is done at the end, once.
    private final class Ending: Sendable {
        let handler = Lock<(@Sendable () -> Void)?>(nil)

        func reach() {
            handler.withLock { handler in
                defer { handler = nil }
                return handler
            }?()
        }
    }

    /// Makes one of a plan's tones.
    public convenience init(_ kind: Kind, plan: TonePlan = .europe) {
        switch kind {
        case .ringing: self.init(plan.ringing, length: nil)
        case .ringback: self.init(plan.ringback, length: nil)
        case .busy: self.init(plan.busy, length: .seconds(4))
        case .congestion: self.init(plan.congestion, length: .seconds(3))
        }
    }

    /// Makes the tones of telephone keys (ITU-T Q.23), 120 ms each with 80 ms between, once. What is no key is silence.
    public convenience init(_ keys: [Character], plan: TonePlan = .europe) {
        let segments = keys.flatMap { key in
            [
                TonePlan.Segment(Self.frequencies(of: key), .milliseconds(120)),
                TonePlan.Segment([], .milliseconds(80)),
            ]
        }
        self.init(segments, length: .milliseconds(200 * keys.count))
    }

    /// Plays segments over and over; with a length it falls silent after so long.
    public init(_ segments: [TonePlan.Segment], length: Duration?) {
        let ending = Ending()
        let cadence = Cadence(segments)
        let last = length.map { Int(($0.inSeconds * Double(PacedAudio.framesPerSecond)).rounded(.up)) } ?? .max
        self.ending = ending
        paced = PacedAudio { number in
            if number >= last { ending.reach() }
            return AudioFrame(
                samples: number < last ? cadence.frame(number) : [Int16](repeating: 0, count: Cadence.frameSamples))
        }
    }

    /// Calls `handler` once, on the thread of the sound, when a tone that has an end has reached it.
    public func onEnd(_ handler: @escaping @Sendable () -> Void) {
        ending.handler.withLock { $0 = handler }
    }

    /// Chooses where the tone goes; see ``AudioCapturer``.
    public func setAudioSink(_ sink: (any AudioSink)?) {
        paced.setSink(sink)
    }

    /// The two sines of a key.
    static func frequencies(of key: Character) -> [Double] {
        let rows = [697.0, 770, 852, 941]
        let columns = [1209.0, 1336, 1477, 1633]
        guard let index = Array("123A456B789C*0#D").firstIndex(of: Character(key.uppercased())) else { return [] }
        return [rows[index / 4], columns[index % 4]]
    }
}

/// Segments as samples, over and over.
private struct Cadence: Sendable {
    static let frameSamples = 960
    private static let rate = 48000
    private static let peak = 0.25 * 32767
    /// So that nothing clicks, in samples.
    private static let ramp = 240

    private let segments: [(frequencies: [Double], start: Int, end: Int)]
    private let length: Int

    init(_ segments: [TonePlan.Segment]) {
        var start = 0
        var list: [(frequencies: [Double], start: Int, end: Int)] = []
        for segment in segments {
            let end = start + max(Int(segment.duration.inSeconds * Double(Self.rate)), 1)
            list.append((segment.frequencies, start, end))
            start = end
        }
        self.segments = list
        length = start
    }

    func frame(_ number: Int) -> [Int16] {
        guard length > 0 else { return [Int16](repeating: 0, count: Self.frameSamples) }
        return (0..<Self.frameSamples).map { sample(at: (number * Self.frameSamples + $0) % length) }
    }

    private func sample(at position: Int) -> Int16 {
        guard let segment = segments.first(where: { $0.start <= position && position < $0.end }),
            !segment.frequencies.isEmpty
        else { return 0 }
        let index = position - segment.start
        let edge = min(1, Double(min(index, segment.end - 1 - position)) / Double(Self.ramp))
        let sum = segment.frequencies.reduce(0.0) { sum, frequency in
            // The remainder keeps the argument small, where the sine is exact.
            let cycles = (Double(index) * frequency / Double(Self.rate)).truncatingRemainder(dividingBy: 1)
            return sum + sin(2 * Double.pi * cycles)
        }
        return Int16(Self.peak * edge * sum / Double(segment.frequencies.count))
    }
}
