internal import OffhookBasics
internal import OffhookCodecs
public import OffhookMedia

/// Writes sound to a WAV file of 16-bit samples, which can be played at any time, even after the process was killed.
///
/// The first frame decides on rate and channels; frames that come otherwise are converted. The file's header is brought up
/// to date at least once a second of sound.
public final class WAVRecorder: AudioSink {
    private struct State: @unchecked Sendable {
        // File and resampler are used with the lock around this value held only.
        let file: OutputFile
        var format: Format?
        var resampler: Resampler?
        var headerLength = 0
    }

    private struct Format {
        let rate: Int
        let channels: Int
        var bytesPerSecond: Int { rate * channels * 2 }
    }

    private static let headerSize = 44

    private let state: Lock<State>

    /// Creates the file.
    public init(path: String) throws(DeviceError) {
        state = Lock(State(file: try OutputFile(creating: path)))
    }

    /// The first trouble with writing, if there was any; sound that came later was not kept.
    public var error: DeviceError? { state.withLock { $0.file.error } }

    /// Takes the next samples.
    public func handleAudioFrame(_ frame: AudioFrame) {
        guard frame.sampleRate > 0, frame.channelCount > 0 else { return }
        state.withLock { state in
            let format = state.format ?? Self.begin(&state, with: frame)
            guard let samples = Self.convert(frame, to: format, &state.resampler) else { return }
            let isWritten = samples.withUnsafeBytes { state.file.append($0) }
            guard isWritten else { return }
            if state.file.length - state.headerLength >= format.bytesPerSecond / 2 { Self.updateHeader(&state) }
        }
    }

    private static func begin(_ state: inout State, with frame: AudioFrame) -> Format {
        let format = Format(rate: frame.sampleRate, channels: min(frame.channelCount, 2))
        state.format = format
        state.file.append(header(format, contentLength: 0))
        state.headerLength = state.file.length
        return format
    }

    private static func updateHeader(_ state: inout State) {
        guard let format = state.format else { return }
        state.headerLength = state.file.length
        state.file.overwrite(header(format, contentLength: state.file.length - headerSize), at: 0)
    }

    private static func header(_ format: Format, contentLength: Int) -> [UInt8] {
        var header = Array("RIFF".utf8) + littleEndianBytes(UInt32(clamping: contentLength + headerSize - 8))
        header += Array("WAVEfmt ".utf8) + littleEndianBytes(UInt32(16)) + littleEndianBytes(UInt16(1))
        header += littleEndianBytes(UInt16(format.channels)) + littleEndianBytes(UInt32(clamping: format.rate))
        header +=
            littleEndianBytes(UInt32(clamping: format.bytesPerSecond)) + littleEndianBytes(UInt16(format.channels * 2))
        header +=
            littleEndianBytes(UInt16(16)) + Array("data".utf8) + littleEndianBytes(UInt32(clamping: contentLength))
        return header
    }

    private static func convert(_ frame: AudioFrame, to format: Format, _ resampler: inout Resampler?) -> [Int16]? {
        var samples = frame.samples
        if frame.channelCount != format.channels {
            samples = mixed(samples, from: frame.channelCount, to: format.channels)
        }
        guard frame.sampleRate != format.rate else { return samples }
        if resampler?.inputRate != frame.sampleRate {
            resampler = try? Resampler(from: frame.sampleRate, to: format.rate, channelCount: format.channels)
        }
        return resampler?.resample(samples)
    }

    /// Completes the header and closes the file. Sound that comes later is dropped.
    public func close() {
        state.withLock { state in
            Self.updateHeader(&state)
            state.file.close()
        }
    }
}

/// Samples with another number of channels: the mean of all for one, the first repeated for more.
func mixed(_ samples: [Int16], from channels: Int, to wanted: Int) -> [Int16] {
    guard channels != wanted, channels > 0 else { return samples }
    var result: [Int16] = []
    result.reserveCapacity(samples.count / channels * wanted)
    for start in stride(from: 0, to: samples.count - channels + 1, by: channels) {
        if wanted == 1 {
            let sum = samples[start..<start + channels].reduce(0) { $0 + Int($1) }
            result.append(Int16(clamping: sum / channels))
        } else {
            for channel in 0..<wanted { result.append(samples[start + min(channel, channels - 1)]) }
        }
    }
    return result
}
