import OffhookBasics
import OffhookCodecs
import Testing

@Suite struct `Encoder load` {
    /// The speeds at the end of seconds in which each picture of 30 a second takes so many milliseconds.
    private func speeds(_ milliseconds: [Double]) -> [Int] {
        var load = EncoderLoad(speed: -8)
        var now = Instant.zero
        return milliseconds.map { time in
            for _ in 0..<90 {
                _ = load.note(captureTime: now, encodeTime: .nanoseconds(Int64(time * 1e6)))
                now = now + .nanoseconds(33_333_333)
            }
            return load.speed
        }
    }

    @Test(
        arguments: [
            // At ease, busy, swamped for ever.
            ([5, 10, 20], [-8, -8, -8]), ([30], [-16]), ([200, 200], [-16, -16]),
            // What is in between changes nothing, either way.
            ([30, 20, 20], [-16, -16, -16]), ([30, 5], [-16, -8]),
        ] as [([Double], [Int])]) func `makes the encoder hasten and take its time`(
            _ times: [Double], _ expected: [Int]
        )
    {
        #expect(speeds(times) == expected)
    }

    @Test func `changes one step at a time`() {
        var load = EncoderLoad(speed: -8)
        var changes: [Int] = []
        for number in 0..<100 {
            let isChanged = load.note(
                captureTime: .zero + .milliseconds(33 * number), encodeTime: .milliseconds(30))
            if isChanged { changes.append(number) }
        }
        #expect(changes == [30, 60])
        #expect(load.speed == -16)
    }

    @Test func `takes no notice of a clock that stands still or jumps back`() {
        var load = EncoderLoad(speed: -8)
        for number in 0..<100 {
            let isChanged = load.note(
                captureTime: .zero - .milliseconds(number / 2), encodeTime: .milliseconds(30))
            #expect(!isChanged)
        }
    }
}
