package import OffhookBasics
package import OffhookCodecs
package import OffhookMedia

/// Processes the sound of one microphone, with what was played at the time. It belongs to one thread at a time.
package final class VoiceFilter {
    /// Sound is looked for in the reference from so much later on, since devices tell their latency not too exactly: an
    /// echo must not seem to come before its sound.
    private static let lead = Duration.milliseconds(20)
    private static let rate = VoiceProcessor.sampleRate
    /// So much of the microphone's sound is kept back at most until the speaker has told what was heard with it.
    private static let longestWait = 3 * VoiceProcessor.frameSamples

    private var processor: VoiceProcessor?
    private var resampler: Resampler?
    private var pending: [Int16] = []

    package init() {}

    /// Processes a frame of any form; returns what is ready: 48 kHz, mono, 20 ms each, with the time it was recorded at.
    ///
    /// - Parameters:
    ///   - isKnown: whether all that is heard until an instant is known.
    ///   - reference: gives so many samples, at 16 kHz, that were heard from an instant on.
    package func process(
        _ frame: AudioFrame, as processing: VoiceProcessing, isKnown: (Instant) -> Bool,
        reference: (Instant, Int) -> [Int16]
    ) -> [AudioFrame] {
        guard frame.sampleRate >= 8000, frame.channelCount > 0, let processor = prepare(frame, processing) else {
            return [frame]
        }
        var start = frame.captureTime - .nanoseconds(Int64(pending.count) * 1_000_000_000 / Int64(Self.rate))
        let samples = mixed(frame.samples, from: frame.channelCount, to: 1)
        pending += resampler?.resample(samples) ?? samples
        var frames: [AudioFrame] = []
        while pending.count >= VoiceProcessor.frameSamples {
            let canWait = processing.cancelsEcho && pending.count < Self.longestWait + VoiceProcessor.frameSamples
            if canWait, !isKnown(start + Self.lead + .milliseconds(20)) { break }
            let cut = Array(pending[..<VoiceProcessor.frameSamples])
            pending.removeFirst(VoiceProcessor.frameSamples)
            let played = processing.cancelsEcho ? reference(start + Self.lead, VoiceProcessor.referenceSamples) : []
            let delay = Duration.nanoseconds(Int64(VoiceProcessor.delay) * 1_000_000_000 / Int64(Self.rate))
            frames.append(
                AudioFrame(
                    samples: processor.process(cut, reference: played), sampleRate: Self.rate,
                    captureTime: start - delay))
            start = start + .milliseconds(20)
        }
        return frames
    }

    private func prepare(_ frame: AudioFrame, _ processing: VoiceProcessing) -> VoiceProcessor? {
        if frame.sampleRate == Self.rate {
            resampler = nil
        } else if resampler?.inputRate != frame.sampleRate {
            resampler = try? Resampler(from: frame.sampleRate, to: Self.rate)
        }
        if let processor {
            processor.setProcessing(processing)
        } else {
            // Without memory for it the sound goes on as it is.
            processor = try? VoiceProcessor(processing)
        }
        return processor
    }
}
