import OffhookBasics
import OffhookEngine
import Testing

@Suite struct `Deadline queue` {
    @Test func `gives machines in the order of their latest deadlines`() {
        var queue = DeadlineQueue<Int>()
        var random = SeededRandom(seed: 1)
        var expected: [Int: Instant] = [:]
        for _ in 0..<5000 {
            let key = Int(random.next() % 100)
            if random.next() % 7 == 0 {
                queue.set(nil, for: key)
                expected[key] = nil
            } else {
                let deadline = Instant(nanoseconds: Int64(random.next() % 1_000_000))
                queue.set(deadline, for: key)
                expected[key] = deadline
            }
            #expect(queue.earliest == expected.values.min())
        }

        var last = Instant.zero
        while let key = queue.popDue(at: .distantFuture) {
            let deadline = expected.removeValue(forKey: key)
            #expect(deadline.map { $0 >= last } == true)
            last = deadline ?? last
        }
        #expect(expected.isEmpty)
    }
}
