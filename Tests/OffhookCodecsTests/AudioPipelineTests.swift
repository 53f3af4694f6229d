import OffhookBasics
import OffhookCodecs
import OffhookMedia
import Testing

@Suite struct `Audio pipelines` {
    /// Keeps what an encoder pipeline makes.
    final class Output: Sendable {
        private let collected = Lock<[EncodedAudio]>([])
        var packets: [EncodedAudio] { collected.withLock { $0 } }
        func take(_ packet: EncodedAudio) { collected.withLock { $0.append(packet) } }
    }

    static func encode(
        _ samples: [Int16], rate: Int, channels: Int = 1, piece: Int, configuration: AudioEncoderConfiguration,
        isMuted: Bool = false
    ) throws -> [EncodedAudio] {
        let output = Output()
        let pipeline = try AudioEncoderPipeline(configuration: configuration) { output.take($0) }
        pipeline.setMuted(isMuted)
        for start in stride(from: 0, to: samples.count, by: piece * channels) {
            let end = min(start + piece * channels, samples.count)
            let time = Instant.zero + .nanoseconds(Int64(start / channels) * 1_000_000_000 / Int64(rate))
            pipeline.handleAudioFrame(
                AudioFrame(
                    samples: Array(samples[start..<end]), sampleRate: rate, channelCount: channels, captureTime: time))
            pipeline.drain()
        }
        return output.packets
    }

    @Test(
        arguments: AudioCodec.allCases,
        [(8000, 1, 160), (16000, 1, 333), (44100, 2, 441), (48000, 2, 960), (48000, 1, 2400)])
    func `carry a tone whatever comes in`(_ codec: AudioCodec, _ input: (rate: Int, channels: Int, piece: Int)) throws {
        let sound = AudioSamples.convert(tone(500, rate: input.rate, count: input.rate), from: 1, to: input.channels)
        let packets = try Self.encode(
            sound, rate: input.rate, channels: input.channels, piece: input.piece,
            configuration: AudioEncoderConfiguration(codec: codec))

        // R132: the RTP clock of Opus is 48 kHz, whatever the channels.
        #expect(packets.allSatisfy { $0.units == (codec == .opus ? 960 : 160) })
        #expect((48...50).contains(packets.count))
        let times = packets.map(\.captureTime)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect(abs((later - earlier).inMilliseconds - 20) < 1)
        }

        let decoder = AudioDecoderPipeline()
        let sink = CollectingAudioSink()
        decoder.setAudioSink(sink)
        for (number, packet) in packets.enumerated() {
            decoder.decode(.packet(packet.bytes, codec))
            decoder.play(at: .zero + .milliseconds(20 * number))
        }
        decoder.drain()

        #expect(sink.frames.count == packets.count)
        #expect(sink.frames.allSatisfy { $0.samples.count == 960 && $0.sampleRate == 48000 && $0.channelCount == 1 })
        #expect(sink.frames.map(\.captureTime) == packets.indices.map { .zero + .milliseconds(20 * $0) })
        #expect(abs(frequency(of: Array(sink.samples[9600...]), rate: 48000) - 500) < 3)
        #expect(decoder.counters.packetsDecoded == packets.count)
        #expect(decoder.counters.level > 0.1)
    }

    @Test(arguments: [
        (AudioCodec.opus, 40, 1920), (.opus, 30, 960), (.opus, 10, 480), (.muLaw, 30, 240), (.aLaw, 60, 480),
    ])
    func `cut packets of the agreed length`(_ codec: AudioCodec, _ milliseconds: Int, _ units: Int) throws {
        var configuration = AudioEncoderConfiguration(codec: codec)
        configuration.packetDuration = .milliseconds(milliseconds)
        let packets = try Self.encode(voice(count: 48000), rate: 48000, piece: 480, configuration: configuration)
        #expect(packets.count >= 15)
        #expect(packets.allSatisfy { $0.units == units })
    }

    @Test func `send silence while muted`() throws {
        let packets = try Self.encode(
            voice(count: 9600), rate: 48000, piece: 960, configuration: AudioEncoderConfiguration(codec: .muLaw),
            isMuted: true)
        #expect(packets.count >= 9)
        #expect(packets.allSatisfy { $0.bytes.allSatisfy { $0 == 0xFF } })
    }

    @Test func `mark pauses that need not be sent`() throws {
        var configuration = AudioEncoderConfiguration()
        configuration.opus.usesDiscontinuousTransmission = true
        let packets = try Self.encode(
            voice(count: 24000) + [Int16](repeating: 0, count: 96000), rate: 48000, piece: 960,
            configuration: configuration)
        #expect(packets.count == 125)
        #expect(packets.suffix(50).count(where: \.isPause) > 35)
        #expect(!packets[10].isPause)
    }

    @Test func `change codec in mid-stream`() throws {
        let output = Output()
        let pipeline = try AudioEncoderPipeline { output.take($0) }
        let frame = AudioFrame(samples: tone(500, count: 960))

        pipeline.handleAudioFrame(frame)
        pipeline.setConfiguration(AudioEncoderConfiguration(codec: .aLaw))
        pipeline.handleAudioFrame(frame)
        pipeline.handleAudioFrame(frame)
        pipeline.setConfiguration(AudioEncoderConfiguration(codec: .opus))
        pipeline.handleAudioFrame(frame)
        pipeline.drain()

        #expect(output.packets.map(\.units) == [960, 160, 160, 960])
    }

    @Test func `bridge losses, by what the next packet says or by guessing`() throws {
        var configuration = AudioEncoderConfiguration()
        configuration.opus.expectedLossPercent = 25
        let packets = try Self.encode(voice(count: 48000), rate: 48000, piece: 960, configuration: configuration)
        let decoder = AudioDecoderPipeline()
        let sink = CollectingAudioSink()
        decoder.setAudioSink(sink)

        for number in 0..<45 {
            // The voice is loud in 16, 28 and 41.
            switch number {
            case 16, 28: decoder.decode(.forwardErrorCorrection(packets[number + 1].bytes, .milliseconds(20)))
            case 41: decoder.decode(.conceal(.milliseconds(20)))
            case 35: decoder.decode(.silence(.milliseconds(20)))
            default: decoder.decode(.packet(packets[number].bytes, .opus))
            }
            decoder.play(at: .zero)
        }
        decoder.drain()

        #expect(sink.frames.count == 45)
        #expect(power(of: sink.frames[16].samples) > 500_000)
        #expect(power(of: sink.frames[41].samples) > 500_000)
        #expect(sink.frames[35].samples.allSatisfy { $0 == 0 })
        let counters = decoder.counters
        #expect(counters.packetsDecoded == 41)
        #expect(counters.packetsRecovered == 2)
        #expect(counters.samplesConcealed == 960)
        #expect(counters.samplesPlayed == 45 * 960)
    }

    @Test(arguments: [AudioDecoderSpeed.accelerated, .expanded]) func `bend time, and know how much is left to play`(
        _ speed: AudioDecoderSpeed
    ) throws {
        let packets = try Self.encode(
            tone(200, count: 48000), rate: 48000, piece: 960, configuration: AudioEncoderConfiguration())
        let decoder = AudioDecoderPipeline()
        let sink = CollectingAudioSink()
        decoder.setAudioSink(sink)
        var used = 0

        // 600 ms are played; the packets needed for it are counted.
        for tick in 0..<30 {
            while decoder.bufferedDuration < .milliseconds(20) {
                decoder.decode(.packet(packets[used].bytes, .opus), speed: speed)
                used += 1
            }
            decoder.play(at: .zero + .milliseconds(20 * tick))
            decoder.drain()
        }

        #expect(sink.frames.count == 30)
        #expect(decoder.counters.samplesConcealed == 0)
        switch speed {
        case .accelerated:
            #expect((36...60).contains(used))
            #expect(decoder.counters.samplesRemoved > 30 * 100)
        case .expanded, .normal:
            #expect((15...26).contains(used))
            #expect(decoder.counters.samplesInserted > 15 * 100)
        }
        let played = used * 960 - decoder.counters.samplesRemoved + decoder.counters.samplesInserted
        #expect(Int(decoder.bufferedDuration.inMilliseconds * 48 + 0.5) == played - 30 * 960)
        #expect(abs(frequency(of: Array(sink.samples[4800...]), rate: 48000) - 200) < 4)
    }

    @Test func `make up what is missing when it must be played`() {
        let decoder = AudioDecoderPipeline()
        let sink = CollectingAudioSink()
        decoder.setAudioSink(sink)
        decoder.play(at: .zero)
        decoder.drain()
        #expect(sink.samples.count == 960)
        #expect(decoder.counters.samplesConcealed == 960)
        #expect(decoder.bufferedDuration == .zero)
    }

    @Test func `deliver nothing after they were stopped or detached`() throws {
        let output = Output()
        let encoder = try AudioEncoderPipeline { output.take($0) }
        encoder.handleAudioFrame(AudioFrame(samples: tone(500, count: 960)))
        encoder.drain()
        encoder.stop()
        encoder.handleAudioFrame(AudioFrame(samples: tone(500, count: 960)))
        encoder.drain()
        #expect(output.packets.count == 1)

        let decoder = AudioDecoderPipeline()
        let sink = CollectingAudioSink()
        decoder.setAudioSink(sink)
        for _ in 0..<20 { decoder.play(at: .zero) }
        decoder.setAudioSink(nil)
        let before = sink.frames.count
        decoder.drain()
        #expect(sink.frames.count == before)
    }

    @Test func `survive hostile payloads and frames`() throws {
        var random = SeededRandom(seed: 7587)
        let decoder = AudioDecoderPipeline()
        let sink = CollectingAudioSink()
        decoder.setAudioSink(sink)
        for round in 0..<300 {
            let bytes = random.bytes(Int(random.next() % 300))
            switch round % 5 {
            case 0: decoder.decode(.packet(bytes, .opus), speed: .accelerated)
            case 1: decoder.decode(.packet(bytes, .muLaw), speed: .expanded)
            case 2: decoder.decode(.forwardErrorCorrection(bytes, .nanoseconds(Int64(bytes.count) * 1_000_000 - 50)))
            case 3: decoder.decode(.conceal(.milliseconds(-20)))
            default: decoder.decode(.packet([], .aLaw))
            }
            decoder.play(at: .zero)
        }
        decoder.drain()
        #expect(sink.frames.count == 300)
        #expect(sink.frames.allSatisfy { $0.samples.count == 960 })
        #expect(decoder.counters.packetsRefused > 100)

        let encoder = try AudioEncoderPipeline { _ in }
        encoder.handleAudioFrame(AudioFrame(samples: [], sampleRate: 48000))
        encoder.handleAudioFrame(AudioFrame(samples: [1, 2, 3], sampleRate: 7, channelCount: 2))
        encoder.handleAudioFrame(AudioFrame(samples: [1, 2, 3], sampleRate: 0, channelCount: 0))
        encoder.drain()
        #expect(encoder.counters.framesFailed == 2)
        encoder.handleAudioFrame(AudioFrame(samples: tone(500, count: 960)))
        encoder.drain()
        #expect(encoder.counters.packetsEncoded == 1)
    }
}
