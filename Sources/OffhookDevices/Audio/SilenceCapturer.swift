public import OffhookMedia

/// Silence: 48 kHz, mono, 20 ms at a time, for calls without a microphone.
///
/// Calls of the sink come from a thread that all paced sources share.
public final class SilenceCapturer: AudioCapturer {
    private let paced = PacedAudio { _ in AudioFrame(samples: [Int16](repeating: 0, count: 960)) }

    /// Makes a source of silence.
    public init() {}

    /// Chooses where the silence goes; see ``AudioCapturer``.
    public func setAudioSink(_ sink: (any AudioSink)?) {
        paced.setSink(sink)
    }
}
