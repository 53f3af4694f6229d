internal import Glibc
public import OffhookMedia

/// A steady sine tone: 48 kHz, mono, 20 ms at a time.
///
/// Calls of the sink come from a thread that all paced sources share.
public final class ToneCapturer: AudioCapturer {
    /// The tone's frequency in hertz.
    public let frequency: Double
    private let paced: PacedAudio

    /// Makes a tone.
    ///
    /// - Parameters:
    ///   - frequency: hertz, from 1 to 20,000.
    ///   - amplitude: the peak, 1 being the loudest.
    public init(frequency: Double = 440, amplitude: Double = 0.3) {
        let frequency = min(max(frequency, 1), 20_000)
        let peak = min(max(amplitude, 0), 1) * 32767
        self.frequency = frequency
        paced = PacedAudio { Self.frame($0, frequency: frequency, peak: peak) }
    }

    /// The samples of frame `number`. The phase follows from the number, so that frames join without a step.
    static func frame(_ number: Int, frequency: Double, peak: Double) -> AudioFrame {
        let first = number * 960
        let samples = (0..<960).map { index -> Int16 in
            // The remainder keeps the argument small, where the sine is exact.
            let cycles = (Double(first + index) * frequency / 48000).truncatingRemainder(dividingBy: 1)
            return Int16(peak * sin(2 * .pi * cycles))
        }
        return AudioFrame(samples: samples)
    }

    /// Chooses where the tone goes; see ``AudioCapturer``.
    public func setAudioSink(_ sink: (any AudioSink)?) {
        paced.setSink(sink)
    }
}
