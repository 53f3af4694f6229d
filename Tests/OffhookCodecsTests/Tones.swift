import Foundation
import OffhookBasics
import OffhookMedia

/// A steady tone.
func tone(_ frequency: Double, rate: Int = 48000, count: Int, from start: Int = 0, amplitude: Double = 8000) -> [Int16]
{
    (0..<count).map { Int16(amplitude * sin(2 * .pi * frequency * Double($0 + start) / Double(rate))) }
}

/// Something like a voice: a gliding pitch with overtones that swells and fades four times a second.
func voice(count: Int, rate: Int = 48000) -> [Int16] {
    var phase = 0.0
    return (0..<count).map { index in
        let time = Double(index) / Double(rate)
        phase += 2 * .pi * (140 + 30 * sin(2 * .pi * 1.5 * time)) / Double(rate)
        let swell = 0.55 + 0.45 * sin(2 * .pi * 4 * time)
        let sound = (1...12).reduce(0.0) { $0 + sin(phase * Double($1)) / Double($1) }
        return Int16(4500 * swell * sound)
    }
}

/// How often the signal rises through zero, in hertz.
func frequency(of samples: [Int16], rate: Int) -> Double {
    let rises = (1..<samples.count).filter { samples[$0 - 1] < 0 && samples[$0] >= 0 }
    guard let first = rises.first, let last = rises.last, last > first else { return 0 }
    return Double(rises.count - 1) * Double(rate) / Double(last - first)
}

func power(of samples: some Collection<Int16>) -> Double {
    samples.isEmpty ? 0 : samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)
}

/// How alike two signals are: 1 for the same shape.
func likeness(_ left: some Collection<Int16>, _ right: some Collection<Int16>) -> Double {
    let product = zip(left, right).reduce(0.0) { $0 + Double($1.0) * Double($1.1) } / Double(max(left.count, 1))
    return product / max((power(of: left) * power(of: right)).squareRoot(), 1)
}

/// Takes sound and keeps it.
final class CollectingAudioSink: AudioSink {
    private let collected = Lock<[AudioFrame]>([])
    var frames: [AudioFrame] { collected.withLock { $0 } }
    var samples: [Int16] { frames.flatMap(\.samples) }

    func handleAudioFrame(_ frame: AudioFrame) {
        collected.withLock { $0.append(frame) }
    }
}
