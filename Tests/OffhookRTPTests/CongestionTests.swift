import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `Congestion control` {
    @Test(arguments: [0.0, 0.05, 0.1, 0.2], [1, 2] as [UInt64])
    func `loss at random is no congestion`(loss: Double, seed: UInt64) {
        let call = CongestedCall(seed: seed) { $0.loss = loss }
        call.run(seconds: 40)

        #expect(call.frames(20..<40) > 28, "seed \(seed)\n\(call.story)")
        #expect(call.frozen(10..<40).seconds < 0.5, "seed \(seed)\n\(call.story)")
        #expect(call.encoder.target.bitsPerSecond > 1_300_000, "seed \(seed)\n\(call.story)")
    }

    @Test(arguments: [3, 4] as [UInt64])
    func `jitter is no congestion`(seed: UInt64) {
        let call = CongestedCall(seed: seed) { $0.jitter = .milliseconds(40) }
        call.run(seconds: 40)

        #expect(call.carried(20..<40) > 1_450_000, "seed \(seed)\n\(call.story)")
        #expect(call.frozen(5..<40).count == 0, "seed \(seed)\n\(call.story)")
    }

    @Test(arguments: [5, 6] as [UInt64])
    func `a narrow link is filled without a standing queue`(seed: UInt64) {
        let call = CongestedCall(seed: seed) { $0.rate = 600_000 }
        call.run(seconds: 40)

        #expect(call.carried(10..<40) > 540_000, "seed \(seed)\n\(call.story)")
        #expect(call.frozen(10..<40).count == 0, "seed \(seed)\n\(call.story)")
        #expect(
            call.seconds[10..<40].count { $0.longestQueue > .milliseconds(150) } <= 3, "seed \(seed)\n\(call.story)")
    }

    @Test(arguments: [7, 8] as [UInt64])
    func `the rate follows a link that narrows and widens`(seed: UInt64) {
        let call = CongestedCall(seed: seed)
        call.run(seconds: 15)
        call.forward.rate = 600_000
        call.forward.queue = .milliseconds(300)
        call.run(seconds: 20)
        call.forward.rate = nil
        call.run(seconds: 10)

        #expect(call.longQueueing < .seconds(1), "seed \(seed)\n\(call.story)")
        #expect(call.carried(18..<35) > 510_000, "seed \(seed)\n\(call.story)")
        #expect(call.seconds[35..<41].contains { $0.target > 1_400_000 }, "seed \(seed)\n\(call.story)")
    }
}
