import Foundation

/// Numbers that look random and are the same every time.
struct SeededNoise {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 2_654_435_761 &+ 88_172_645_463_325_252 }

    /// From 0 to 1.
    mutating func uniform() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 40) / Double(1 << 24)
    }

    /// Of mean 0 and variance 1, near enough to normal.
    mutating func normal() -> Double {
        (0..<6).reduce(0) { sum, _ in sum + uniform() } * 1.414 - 4.243
    }
}

/// Sound that has what counts of speech: pulses of a voice with a melody, three formants, hissing, syllables and pauses.
enum Speech {
    static let rate = 48000.0

    /// - Parameter level: the root of the mean square, of 16-bit samples.
    static func samples(seconds: Double, seed: UInt64, pitch: Double, level: Double) -> [Double] {
        let vowels = [
            [700.0, 1200, 2600], [300, 2200, 3000], [500, 900, 2400], [400, 1900, 2600], [350, 800, 2300],
        ]
        var noise = SeededNoise(seed: seed)
        let count = Int(seconds * rate)
        var result: [Double] = []
        var phase = 0.0
        while result.count < count {
            let length = Int(rate * (0.07 + 0.13 * noise.uniform()))
            let kind = noise.uniform()
            var sound = [Double](repeating: 0, count: length)
            if kind > 0.18 {
                let isVoiced = kind < 0.8
                let frequency = pitch * (1 + 0.15 * noise.normal())
                for index in 0..<length {
                    phase += frequency / rate
                    let pulse = phase.truncatingRemainder(dividingBy: 1) < 0.1 ? 1.0 : 0
                    sound[index] = isVoiced ? pulse + 0.02 * noise.normal() : 0.3 * noise.normal()
                }
                if isVoiced {
                    for formant in vowels[Int(noise.uniform() * 5) % 5] { resonate(&sound, at: formant) }
                }
                shape(&sound, loudness: 0.5 + 0.8 * noise.uniform())
            }
            result += sound
        }
        let power = result.reduce(0) { $0 + $1 * $1 } / Double(result.count)
        return result.prefix(count).map { $0 * level / power.squareRoot() }
    }

    private static func resonate(_ sound: inout [Double], at frequency: Double) {
        let radius = exp(-Double.pi * 100 / rate)
        let first = 2 * radius * cos(2 * Double.pi * frequency / rate)
        var (last, beforeLast) = (0.0, 0.0)
        for index in sound.indices {
            let value = sound[index] * (1 - radius) + first * last - radius * radius * beforeLast
            (beforeLast, last) = (last, value)
            sound[index] = value
        }
    }

    private static func shape(_ sound: inout [Double], loudness: Double) {
        let power = sound.reduce(0) { $0 + $1 * $1 } / Double(sound.count) + 1e-9
        let ramp = 0.015 * rate
        for index in sound.indices {
            let edge = min(1, Double(min(index, sound.count - 1 - index)) / ramp)
            sound[index] *= edge * loudness / power.squareRoot()
        }
    }
}

/// A room with a speaker and a microphone: the echo comes after a delay, by many ways, and fades away.
struct SimulatedRoom {
    private var taps: [(delay: Int, gain: Double)] = []

    /// - Parameters:
    ///   - delay: until the first echo, in milliseconds.
    ///   - gain: how much of the speaker's sound comes back.
    init(delay: Double, gain: Double, seed: UInt64) {
        var noise = SeededNoise(seed: seed)
        let first = Int(delay * 48)
        taps = [(first, 1.5)]
        for _ in 0..<48 {
            let later = noise.uniform() * 0.06
            taps.append((first + Int(later * Speech.rate), noise.normal() * exp(-later * 6.9 / 0.15)))
        }
        let energy = taps.reduce(0) { $0 + $1.gain * $1.gain }
        taps = taps.map { ($0.delay, $0.gain * gain / energy.squareRoot()) }
    }

    func echo(of sound: [Double]) -> [Double] {
        var result = [Double](repeating: 0, count: sound.count)
        result.withUnsafeMutableBufferPointer { output in
            sound.withUnsafeBufferPointer { input in
                for tap in taps {
                    for index in tap.delay..<input.count { output[index] += tap.gain * input[index - tap.delay] }
                }
            }
        }
        return result
    }
}

/// The root of the mean square of samples, in decibels.
func decibels(_ samples: some Collection<Double>) -> Double {
    10 * log10(samples.reduce(0) { $0 + $1 * $1 } / Double(max(samples.count, 1)) + 1e-9)
}
