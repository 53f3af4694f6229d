package import OffhookBasics
internal import OffhookCodecs
package import OffhookMedia

/// What a speaker played in the last two seconds, by the machine's clock, so that its echo can be found in what a
/// microphone hears.
package final class PlayoutHistory: AudioSink {
    private struct State: @unchecked Sendable {
        // Clock and resampler are used with the lock around this value held only.
        var clock = RecordingClock(jump: 0.06)
        var resampler: Resampler?
        /// At 16 kHz, the last of it heard at `end`.
        var samples: [Int16] = []
        var end = Instant.zero
    }

    private static let rate = VoiceProcessor.referenceRate
    private static let capacity = 2 * rate

    private let state = Lock(State())

    package init() {}

    /// Takes sound of 48 kHz, mono, which is heard from `captureTime` on.
    package func handleAudioFrame(_ frame: AudioFrame) {
        guard frame.sampleRate == VoiceProcessor.sampleRate, frame.channelCount == 1 else { return }
        state.withLock { state in
            let frames = frame.samples.withUnsafeBufferPointer { state.clock.take($0, recordedAt: frame.captureTime) }
            for frame in frames { Self.append(frame, to: &state) }
        }
    }

    private static func append(_ frame: AudioFrame, to state: inout State) {
        if state.resampler == nil { state.resampler = try? Resampler(from: VoiceProcessor.sampleRate, to: rate) }
        guard let samples = state.resampler?.resample(frame.samples) else { return }
        if abs((frame.captureTime - state.end).inMilliseconds) > 1 {
            // The clock began anew: there is silence between, or sound that is heard again.
            let gap = Int((frame.captureTime - state.end).inSeconds * Double(rate))
            if gap > 0, gap < capacity {
                state.samples += [Int16](repeating: 0, count: gap)
            } else if gap < 0, -gap < state.samples.count {
                state.samples.removeLast(-gap)
            } else {
                state.samples = []
            }
        }
        state.samples += samples
        state.end = frame.captureTime + frame.duration
        if state.samples.count > capacity + rate { state.samples.removeFirst(state.samples.count - capacity) }
    }

    /// What was heard from an instant on; silence where nothing was, or is known yet.
    package func samples(from time: Instant, count: Int) -> [Int16] {
        state.withLock { state in
            let first = state.samples.count - Int(((state.end - time).inSeconds * Double(Self.rate)).rounded())
            return (first..<first + count).map { state.samples.indices.contains($0) ? state.samples[$0] : 0 }
        }
    }
}
