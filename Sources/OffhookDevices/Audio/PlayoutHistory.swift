package import OffhookBasics
internal import OffhookCodecs
package import OffhookMedia

/// What a speaker played in the last two seconds, by the machine's clock, so that its echo can be found in what a
/// microphone hears.
package final class PlayoutHistory: AudioSink {
    private struct State: @unchecked Sendable {
        // Clock and resampler are used with the lock around this value held only.
        // Sound that was interrupted for a moment is late for good, and its echo with it. A jump does no harm here, for
        // nobody hears it.
        var clock = SampleClock(jump: 0.003, patience: .milliseconds(200), deadZone: 0.0005)
        var resampler: Resampler?
        /// At 16 kHz, the last of it heard at `end`.
        var samples: [Int16] = []
        var end = Instant.zero
    }

    private static let rate = VoiceProcessor.referenceRate
    private static let capacity = 2 * rate
    /// A speaker that has told of nothing for so long plays nothing.
    private static let stopped = Duration.milliseconds(200)

    private let state = Lock(State())

    package init() {}

    /// Takes sound of 48 kHz, mono, which is heard from `captureTime` on.
    package func handleAudioFrame(_ frame: AudioFrame) {
        guard frame.sampleRate == VoiceProcessor.sampleRate, frame.channelCount == 1 else { return }
        state.withLock { state in
            let piece = frame.samples.withUnsafeBufferPointer { state.clock.take($0, at: frame.captureTime) }
            Self.append(piece, to: &state)
        }
    }

    private static func append(_ piece: SampleClock.Piece, to state: inout State) {
        if state.resampler == nil { state.resampler = try? Resampler(from: VoiceProcessor.sampleRate, to: rate) }
        guard let samples = state.resampler?.resample(piece.samples) else { return }
        if piece.isAnew {
            // There is silence between, or sound that is heard again.
            let gap = Int(((piece.time - state.end).inSeconds * Double(rate)).rounded())
            if gap >= 0, gap < capacity {
                state.samples += [Int16](repeating: 0, count: gap)
            } else if gap < 0, -gap < state.samples.count {
                state.samples.removeLast(-gap)
            } else {
                state.samples = []
            }
        }
        state.samples += samples
        state.end = piece.time + SampleClock.duration(of: piece.samples.count)
        if state.samples.count > capacity + rate { state.samples.removeFirst(state.samples.count - capacity) }
    }

    /// Whether all that is heard until an instant is known. Of a speaker that has stopped nothing more is to be waited for.
    package func isKnown(until time: Instant) -> Bool {
        state.withLock { $0.end >= time || time - $0.end > Self.stopped }
    }

    /// What was heard from an instant on; silence where nothing was, or is known yet.
    package func samples(from time: Instant, count: Int) -> [Int16] {
        state.withLock { state in
            let first = state.samples.count - Int(((state.end - time).inSeconds * Double(Self.rate)).rounded())
            return (first..<first + count).map { state.samples.indices.contains($0) ? state.samples[$0] : 0 }
        }
    }
}
