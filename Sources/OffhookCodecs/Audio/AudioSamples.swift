/// Arithmetic on runs of 16-bit samples.
package enum AudioSamples {
    /// Brings interleaved channels to another number of them: mono is the mean of all, and is copied to all.
    package static func convert(_ samples: [Int16], from channelCount: Int, to wanted: Int) -> [Int16] {
        guard channelCount != wanted, channelCount > 0, wanted > 0 else { return samples }
        let mono: [Int16]
        if channelCount == 1 {
            mono = samples
        } else {
            mono = (0..<samples.count / channelCount).map { frame in
                var sum = 0
                for channel in 0..<channelCount { sum += Int(samples[frame * channelCount + channel]) }
                return Int16(sum / channelCount)
            }
        }
        guard wanted > 1 else { return mono }
        return mono.flatMap { repeatElement($0, count: wanted) }
    }

    /// Adds a signal to another, as far as both go, and clips what gets too loud.
    package static func mix(_ samples: [Int16], into sum: inout [Int16]) {
        for index in 0..<min(samples.count, sum.count) {
            sum[index] = Int16(clamping: Int(sum[index]) + Int(samples[index]))
        }
    }

    /// Multiplies every sample, and clips what gets too loud.
    package static func amplify(_ samples: inout [Int16], by gain: Float) {
        guard gain != 1 else { return }
        for index in samples.indices {
            samples[index] = Int16(max(min(Float(samples[index]) * gain, 32767), -32768))
        }
    }

    /// How loud it is: the root of the mean square, 0 to 1.
    package static func level(of samples: [Int16]) -> Float {
        guard !samples.isEmpty else { return 0 }
        var sum = 0
        for sample in samples { sum += Int(sample) * Int(sample) }
        return (Float(sum) / Float(samples.count)).squareRoot() / 32768
    }
}
