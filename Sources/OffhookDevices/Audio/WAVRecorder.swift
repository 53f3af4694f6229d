public import OffhookMedia

/// Writes sound to a WAV file of 16-bit samples, which can be played at any time, even after the process was killed.
///
/// The first frame decides on rate and channels. Frames that come at another rate are converted.
public final class WAVRecorder: AudioSink {
    /// Creates the file.
    public init(path: String) throws(DeviceError) {
        throw DeviceError(.cannotOpen, "\(path) cannot be created.")
    }

    /// The first trouble with writing, if there was any; sound that came later was not kept.
    public var error: DeviceError? { nil }

    /// Takes the next samples.
    public func handleAudioFrame(_ frame: AudioFrame) {}

    /// Completes the header and closes the file. Sound that comes later is dropped.
    public func close() {}
}
