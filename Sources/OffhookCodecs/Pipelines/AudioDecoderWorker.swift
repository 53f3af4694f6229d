internal import OffhookBasics

/// Decodes and buffers sound at 48 kHz mono, on one thread.
struct AudioDecoderWorker {
    enum Source {
        case packet
        case recovered
        case refused
        case concealed
        case silence
    }

    struct Outcome {
        var source: Source
        var sampleCount = 0
        /// Samples put in, or taken out where negative.
        var stretch = 0
    }

    private static let sampleRate = 48000

    private var codec = AudioCodec.opus
    private var opus: OpusDecoder?
    private var resampler: Resampler?
    private var concealment = PacketLossConcealment(sampleRate: AudioCodec.muLaw.sampleRate)
    private var buffer: [Int16] = []

    mutating func run(_ step: AudioDecoderStep, speed: AudioDecoderSpeed) -> Outcome {
        var outcome: Outcome
        var samples: [Int16]
        do throws(AudioCodecError) {
            (samples, outcome) = try decode(step)
        } catch {
            samples = makeUp(lostSamples(of: step))
            outcome = Outcome(source: .refused)
        }
        let before = samples.count
        switch speed {
        case .normal: break
        case .accelerated: samples = TimeStretch.accelerate(samples, sampleRate: Self.sampleRate)
        case .expanded: samples = TimeStretch.expand(samples, sampleRate: Self.sampleRate)
        }
        outcome.stretch = samples.count - before
        outcome.sampleCount = samples.count
        buffer += samples
        return outcome
    }

    /// The next samples to play, with how many of them had to be made up.
    mutating func take(_ count: Int) -> (samples: [Int16], missing: Int) {
        let missing = max(count - buffer.count, 0)
        if missing > 0 { buffer += makeUp(missing) }
        defer { buffer.removeFirst(count) }
        return (Array(buffer[..<count]), missing)
    }

    private mutating func decode(_ step: AudioDecoderStep) throws(AudioCodecError) -> ([Int16], Outcome) {
        switch step {
        case .packet(let payload, .opus):
            codec = .opus
            return (try opusDecoder().decode(payload.span.bytes), Outcome(source: .packet))
        case .packet(let payload, let other):
            guard !payload.isEmpty, payload.count <= Self.sampleRate else { throw .invalidPayload }
            codec = other
            let law = other == .muLaw ? G711.muLaw : G711.aLaw
            let samples = concealment.accept(law.decode(payload.span.bytes))
            return (try upsample(samples), Outcome(source: .packet))
        case .forwardErrorCorrection(let payload, let duration):
            let decoder = try opusDecoder()
            let samples = try decoder.decodeForwardErrorCorrection(
                in: payload.span.bytes, sampleCount: duration.samples(at: Self.sampleRate))
            return (samples, Outcome(source: .recovered))
        case .conceal(let duration):
            return (makeUp(duration.samples(at: Self.sampleRate)), Outcome(source: .concealed))
        case .silence(let duration):
            return (
                [Int16](repeating: 0, count: duration.samples(at: Self.sampleRate)), Outcome(source: .silence)
            )
        }
    }

    private func lostSamples(of step: AudioDecoderStep) -> Int {
        switch step {
        case .packet: Self.sampleRate / 50
        case .forwardErrorCorrection(_, let duration), .conceal(let duration), .silence(let duration):
            duration.samples(at: Self.sampleRate)
        }
    }

    /// As many samples as asked for, made to fit what was played last.
    private mutating func makeUp(_ count: Int) -> [Int16] {
        var samples: [Int16] = []
        do throws(AudioCodecError) {
            if codec == .opus {
                while samples.count < count {
                    samples += try opusDecoder().conceal(sampleCount: count - samples.count)
                }
            } else {
                samples = try upsample(concealment.conceal(sampleCount: (count + 5) / 6))
            }
        } catch {
            // Silence is what is left where the library has no memory.
            samples = []
        }
        if samples.count < count { samples += [Int16](repeating: 0, count: count - samples.count) }
        return samples.count > count ? Array(samples[..<count]) : samples
    }

    private mutating func opusDecoder() throws(AudioCodecError) -> OpusDecoder {
        if let opus { return opus }
        let decoder = try OpusDecoder(channelCount: 1)
        opus = decoder
        return decoder
    }

    private mutating func upsample(_ samples: [Int16]) throws(AudioCodecError) -> [Int16] {
        if let resampler { return resampler.resample(samples) }
        let new = try Resampler(from: AudioCodec.muLaw.sampleRate, to: Self.sampleRate)
        resampler = new
        return new.resample(samples)
    }
}

extension Duration {
    /// Samples of one channel in so much time, ten seconds at most.
    func samples(at rate: Int) -> Int {
        Int(min(max(inNanoseconds, 0), 10_000_000_000) / 1000 * Int64(rate) / 1_000_000)
    }
}
