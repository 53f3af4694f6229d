import Glibc
import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Sound sources and sinks` {
    private let folder = TemporaryFolder()

    private func sine(_ frequency: Double, rate: Int, count: Int, channels: Int = 1) -> [Int16] {
        (0..<count).flatMap { index in
            let value = Int16(10000 * sin(2 * .pi * frequency * Double(index) / Double(rate)))
            return [Int16](repeating: value, count: channels)
        }
    }

    @Test(arguments: [(440.0, 48000), (1000, 8000), (425, 16000), (2400, 24000)])
    func `a tone is told by its frequency`(_ frequency: Double, _ rate: Int) throws {
        let detector = ToneDetector()
        #expect(detector.result == nil)

        detector.handleAudioFrame(AudioFrame(samples: sine(frequency, rate: rate, count: rate / 4), sampleRate: rate))

        let result = try #require(detector.result)
        #expect(abs(result.frequency - frequency) < 2)
        #expect(result.share > 0.9)
        #expect(abs(result.level - 10000 / 32768 / 2.0.squareRoot()) < 0.01)
    }

    @Test func `noise and silence are no tone`() throws {
        var random = SeededRandom(seed: 1)
        let detector = ToneDetector()

        detector.handleAudioFrame(AudioFrame(samples: (0..<9600).map { _ in Int16(truncatingIfNeeded: random.next()) }))
        #expect(try #require(detector.result).share < 0.1)

        detector.handleAudioFrame(AudioFrame(samples: [Int16](repeating: 0, count: 9600)))
        #expect(detector.result == ToneDetector.Result(frequency: 0, share: 0, level: 0))
    }

    @Test func `the tone goes on from frame to frame without a step`() {
        let samples = (0..<10).flatMap { ToneCapturer.frame($0, frequency: 333, peak: 10000).samples }
        // A sine of 333 Hz changes by no more than this from one sample to the next.
        let steepest = Int((10000 * 2 * Double.pi * 333 / 48000).rounded(.up)) + 1

        #expect(samples.count == 9600)
        #expect(zip(samples, samples.dropFirst()).allSatisfy { abs(Int($1) - Int($0)) <= steepest })
    }

    @Test func `tone and silence come 20 ms at a time until they are detached`() async {
        for capturer in [ToneCapturer(frequency: 440), SilenceCapturer()] as [any AudioCapturer] {
            let collector = SoundCollector()

            capturer.setAudioSink(collector)
            let frames = await collector.frames.first(12)
            capturer.setAudioSink(nil)
            let count = collector.frames.count

            #expect(frames.allSatisfy { $0.samples.count == 960 && $0.sampleRate == 48000 && $0.channelCount == 1 })
            // A machine that was busy for more than a second leaves frames out.
            let steps = zip(frames, frames.dropFirst()).map { ($1.captureTime - $0.captureTime) / .milliseconds(20) }
            #expect(steps.allSatisfy { $0 >= 1 && $0 == $0.rounded() })
            #expect(collector.frames.count == count)
        }
    }

    @Test func `a recording can be played while it is made`() throws {
        let path = folder.file("a.wav")
        let recorder = try WAVRecorder(path: path)
        for number in 0..<130 {
            recorder.handleAudioFrame(ToneCapturer.frame(number, frequency: 440, peak: 9000))
        }

        // Not closed: this is what a killed process leaves, a second of sound short at most.
        let bytes = readFile(path)
        let length = Int(bytes.littleEndian(at: 40, as: UInt32.self))
        #expect(bytes.count == 44 + 130 * 1920)
        #expect(length >= bytes.count - 44 - 96000 && length <= bytes.count - 44)
        #expect(Int(bytes.littleEndian(at: 4, as: UInt32.self)) == length + 36)

        recorder.close()
        #expect(Int(readFile(path).littleEndian(at: 40, as: UInt32.self)) == 130 * 1920)
        #expect(recorder.error == nil)
    }

    @Test func `a recording keeps its rate when the sound's changes`() throws {
        let path = folder.file("b.wav")
        let recorder = try WAVRecorder(path: path)
        recorder.handleAudioFrame(AudioFrame(samples: sine(500, rate: 8000, count: 8000), sampleRate: 8000))
        recorder.handleAudioFrame(
            AudioFrame(samples: sine(500, rate: 48000, count: 48000, channels: 2), sampleRate: 48000, channelCount: 2))
        recorder.close()

        let bytes = readFile(path)
        #expect(bytes.littleEndian(at: 24, as: UInt32.self) == 8000)
        #expect(abs(bytes.count - 44 - 32000) < 400)
    }

    @Test(arguments: [(8000, 1), (44100, 2), (48000, 1), (16000, 2)])
    func `a WAV file of any rate plays at 48 kHz, and over again`(_ rate: Int, _ channels: Int) throws {
        let path = folder.file("c.wav")
        let recorder = try WAVRecorder(path: path)
        recorder.handleAudioFrame(
            AudioFrame(
                samples: sine(500, rate: rate, count: rate / 2, channels: channels), sampleRate: rate,
                channelCount: channels))
        recorder.close()
        let reader = try WAVReader(path: path)
        let detector = ToneDetector()

        for _ in 0..<100 { detector.handleAudioFrame(AudioFrame(samples: reader.next(960))) }

        let result = try #require(detector.result)
        #expect(abs(result.frequency - 500) < 3)
        #expect(result.share > 0.9)
    }

    @Test(arguments: [
        [], Array("RIFF".utf8), Array("RIFF....WAVE".utf8), Array("RIFF....WAVEdata".utf8) + [255, 255, 255, 255],
    ])
    func `what is no WAV file is refused in words`(_ content: [UInt8]) {
        let path = folder.file("bad.wav")
        writeFile(path, content)

        let error = #expect(throws: DeviceError.self) { try WAVCapturer(path: path) }
        #expect(error?.code == .notUnderstood)
    }

    @Test func `a full disk is told and what was kept is whole`() throws {
        let file = try OutputFile(creating: "/dev/full")

        #expect(!file.append([1, 2, 3]))
        #expect(file.error?.code == .diskFull)
        #expect(file.length == 0)
    }
}
