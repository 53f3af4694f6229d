internal import OffhookBasics
internal import OffhookMedia

/// Cuts sound into packets and encodes them, on one thread.
struct AudioEncoderWorker {
    private var configuration: AudioEncoderConfiguration
    private var opus: OpusEncoder?
    private var resampler: Resampler?
    /// Sound in the codec's rate and channels that does not fill a packet yet.
    private var pending: [Int16] = []

    init(configuration: AudioEncoderConfiguration) throws(AudioCodecError) {
        self.configuration = configuration
        try prepare()
    }

    mutating func setConfiguration(_ new: AudioEncoderConfiguration) throws(AudioCodecError) {
        guard new != configuration else { return }
        let isSameFormat =
            new.codec == configuration.codec && new.opus.channelCount == configuration.opus.channelCount
        configuration = new
        if isSameFormat, let opus {
            opus.setConfiguration(new.opus)
        } else if !isSameFormat {
            pending = []
            resampler = nil
            try prepare()
        }
    }

    private mutating func prepare() throws(AudioCodecError) {
        opus = configuration.codec == .opus ? try OpusEncoder(configuration: configuration.opus) : nil
    }

    private var channelCount: Int { configuration.codec == .opus ? configuration.opus.channelCount : 1 }

    /// Samples of one channel in a packet, from a whole number of 10 ms.
    private var packetSamples: Int {
        let tens = min(max(configuration.packetDuration.inNanoseconds / 10_000_000, 1), 6)
        // Opus has no packets of 30 and 50 ms; the next shorter one will do.
        let whole = configuration.codec == .opus && (tens == 3 || tens == 5) ? tens - 1 : tens
        return Int(whole) * configuration.codec.sampleRate / 100
    }

    mutating func encode(_ frame: AudioFrame, into packets: inout [EncodedAudio]) throws(AudioCodecError) {
        let rate = configuration.codec.sampleRate
        let samples = AudioSamples.convert(frame.samples, from: frame.channelCount, to: channelCount)
        if resampler?.inputRate != frame.sampleRate || resampler?.outputRate != rate
            || resampler?.channelCount != channelCount
        {
            resampler = try Resampler(from: frame.sampleRate, to: rate, channelCount: channelCount)
        }
        guard let resampler else { return }
        var start = frame.captureTime - duration(ofSamples: pending.count / channelCount)
        pending += resampler.resample(samples)
        let packetSamples = packetSamples
        let needed = packetSamples * channelCount
        while pending.count >= needed {
            let cut = Array(pending[..<needed])
            pending.removeFirst(needed)
            packets.append(try encode(cut, captureTime: start))
            start = start + duration(ofSamples: packetSamples)
        }
    }

    private func duration(ofSamples count: Int) -> Duration {
        .nanoseconds(Int64(count) * 1_000_000_000 / Int64(configuration.codec.sampleRate))
    }

    private func encode(_ samples: [Int16], captureTime: Instant) throws(AudioCodecError) -> EncodedAudio {
        let bytes: [UInt8]
        switch configuration.codec {
        case .opus:
            guard let opus else { throw .unavailable }
            bytes = try opus.encode(samples)
        case .muLaw: bytes = G711.muLaw.encode(samples)
        case .aLaw: bytes = G711.aLaw.encode(samples)
        }
        return EncodedAudio(
            bytes: bytes, units: samples.count / channelCount, captureTime: captureTime,
            isPause: configuration.codec == .opus && bytes.count <= 2)
    }
}
