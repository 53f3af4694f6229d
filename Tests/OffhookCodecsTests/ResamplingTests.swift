import OffhookCodecs
import Testing

@Suite struct `Sound conversion` {
    static let rates = [8000, 16000, 24000, 32000, 44100, 48000]

    @Test(arguments: rates, rates) func `keeps a tone's frequency and loudness between rates`(
        _ from: Int, _ to: Int
    ) throws {
        let resampler = try Resampler(from: from, to: to)
        var output: [Int16] = []
        for part in 0..<50 {
            output += resampler.resample(tone(1000, rate: from, count: from / 50, from: part * (from / 50)))
        }

        #expect(abs(output.count - to) < 60)
        let settled = Array(output[(to / 10)...])
        #expect(abs(frequency(of: settled, rate: to) - 1000) < 3)
        #expect((0.9...1.1).contains(power(of: settled) / 32_000_000))
    }

    @Test func `cuts off what the lower rate cannot hold`() throws {
        let output = try Resampler(from: 48000, to: 8000).resample(tone(6000, count: 48000))
        #expect(power(of: output[800...]) < 32_000_000 / 1000)
    }

    @Test func `keeps channels apart`() throws {
        let left = tone(500, count: 9600)
        let interleaved = left.flatMap { [$0, Int16(0)] }
        let output = try Resampler(from: 48000, to: 16000, channelCount: 2).resample(interleaved)
        #expect(output.count % 2 == 0)
        let pairs = stride(from: 0, to: output.count, by: 2)
        #expect(power(of: pairs.map { output[$0] }) > 10_000_000)
        #expect(pairs.allSatisfy { abs(output[$0 + 1]) <= 1 })
    }

    @Test(arguments: [(0, 8000, 1), (8000, 1_000_000, 1), (8000, 8000, 0)])
    func `refuses rates and channels there are not`(
        _ from: Int, _ to: Int, _ channels: Int
    ) {
        #expect(throws: AudioCodecError.unsupportedFormat) { try Resampler(from: from, to: to, channelCount: channels) }
    }

    @Test func `turns stereo into mono and back`() {
        #expect(AudioSamples.convert([100, 300, -7, 8, .max, .max], from: 2, to: 1) == [200, 0, .max])
        #expect(AudioSamples.convert([1, 2], from: 1, to: 2) == [1, 1, 2, 2])
        #expect(AudioSamples.convert([1, 2, 3, 4, 5, 6], from: 3, to: 2) == [2, 2, 5, 5])
        #expect(AudioSamples.convert([1, 2, 3], from: 2, to: 1) == [1])
    }

    @Test func `mixes and amplifies without wrapping around`() {
        var sum: [Int16] = [1, 30000, -30000]
        AudioSamples.mix([2, 30000, -30000, 9], into: &sum)
        #expect(sum == [3, .max, .min])
        AudioSamples.amplify(&sum, by: 0.5)
        #expect(sum == [1, 16383, -16384])
        AudioSamples.amplify(&sum, by: 100)
        #expect(sum == [100, .max, .min])
        #expect(AudioSamples.level(of: []) == 0)
        #expect(AudioSamples.level(of: [.min, .min]) == 1)
    }

    @Test func `plays faster and slower without another pitch`() {
        for samples in [tone(200, count: 960), Array(voice(count: 9600)[4800..<5760])] {
            let faster = TimeStretch.accelerate(samples, sampleRate: 48000)
            let slower = TimeStretch.expand(samples, sampleRate: 48000)
            #expect((480...840).contains(faster.count))
            #expect((1080...1440).contains(slower.count))
            // No step anywhere that was not there before.
            let step = zip(samples, samples.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
            for stretched in [faster, slower] {
                #expect(zip(stretched, stretched.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= step * 2 })
            }
        }
        let faster = TimeStretch.accelerate(tone(200, count: 960), sampleRate: 48000)
        #expect(faster.count % 240 == 0)
    }

    @Test func `leaves noise and short pieces as they are, and shortens silence`() {
        var random = SystemRandomNumberGenerator()
        let noise = (0..<960).map { _ in Int16.random(in: -8000...8000, using: &random) }
        #expect(TimeStretch.accelerate(noise, sampleRate: 48000) == noise)
        let short = tone(200, count: 480)
        #expect(TimeStretch.expand(short, sampleRate: 48000) == short)
        #expect(TimeStretch.accelerate([Int16](repeating: 0, count: 960), sampleRate: 48000).count == 720)
    }
}
