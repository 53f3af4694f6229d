/// Makes a stretch of mono sound one period of the voice shorter or longer, and leaves its pitch alone.
package enum TimeStretch {
    /// Sound within it is too quiet for a wrong period to be heard.
    private static let quiet = 100
    /// How alike two periods must be, at best 1, for one to go or come.
    private static let likeness = 0.7

    /// Takes out between 2.5 and 10 ms, or nothing where the sound does not repeat itself.
    package static func accelerate(_ samples: [Int16], sampleRate: Int) -> [Int16] {
        guard let period = period(of: samples, sampleRate: sampleRate) else { return samples }
        let blended = blend(samples[..<period], into: samples[period..<2 * period])
        return blended + samples[(2 * period)...]
    }

    /// Puts in between 2.5 and 10 ms, or nothing where the sound does not repeat itself.
    package static func expand(_ samples: [Int16], sampleRate: Int) -> [Int16] {
        guard let period = period(of: samples, sampleRate: sampleRate) else { return samples }
        let blended = blend(samples[period..<2 * period], into: samples[..<period])
        return samples[..<period] + blended + samples[period...]
    }

    private static func blend(_ old: ArraySlice<Int16>, into new: ArraySlice<Int16>) -> [Int16] {
        let count = old.count
        return zip(old, new).enumerated().map { index, pair in
            Int16((Int(pair.0) * (count - index) + Int(pair.1) * index) / count)
        }
    }

    private static func period(of samples: [Int16], sampleRate: Int) -> Int? {
        // The search runs at 8 kHz, where it costs a thirty-sixth of what it would at 48.
        let step = max(sampleRate / 8000, 1)
        let coarse = stride(from: 0, to: samples.count - step + 1, by: step).map { start in
            samples[start..<start + step].reduce(0) { $0 + Int($1) } / step
        }
        let window = 80
        guard coarse.count >= 2 * window else { return nil }
        let energy = coarse[..<window].reduce(0) { $0 + $1 * $1 }
        guard energy > quiet * quiet * window else { return window / 2 * step }
        var best = (period: 0, score: 0.0)
        for period in 20...window {
            var product = 0
            var shifted = 1
            for index in 0..<window {
                product += coarse[index] * coarse[index + period]
                shifted += coarse[index + period] * coarse[index + period]
            }
            let score = Double(product) / (Double(energy) * Double(shifted)).squareRoot()
            if score > best.score { best = (period, score) }
        }
        return best.score >= likeness ? best.period * step : nil
    }
}
