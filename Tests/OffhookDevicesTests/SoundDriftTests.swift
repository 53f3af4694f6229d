import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Sound cards with clocks of their own` {
    /// Where each simulated second's jitter comes from: the same every time.
    private struct Dice {
        var state: UInt64 = 1
        /// From 0 to 1.
        mutating func roll() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24)
        }
    }

    @Test(arguments: [-300.0, 120])
    func `a speaker's store neither runs dry nor over in ten minutes`(ppm: Double) {
        var buffer = PlayoutBuffer(target: 1920)
        var dice = Dice()
        var taken = 0.0
        var levels: [Int] = []
        let chunk = 480
        var silence = [Int16](repeating: 0, count: chunk)

        for frame in 0..<30_000 {
            buffer.push([Int16](repeating: 1000, count: 960))
            // The card has taken so much when the next frame comes; frames come up to 8 ms late.
            let time = Double(frame + 1) * 0.02 + dice.roll() * 0.008
            while taken + Double(chunk) <= time * 48000 * (1 + ppm * 1e-6) {
                silence.withUnsafeMutableBufferPointer { buffer.pull(into: $0) }
                taken += Double(chunk)
            }
            if frame > 15_000 { levels.append(buffer.count) }
        }

        #expect(buffer.gaps == 0)
        #expect(buffer.samplesDropped == 0)
        #expect(abs(buffer.driftPPM - ppm) < 25)
        // Milliseconds, with the frame that has not come yet.
        let (least, most) = (levels.min() ?? 0, levels.max() ?? 0)
        #expect(Double(most - least) / 48 < 25, "between \(least) and \(most) samples")
    }

    @Test(arguments: [-300.0, 120])
    func `a microphone's frames keep the machine's time`(ppm: Double) {
        var clock = RecordingClock()
        var dice = Dice()
        let count = 960
        let samples = [Int16](repeating: 500, count: count)
        let period = Double(count) / (48000 * (1 + ppm * 1e-6))
        var worst = 0.0
        var frames = 0
        let origin = Instant(nanoseconds: 5_000_000_000)

        for number in 0..<20_000 {
            let recorded = Double(number) * period
            let told = origin + .nanoseconds(Int64((recorded + dice.roll() * 0.006) * 1e9))
            let new = samples.withUnsafeBufferPointer { clock.take($0, recordedAt: told) }
            frames += new.count
            if let last = new.last, number > 6000 {
                // The newest frame ends where the newest samples do, but for what is being resampled.
                let end = (last.captureTime + .milliseconds(20) - origin).inSeconds
                worst = max(worst, abs(recorded + period - end))
            }
        }

        #expect(abs(clock.driftPPM - ppm) < 25)
        #expect(clock.restarts == 0)
        #expect(worst < 0.03)
        #expect(abs(Double(frames) - 20_000 * period / 0.02) < 3)
    }

    @Test func `a store that ran dry fills up before it plays again, and then keeps more`() {
        var buffer = PlayoutBuffer(target: 1920)
        var output = [Int16](repeating: 7, count: 480)
        func pull() -> [Int16] {
            output.withUnsafeMutableBufferPointer { buffer.pull(into: $0) }
            return output
        }
        let loud = [Int16](repeating: 1000, count: 960)

        #expect(pull().allSatisfy { $0 == 0 })
        buffer.push(loud)
        #expect(pull().allSatisfy { $0 == 0 })
        buffer.push(loud)
        buffer.push(loud)
        #expect(pull().contains { $0 != 0 })
        for _ in 0..<6 { _ = pull() }
        #expect(buffer.gaps == 1)
        buffer.push(loud)
        buffer.push(loud)
        #expect(pull().allSatisfy { $0 == 0 }, "it waits for 10 ms more than before")
        buffer.push(loud)
        #expect(pull().contains { $0 != 0 })
    }

    @Test func `what piles up is dropped down to what is wanted`() {
        var buffer = PlayoutBuffer(target: 1920)

        for _ in 0..<20 { buffer.push([Int16](repeating: 1, count: 960)) }

        #expect(buffer.count <= 1920 + 4800)
        #expect(buffer.samplesDropped > 0)
    }

    @Test func `a recording that jumps begins anew`() {
        var clock = RecordingClock()
        let samples = [Int16](repeating: 1, count: 960)
        func take(at milliseconds: Int64) -> [AudioFrame] {
            samples.withUnsafeBufferPointer {
                clock.take($0, recordedAt: Instant(nanoseconds: milliseconds * 1_000_000))
            }
        }

        for number in 0..<10 { _ = take(at: Int64(number) * 20) }
        _ = (0..<21).flatMap { take(at: 5000 + Int64($0) * 20) }
        let after = take(at: 5420) + take(at: 5440)

        #expect(clock.restarts == 1)
        #expect(after.first?.captureTime == Instant(nanoseconds: 5_420_000_000))
    }

    @Test func `a recording that is read late and then made up for goes on`() {
        var clock = RecordingClock()
        let samples = [Int16](repeating: 1, count: 960)
        var frames: [AudioFrame] = []

        for number in 0..<100 {
            // For a quarter of a second nobody reads, and then all at once.
            let recorded = number * 20
            let read = (400..<650).contains(recorded) ? 650 : recorded
            frames += samples.withUnsafeBufferPointer {
                clock.take($0, recordedAt: Instant(nanoseconds: Int64(read) * 1_000_000))
            }
        }

        #expect(clock.restarts == 0)
        #expect(frames.count >= 98)
    }
}

@Suite struct `Names of sound devices` {
    private let devices = AudioDevices(
        microphones: [
            AudioDevice(id: "out.monitor", name: "Monitor of Speakers", kind: .microphone, isMonitor: true),
            AudioDevice(id: "usb-1", name: "USB Headset", kind: .microphone),
            AudioDevice(id: "pci", name: "Built-in", kind: .microphone, isDefault: true),
        ],
        speakers: [])

    @Test func `the default comes first and monitors last`() {
        #expect(devices.microphones.map(\.id) == ["pci", "usb-1", "out.monitor"])
    }

    @Test(arguments: [("usb-1", "usb-1"), ("headset", "usb-1"), ("Built", "pci"), ("camera", nil)])
    func `a device is known by its id or a part of its name`(word: String, id: String?) {
        #expect(AudioDevice.named(word, in: devices.microphones)?.id == id)
    }
}
