import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `When pictures are shown` {
    /// Thirty pictures a second, each whole so long after it was captured, and how long after that it is shown.
    private func show(_ delays: [Int64], from start: Int = 0, with playout: inout VideoPlayout) -> [Int64] {
        delays.enumerated().map { number, delay in
            let capture = Instant.zero + .seconds(1) + .nanoseconds(Int64(start + number) * 100_000_000 / 3)
            let timestamp = RTPTimestamp(UInt32(truncatingIfNeeded: 4_294_960_000 + (start + number) * 3000))
            let shown = playout.time(of: timestamp, wholeAt: capture + .milliseconds(delay))
            return Int64((shown - capture).inMilliseconds.rounded())
        }
    }

    @Test func `pictures that are a little late are shown as they come`() {
        var playout = VideoPlayout()
        let delays = (0..<600).map { Int64($0 * 7 % 80) }
        #expect(show(delays, with: &playout) == delays)
    }

    @Test func `where many are held up for long, all are shown that late, and at once again when that is over`() {
        var playout = VideoPlayout()
        // Each fifth has to wait for a repeat, and those behind it with it.
        let delays = (0..<600).map { Int64(150 + max(0, 310 - $0 % 15 * 33)) }
        let shown = show(delays, with: &playout)
        #expect(zip(shown, delays).allSatisfy { $0 >= $1 })
        #expect(shown[150...].allSatisfy { $0 == shown[150] }, "\(shown)")
        #expect((460...480).contains(shown[150]), "\(shown)")

        let later = show(Array(repeating: 150, count: 900), from: 600, with: &playout)
        #expect(later.last == 150)
        #expect(zip(later, later.dropFirst()).allSatisfy { $0 >= $1 && $0 - $1 <= 3 }, "\(later)")
    }

    @Test func `one that is late does not hold back the others`() {
        var playout = VideoPlayout()
        let delays = (0..<600).map { Int64($0 % 60 == 30 ? 300 : 20) }
        #expect(show(delays, with: &playout) == delays)
    }

    @Test func `a clock that jumps starts anew`() {
        var playout = VideoPlayout()
        _ = show((0..<300).map { Int64(150 + max(0, 310 - $0 % 15 * 33)) }, with: &playout)
        #expect(playout.delay > .milliseconds(200))
        #expect(show([20, 20, 20], from: 100_000, with: &playout) == [20, 20, 20])
    }
}
