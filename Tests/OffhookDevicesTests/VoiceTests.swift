import Foundation
import OffhookBasics
import OffhookCodecs
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Voice processing` {
    private static let rate = 48000
    private static let delay = VoiceProcessor.delay

    /// Plays `far` on a speaker and runs what the microphone hears through the filter, 20 ms at a time.
    ///
    /// - Parameter error: how much too late the speaker says that its sound is heard, in milliseconds.
    private func run(
        microphone: [Double], far: [Double], _ processing: VoiceProcessing, error: Double = 0
    ) -> [Double] {
        let history = PlayoutHistory()
        let filter = VoiceFilter()
        let origin = Instant(nanoseconds: 1_000_000_000)
        var output: [Double] = []
        func frame(_ samples: [Double], _ start: Int, late: Double = 0) -> AudioFrame {
            AudioFrame(
                samples: samples[start..<start + 960].map { Int16(max(min($0, 32767), -32768)) },
                captureTime: origin + .nanoseconds(Int64(start) * 1_000_000_000 / 48000 + Int64(late * 1e6)))
        }
        // The speaker is 60 ms ahead, as it is where its sound is under way.
        let ahead = 3 * 960
        for start in stride(from: 0, to: ahead, by: 960) { history.handleAudioFrame(frame(far, start, late: error)) }
        for start in stride(from: 0, to: microphone.count - ahead - 960, by: 960) {
            history.handleAudioFrame(frame(far, start + ahead, late: error))
            let frames = filter.process(
                frame(microphone, start), as: processing, isKnown: history.isKnown, reference: history.samples)
            for frame in frames { output += frame.samples.map { Double($0) } }
        }
        return output
    }

    private func noise(_ count: Int, level: Double, seed: UInt64 = 77) -> [Double] {
        var noise = SeededNoise(seed: seed)
        return (0..<count).map { _ in noise.normal() * level }
    }

    @Test(arguments: [(40.0, 0.0), (80, -15), (120, 10)])
    func `an echo is at least 20 dB softer after five seconds`(milliseconds: Double, error: Double) {
        let far = Speech.samples(seconds: 7, seed: 1, pitch: 110, level: 3000)
        let echo = SimulatedRoom(delay: milliseconds, gain: 0.5, seed: 3).echo(of: far)
        let microphone = zip(echo, noise(far.count, level: 15)).map { $0 + $1 }

        let output = run(microphone: microphone, far: far, VoiceProcessing(cancelsEcho: true), error: error)

        let late = 5 * Self.rate..<output.count
        let reduction = decibels(microphone[late]) - decibels(output[late])
        #expect(reduction >= 20, "\(reduction) dB")
    }

    /// Sound cards as a busy machine sees them: 7.5 ms at a time, the microphone read late now and then, and the more so
    /// the longer it goes on; what the speaker tells of its latency is too late as often.
    ///
    /// - Parameter ahead: how long the speaker's sound is under way, in milliseconds.
    private func runOnBusyMachine(microphone: [Double], far: [Double], ahead: Double) -> [Double] {
        let history = PlayoutHistory()
        let filter = VoiceFilter()
        var clock = RecordingClock()
        var dice = SeededNoise(seed: 9)
        let origin = Instant(nanoseconds: 1_000_000_000)
        func instant(_ milliseconds: Double) -> Instant { origin + .nanoseconds(Int64(milliseconds * 1e6)) }
        let chunk = 360
        let lead = Int(ahead * 48) / chunk * chunk
        var output: [Double] = []
        for start in stride(from: 0, to: far.count - lead - chunk, by: chunk) {
            let time = Double(start) / 48
            let told = time + ahead + (start % 2880 == 0 ? 0 : dice.uniform() * min(time / 1000, 8))
            history.handleAudioFrame(
                AudioFrame(
                    samples: far[start + lead..<start + lead + chunk].map { Int16(max(min($0, 32767), -32768)) },
                    captureTime: instant(told)))
            let lateness = time < 4000 ? 0.3 : dice.uniform() * 12
            let recorded = microphone[start..<start + chunk].map { Int16(max(min($0, 32767), -32768)) }
            let frames = recorded.withUnsafeBufferPointer {
                clock.take($0, recordedAt: instant(time + (start % 1440 == 0 ? 0 : lateness)))
            }
            for frame in frames {
                let processed = filter.process(
                    frame, as: VoiceProcessing(cancelsEcho: true), isKnown: history.isKnown, reference: history.samples)
                for frame in processed { output += frame.samples.map { Double($0) } }
            }
        }
        return output
    }

    /// With 7.5 ms the speaker tells of a sound later than the microphone's frame with its echo is full.
    @Test(arguments: [22.5, 7.5])
    func `an echo is as much softer where times are told badly and late`(ahead: Double) {
        let far = Speech.samples(seconds: 9, seed: 1, pitch: 110, level: 3000)
        let echo = SimulatedRoom(delay: 5, gain: 0.5, seed: 3).echo(of: far)
        let microphone = zip(echo, noise(far.count, level: 15)).map { $0 + $1 }

        let output = runOnBusyMachine(microphone: microphone, far: far, ahead: ahead)

        let late = 5 * Self.rate..<output.count
        let reduction = decibels(microphone[late]) - decibels(output[late])
        #expect(reduction >= 20, "\(reduction) dB")
    }

    @Test func `who speaks at the same time as the far end is heard`() {
        let far = Speech.samples(seconds: 12, seed: 1, pitch: 110, level: 3000)
        let echo = SimulatedRoom(delay: 80, gain: 0.5, seed: 3).echo(of: far)
        var near = Speech.samples(seconds: 8, seed: 51, pitch: 190, level: 2500)
        for index in 0..<6 * Self.rate { near[index] = 0 }
        let hiss = noise(far.count, level: 15)
        let microphone = near.indices.map { near[$0] + echo[$0] + hiss[$0] }

        let output = run(microphone: microphone, far: far, VoiceProcessing(cancelsEcho: true))

        // What of the output is the near voice, and what is not.
        let time = 7 * Self.rate..<output.count - Self.delay
        var (product, energy) = (0.0, 0.0)
        for index in time {
            product += output[index + Self.delay] * near[index]
            energy += near[index] * near[index]
        }
        let gain = product / energy
        let rest = time.map { output[$0 + Self.delay] - gain * near[$0] }
        let kept = 20 * log10(gain)
        let clean = decibels(time.map { gain * near[$0] }) - decibels(rest)
        let before = decibels(near[time]) - decibels(echo[time])
        #expect(kept > -3 && kept < 1)
        #expect(clean > before + 1.5)
    }

    @Test func `steady noise gets softer and a voice does not`() {
        let voice = Speech.samples(seconds: 6, seed: 5, pitch: 150, level: 3000)
        let hiss = noise(voice.count, level: 200)
        var microphone = hiss
        for index in 3 * Self.rate..<voice.count { microphone[index] += voice[index] }

        let output = run(
            microphone: microphone, far: [Double](repeating: 0, count: voice.count),
            VoiceProcessing(suppressesNoise: true))

        let still = 2 * Self.rate..<3 * Self.rate
        let spoken = 4 * Self.rate..<5 * Self.rate
        let softer = decibels(microphone[still]) - decibels(output[still])
        let lost = decibels(microphone[spoken]) - decibels(output[spoken])
        #expect(softer > 10)
        #expect(lost < 2)
    }

    @Test func `a soft voice is brought up`() {
        let voice = Speech.samples(seconds: 8, seed: 5, pitch: 150, level: 300)

        let output = run(
            microphone: voice, far: [Double](repeating: 0, count: voice.count), VoiceProcessing(controlsGain: true))

        let late = 5 * Self.rate..<output.count
        let louder = decibels(output[late]) - decibels(voice[late])
        #expect(louder > 6)
    }

    @Test func `what is not voice keeps its full width`() {
        // Tones below and above the band that is processed.
        let count = 4 * Self.rate
        let microphone = (0..<count).map { index -> Double in
            let time = Double(index) / 48000
            return 3000 * sin(2 * .pi * 1000 * time) + 1500 * sin(2 * .pi * 12_000 * time)
        }

        let output = run(
            microphone: microphone, far: [Double](repeating: 0, count: count), VoiceProcessing(cancelsEcho: true))

        let late = Array(output[2 * Self.rate..<3 * Self.rate])
        for (frequency, level) in [(1000.0, 3000.0), (12_000, 1500)] {
            var (real, imaginary) = (0.0, 0.0)
            for (index, sample) in late.enumerated() {
                real += sample * cos(2 * .pi * frequency * Double(index) / 48000)
                imaginary += sample * sin(2 * .pi * frequency * Double(index) / 48000)
            }
            let found = 2 * (real * real + imaginary * imaginary).squareRoot() / Double(late.count)
            #expect(abs(20 * log10(found / level)) < 1.5)
        }
    }

    @Test func `frames of other rates are processed, and each tells when it was recorded`() {
        let filter = VoiceFilter()
        var frames: [AudioFrame] = []
        for number in 0..<10 {
            let start = Instant(nanoseconds: Int64(number) * 10_000_000)
            let frame = AudioFrame(
                samples: [Int16](repeating: 100, count: 320), sampleRate: 16000, channelCount: 2, captureTime: start)
            frames += filter.process(frame, as: VoiceProcessing(cancelsEcho: true), isKnown: { _ in true }) {
                _, count in
                [Int16](repeating: 0, count: count)
            }
        }

        #expect(frames.count == 4 || frames.count == 5)
        #expect(frames.allSatisfy { $0.samples.count == 960 && $0.sampleRate == 48000 && $0.channelCount == 1 })
        for (frame, next) in zip(frames, frames.dropFirst()) {
            #expect(abs((next.captureTime - frame.captureTime).inMilliseconds - 20) < 0.1)
        }
    }

    @Test func `the history of a speaker is found by time`() {
        let history = PlayoutHistory()
        let origin = Instant(nanoseconds: 9_000_000_000)
        for number in 0..<50 {
            let value = Int16(number * 100)
            history.handleAudioFrame(
                AudioFrame(
                    samples: [Int16](repeating: value, count: 960),
                    captureTime: origin + .milliseconds(20 * number)))
        }

        let found = history.samples(from: origin + .milliseconds(615), count: 16)

        #expect(found.allSatisfy { abs(Int($0) - 3000) < 60 })
        #expect(history.samples(from: origin + .seconds(5), count: 3) == [0, 0, 0])
        #expect(history.samples(from: origin - .seconds(5), count: 3) == [0, 0, 0])
    }
}
