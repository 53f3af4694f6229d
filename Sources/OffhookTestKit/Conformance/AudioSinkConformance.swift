public import Offhook
internal import OffhookBasics

/// The rules that every ``AudioSink`` must keep.
public enum AudioSinkConformance {
    /// One check for each rule.
    public static func checks<Sink: AudioSink>(for type: Sink.Type) -> [ConformanceCheck<Sink>] {
        [
            ConformanceCheck("in time", "Returns within 10 ms, judged by the fastest of 30 frames.") { make in
                let sink = try make()
                let fastest = Lock(Duration.seconds(1000))
                try await deliver((0..<30).map { frame($0) }, to: sink) { took in
                    fastest.withLock { $0 = min($0, took) }
                }
                let time = fastest.withLock { $0 }
                guard time <= .milliseconds(10) else { throw BrokenRule("it took \(time)") }
            },
            ConformanceCheck("sampling rates", "Takes 8, 16, 24 and 48 kHz, and a change from one to the next.") {
                make in
                let rates = [48000, 8000, 16000, 24000, 48000]
                try await deliver(rates.enumerated().map { frame($0, rate: $1) }, to: try make())
            },
            ConformanceCheck("channels", "Takes mono and stereo, and a change from one to the other.") { make in
                try await deliver([1, 2, 2, 1].enumerated().map { frame($0, channels: $1) }, to: try make())
            },
            ConformanceCheck("frame lengths", "Takes frames of 10 to 60 ms, and empty ones.") { make in
                let lengths = [20, 10, 60, 0, 40, 20]
                try await deliver(lengths.enumerated().map { frame($0, milliseconds: $1) }, to: try make())
            },
            ConformanceCheck("loudness", "Takes the loudest samples there are, and silence.") { make in
                let values: [Int16] = [.min, .max, 0, .min]
                let frames = values.map { AudioFrame(samples: [Int16](repeating: $0, count: 960)) }
                try await deliver(frames, to: try make())
            },
            ConformanceCheck("threads", "Takes frames on any thread, one after another.") { make in
                let sink = try make()
                for number in 0..<8 { try await deliver([frame(number)], to: sink) }
            },
            ConformanceCheck("gaps", "Takes frames after a pause, and with capture times that leap or repeat.") {
                make in
                let times = [0, 20, 20, 60_000, 20, 0]
                try await deliver(times.map { frame($0 / 20) }, to: try make())
            },
            ConformanceCheck("letting go", "Goes away when nobody holds it any more.") { make in
                let gone: WeakReference
                do {
                    let sink = try make()
                    gone = WeakReference(sink)
                    try await deliver([frame(0), frame(1)], to: sink)
                }
                try await eventually("something still holds it") { gone.isEmpty }
            },
        ]
    }

    private static func frame(
        _ number: Int, rate: Int = 48000, channels: Int = 1, milliseconds: Int = 20
    ) -> AudioFrame {
        let count = rate / 1000 * milliseconds * channels
        let samples = (0..<count).map { Int16(truncatingIfNeeded: $0 &* 37 % 2000 - 1000) }
        return AudioFrame(
            samples: samples, sampleRate: rate, channelCount: channels,
            captureTime: .zero + .milliseconds(20 * number))
    }

    private static func deliver(
        _ frames: [AudioFrame], to sink: some AudioSink, took: (@Sendable (Duration) -> Void)? = nil
    ) async throws {
        try await returning("handleAudioFrame(_:)") {
            for frame in frames {
                let start = ContinuousClock.now
                sink.handleAudioFrame(frame)
                took?(ContinuousClock.now - start)
            }
        }
    }
}
