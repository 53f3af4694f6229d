import OffhookBasics
import OffhookCodecs
import Testing

@Suite struct `Opus` {
    static func packets(_ samples: [Int16], with encoder: OpusEncoder) throws -> [[UInt8]] {
        let length = 960 * encoder.configuration.channelCount
        return try stride(from: 0, to: samples.count - length + 1, by: length).map {
            try encoder.encode(Array(samples[$0..<$0 + length]))
        }
    }

    @Test func `keeps a tone's frequency and loudness`() throws {
        let decoder = try OpusDecoder()
        let sent = tone(440, count: 48000)

        let received = try Self.packets(sent, with: OpusEncoder()).flatMap { try decoder.decode(bytes: $0) }

        #expect(received.count == 48000)
        #expect(abs(frequency(of: Array(received[9600...]), rate: 48000) - 440) < 2)
        let ratio = power(of: received[9600...]) / power(of: sent[9600...])
        #expect((0.5...2).contains(ratio))
    }

    @Test(arguments: [120, 240, 480, 960, 1920, 2880]) func `has packets of every length`(_ count: Int) throws {
        let packet = try OpusEncoder().encode(tone(440, count: count))
        #expect(sampleCount(of: packet) == count)
        #expect(try OpusDecoder().decode(bytes: packet).count == count)
    }

    @Test(arguments: [0, 1, 441, 961, 5760]) func `refuses other lengths`(_ count: Int) throws {
        let encoder = try OpusEncoder()
        #expect(throws: AudioCodecError.unsupportedFormat) {
            try encoder.encode([Int16](repeating: 0, count: count))
        }
    }

    @Test(arguments: [1, 2], [1, 2]) func `plays packets of any channels on any channels`(
        _ sent: Int, _ played: Int
    ) throws {
        var configuration = OpusEncoderConfiguration()
        configuration.channelCount = sent
        let encoder = try OpusEncoder(configuration: configuration)
        let decoder = try OpusDecoder(channelCount: played)
        let samples = AudioSamples.convert(tone(440, count: 9600), from: 1, to: sent)

        let received = try Self.packets(samples, with: encoder).flatMap { try decoder.decode(bytes: $0) }

        #expect(received.count == 9600 * played)
        let mono = AudioSamples.convert(received, from: played, to: 1)
        #expect(abs(frequency(of: Array(mono[2400...]), rate: 48000) - 440) < 5)
    }

    @Test func `brings back a lost packet better than by guessing`() throws {
        var configuration = OpusEncoderConfiguration()
        configuration.expectedLossPercent = 25
        configuration.bitrate = 24_000
        let packets = try Self.packets(voice(count: 96_000), with: OpusEncoder(configuration: configuration))
        var recovered = 0.0
        var guessed = 0.0

        for lost in stride(from: 20, to: 90, by: 10) {
            let (complete, mending, guessing) = (try OpusDecoder(), try OpusDecoder(), try OpusDecoder())
            for packet in packets[..<lost] {
                for decoder in [complete, mending, guessing] { _ = try decoder.decode(bytes: packet) }
            }
            let original = try complete.decode(bytes: packets[lost])
            let next = packets[lost + 1]
            let mended = try mending.decodeForwardErrorCorrection(in: next.span.bytes, sampleCount: 960)
            let guess = try guessing.conceal(sampleCount: 960)
            #expect(mended.count == 960)
            #expect(guess.count == 960)
            recovered += likeness(original, mended)
            guessed += likeness(original, guess)
        }

        #expect(recovered / 7 > 0.8)
        #expect(recovered > guessed)
    }

    @Test func `makes something up for a loss, and lets it fade`() throws {
        let decoder = try OpusDecoder()
        for packet in try Self.packets(tone(300, count: 19200), with: OpusEncoder()) {
            _ = try decoder.decode(bytes: packet)
        }

        let made = try (0..<50).map { _ in try decoder.conceal(sampleCount: 960) }

        #expect(power(of: made[0]) > 1_000_000)
        #expect(power(of: made[49]) < power(of: made[0]) / 100)
    }

    @Test func `says nothing in a pause when that is agreed`() throws {
        var configuration = OpusEncoderConfiguration()
        configuration.usesDiscontinuousTransmission = true
        let encoder = try OpusEncoder(configuration: configuration)
        let sizes = try Self.packets(voice(count: 48000) + [Int16](repeating: 0, count: 96000), with: encoder).map(
            \.count)

        #expect(sizes[10..<50].allSatisfy { $0 > 2 })
        #expect(sizes.suffix(50).count { $0 <= 2 } > 35)
    }

    @Test func `follows a change of its settings`() throws {
        let encoder = try OpusEncoder()
        let sound = voice(count: 48000)
        let rich = try Self.packets(sound, with: encoder).reduce(0) { $0 + $1.count }
        var configuration = encoder.configuration
        configuration.bitrate = 8000
        encoder.setConfiguration(configuration)
        let poor = try Self.packets(sound, with: encoder).reduce(0) { $0 + $1.count }

        #expect(Double(poor) < Double(rich) * 0.6)
        #expect((2500...5500).contains(rich))
    }

    @Test func `survives hostile packets`() throws {
        var random = SeededRandom(seed: 6716)
        let good = try Self.packets(voice(count: 9600), with: OpusEncoder())
        let decoder = try OpusDecoder()
        for round in 0..<600 {
            var packet = round % 2 == 0 ? good[round % good.count] : random.bytes(Int(random.next() % 400))
            for _ in 0..<Int(random.next() % 5) where !packet.isEmpty {
                packet[Int(random.next() % UInt64(packet.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = sampleCount(of: packet)
            _ = try? decoder.decode(bytes: packet)
            _ = try? decoder.decodeForwardErrorCorrection(in: packet.span.bytes, sampleCount: round)
        }
        #expect(throws: AudioCodecError.invalidPayload) { try decoder.decode(bytes: []) }
        // Code 3 with 63 frames of 20 ms is longer than a packet may be (RFC 6716 §3.2.5).
        #expect(throws: AudioCodecError.invalidPayload) { try decoder.decode(bytes: [0x4B, 63]) }
        #expect(sampleCount(of: [0x4B, 63]) == nil)
        #expect(try decoder.decode(bytes: good[0]).count == 960)
    }
}

extension OpusDecoder {
    fileprivate func decode(bytes: [UInt8]) throws(AudioCodecError) -> [Int16] {
        try decode(bytes.span.bytes)
    }
}

private func sampleCount(of packet: [UInt8]) -> Int? {
    OpusDecoder.sampleCount(of: packet.span.bytes)
}
