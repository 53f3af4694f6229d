internal import CSpeexDSP

/// What is done to a microphone's sound before it is sent.
package struct VoiceProcessing: Hashable, Sendable {
    /// Takes out what the speaker plays into the microphone.
    package var cancelsEcho: Bool
    /// Softens what is steady: fans, hum, hiss.
    package var suppressesNoise: Bool
    /// Brings a voice to a usual loudness.
    package var controlsGain: Bool

    package init(cancelsEcho: Bool = false, suppressesNoise: Bool = false, controlsGain: Bool = false) {
        self.cancelsEcho = cancelsEcho
        self.suppressesNoise = suppressesNoise
        self.controlsGain = controlsGain
    }

    /// Whether nothing is done at all.
    package var isIdle: Bool { !cancelsEcho && !suppressesNoise && !controlsGain }
}

/// Cancels echo, suppresses noise and controls gain of one microphone, 20 ms at a time. It belongs to one thread at a time.
///
/// The voice's band, up to 8 kHz, goes through libspeexdsp's adaptive filter (a block frequency domain filter of 200 ms) and
/// its spectral suppression; what lies above is made as much softer as the band below was, so that the sound keeps its
/// full width at a fifth of the cost.
package final class VoiceProcessor {
    /// Of what comes in and goes out, and of the reference.
    package static let sampleRate = 48000
    package static let referenceRate = 16000
    package static let frameSamples = 960
    package static let referenceSamples = 320
    /// How much later sound comes out than it went in, in samples of the outer rate.
    package static let delay = downAndUpDelay + suppressionDelay

    /// What resampling there and back takes, by the length of its filters.
    private static let downAndUpDelay = 192
    /// What the overlapping windows of the suppression take.
    private static let suppressionDelay = 3 * referenceSamples

    private static let filterLength = 200 * referenceRate / 1000
    // In decibels. With none the suppression still takes away what is left of an echo.
    private static let leastNoiseSuppression: Int32 = 0
    private static let noiseSuppression: Int32 = -18

    private let echo: OpaquePointer
    private let suppression: OpaquePointer
    private let down: Resampler
    private let up: Resampler
    private let plainUp: Resampler
    private var processing: VoiceProcessing
    private var low: [Int16] = []
    private var output: [Int16] = []
    /// The sound as it came, to take the upper band from, and the lower band of it.
    private var original: [Int16]
    private var plain: [Int16]
    private var gain: Float = 1

    package init(_ processing: VoiceProcessing) throws(AudioCodecError) {
        guard
            let echo = speex_echo_state_init(Int32(Self.referenceSamples), Int32(Self.filterLength)),
            let suppression = speex_preprocess_state_init(Int32(Self.referenceSamples), Int32(Self.referenceRate))
        else { throw .unavailable }
        (self.echo, self.suppression, self.processing) = (echo, suppression, processing)
        down = try Resampler(from: Self.sampleRate, to: Self.referenceRate)
        up = try Resampler(from: Self.referenceRate, to: Self.sampleRate)
        plainUp = try Resampler(from: Self.referenceRate, to: Self.sampleRate)
        original = [Int16](repeating: 0, count: Self.downAndUpDelay + Self.suppressionDelay)
        plain = [Int16](repeating: 0, count: Self.suppressionDelay)
        var rate = Int32(Self.referenceRate)
        speex_echo_ctl(echo, SPEEX_ECHO_SET_SAMPLING_RATE, &rate)
        apply()
    }

    deinit {
        speex_preprocess_state_destroy(suppression)
        speex_echo_state_destroy(echo)
    }

    /// Changes what is done, from the next frame on.
    package func setProcessing(_ new: VoiceProcessing) {
        guard new != processing else { return }
        // A filter that has not heard the room for a while knows nothing of it.
        if new.cancelsEcho, !processing.cancelsEcho { speex_echo_state_reset(echo) }
        processing = new
        apply()
    }

    private func apply() {
        set(SPEEX_PREPROCESS_SET_DENOISE, 1)
        set(
            SPEEX_PREPROCESS_SET_NOISE_SUPPRESS,
            processing.suppressesNoise ? Self.noiseSuppression : Self.leastNoiseSuppression)
        set(SPEEX_PREPROCESS_SET_AGC, processing.controlsGain ? 1 : 0)
        set(SPEEX_PREPROCESS_SET_AGC_TARGET, 8000)
        set(SPEEX_PREPROCESS_SET_AGC_MAX_GAIN, 20)
        set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, -40)
        set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, -15)
        speex_preprocess_ctl(
            suppression, SPEEX_PREPROCESS_SET_ECHO_STATE, processing.cancelsEcho ? UnsafeMutableRawPointer(echo) : nil)
    }

    private func set(_ request: Int32, _ value: Int32) {
        var value = value
        speex_preprocess_ctl(suppression, request, &value)
    }

    /// Processes the next 960 samples of the microphone; the result lags by ``delay``.
    ///
    /// - Parameter reference: the 320 samples, at 16 kHz, that were played when these were recorded, or up to 200 ms before
    ///   their echo is heard here.
    package func process(_ samples: [Int16], reference: [Int16]) -> [Int16] {
        guard samples.count == Self.frameSamples else { return samples }
        original += samples
        let lower = down.resample(samples)
        plain += plainUp.resample(lower)
        low += lower
        while low.count >= Self.referenceSamples {
            var band = Array(low[..<Self.referenceSamples])
            low.removeFirst(Self.referenceSamples)
            if processing.cancelsEcho, reference.count == Self.referenceSamples {
                let recorded = band
                speex_echo_cancellation(echo, recorded, reference, &band)
            }
            speex_preprocess_run(suppression, &band)
            output += up.resample(band)
        }
        return finish()
    }

    /// Joins the processed band with what lies above it.
    private func finish() -> [Int16] {
        let count = Self.frameSamples
        guard output.count >= count, plain.count >= count, original.count >= count else {
            return [Int16](repeating: 0, count: count)
        }
        var (before, after): (Float, Float) = (1, 1)
        for index in 0..<count {
            before += Float(plain[index]) * Float(plain[index])
            after += Float(output[index]) * Float(output[index])
        }
        let wanted = min((after / before).squareRoot(), 4)
        var result = [Int16](repeating: 0, count: count)
        let step = (wanted - gain) / Float(count)
        for index in 0..<count {
            gain += step
            let upper = Float(original[index]) - Float(plain[index])
            result[index] = Int16(min(max(Float(output[index]) + gain * upper, -32768), 32767))
        }
        gain = wanted
        output.removeFirst(count)
        plain.removeFirst(count)
        original.removeFirst(count)
        return result
    }
}
