internal import OffhookBasics
public import OffhookMedia

/// The sound of a WAV file of 16-bit samples, from the start again at its end: 48 kHz, mono, 20 ms at a time.
///
/// Files of any rate from 8000 samples a second on, mono or stereo, are converted. Calls of the sink come from a thread
/// that all paced sources share.
public final class WAVCapturer: AudioCapturer {
    private let paced: PacedAudio

    private final class Source: @unchecked Sendable {
        // Used on the ticker's thread alone.
        private let reader: WAVReader
        init(_ reader: WAVReader) { self.reader = reader }
        func next() -> AudioFrame { AudioFrame(samples: reader.next(960)) }
    }

    /// Opens a file and reads its header.
    public init(path: String) throws(DeviceError) {
        let source = Source(try WAVReader(path: path))
        paced = PacedAudio { _ in source.next() }
    }

    /// Chooses where the sound goes; see ``AudioCapturer``.
    public func setAudioSink(_ sink: (any AudioSink)?) {
        paced.setSink(sink)
    }
}
