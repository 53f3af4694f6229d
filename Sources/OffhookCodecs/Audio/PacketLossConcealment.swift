/// Fills the gaps of a codec that cannot do so itself: it repeats the last period of the voice and fades it out.
///
/// After G.711 Appendix I, for one channel.
package struct PacketLossConcealment: Sendable {
    private let sampleRate: Int
    private var history: [Int16] = []
    /// One period that runs on from its end to its beginning without a step; empty outside of a gap.
    private var cycle: [Int16] = []
    private var concealed = 0

    package init(sampleRate: Int = 8000) {
        self.sampleRate = sampleRate
    }

    private func samples(milliseconds: Int) -> Int { sampleRate * milliseconds / 1000 }

    /// Takes samples that arrived, and blends their start with what was made up before them.
    package mutating func accept(_ samples: [Int16]) -> [Int16] {
        var samples = samples
        if !cycle.isEmpty {
            let fade = min(self.samples(milliseconds: 5), samples.count)
            for index in 0..<fade {
                let old = Int(nextMadeUp()) * (fade - index)
                samples[index] = Int16((old + Int(samples[index]) * index) / fade)
            }
        }
        cycle = []
        concealed = 0
        remember(samples)
        return samples
    }

    /// Makes up samples: as loud as before for 10 ms, gone after 60.
    package mutating func conceal(sampleCount: Int) -> [Int16] {
        if cycle.isEmpty { cycle = makeCycle() }
        return (0..<max(sampleCount, 0)).map { _ in nextMadeUp() }
    }

    private mutating func nextMadeUp() -> Int16 {
        guard !cycle.isEmpty else { return 0 }
        let steady = samples(milliseconds: 10)
        let gone = samples(milliseconds: 60)
        let sample = Int(cycle[concealed % cycle.count])
        concealed += 1
        guard concealed > steady else { return Int16(sample) }
        return Int16(sample * max(gone - concealed, 0) / (gone - steady))
    }

    private mutating func remember(_ samples: [Int16]) {
        history += samples
        let needed = self.samples(milliseconds: 50)
        if history.count > needed { history.removeFirst(history.count - needed) }
    }

    private func makeCycle() -> [Int16] {
        let longest = samples(milliseconds: 15)
        let window = samples(milliseconds: 20)
        guard history.count >= longest + window else { return [0] }
        let period = Self.bestPeriod(
            in: history, among: samples(milliseconds: 5)...longest, window: window)
        var cycle = Array(history.suffix(period))
        let blend = period / 4
        let earlier = history.count - 2 * period
        guard earlier >= 0 else { return cycle }
        for index in 0..<blend {
            let position = period - blend + index
            let target = Int(history[earlier + position])
            cycle[position] = Int16((Int(cycle[position]) * (blend - index) + target * index) / blend)
        }
        return cycle
    }

    /// The shift at which the end of the signal resembles what came before it most.
    private static func bestPeriod(in signal: [Int16], among periods: ClosedRange<Int>, window: Int) -> Int {
        let start = signal.count - window
        var best = (period: periods.lowerBound, score: -Double.infinity)
        for period in periods {
            var product = 0
            var energy = 1
            for index in start..<signal.count {
                let shifted = Int(signal[index - period])
                product += Int(signal[index]) * shifted
                energy += shifted * shifted
            }
            let score = Double(product) / Double(energy).squareRoot()
            if score > best.score { best = (period, score) }
        }
        return best.period
    }
}
