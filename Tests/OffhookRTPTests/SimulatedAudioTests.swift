import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `Audio over a bad network` {
    private func shares(_ end: SimulatedEnd, after start: Instant) -> [String: Double] {
        let late = end.playouts.filter { $0.at >= start }
        let counts = Dictionary(grouping: late, by: \.playout).mapValues(\.count)
        return counts.mapValues { Double($0) / Double(max(1, late.count)) }
    }

    @Test func `a clean path is played without a hole at the smallest delay`() {
        var call = SimulatedCall(.audio, seed: 1, path: Path())
        call.playsAudio = true
        call.streamAudio(seconds: 20)

        let statistics = call.right.session.statistics(at: call.now).received
        #expect(statistics.concealedDuration < .milliseconds(60))
        #expect(statistics.jitterBufferDelay < .milliseconds(50), "\(statistics.jitterBufferDelay)")
        #expect(statistics.packetsLost == 0)
    }

    @Test(arguments: [(20, 1), (60, 2), (100, 3), (200, 4)] as [(Int, UInt64)])
    func `the delay follows the jitter and stays there`(jitter: Int, seed: UInt64) {
        var call = SimulatedCall(.audio, seed: seed, path: Path(jitter: .milliseconds(jitter)))
        call.playsAudio = true
        call.streamAudio(seconds: 20)
        let half = call.right.session.statistics(at: call.now).received
        call.streamAudio(seconds: 40)
        let whole = call.right.session.statistics(at: call.now).received

        #expect(whole.jitterBufferDelay < .milliseconds(jitter + 80), "seed \(seed): \(whole.jitterBufferDelay)")
        #expect(whole.jitterBufferDelay > .milliseconds(jitter / 2))
        #expect(whole.jitterBufferDelay < half.jitterBufferDelay + .milliseconds(60))
        let concealed = shares(call.right, after: .zero + .seconds(20))["conceal"] ?? 0
        #expect(concealed < 0.04, "seed \(seed): \(concealed)")
    }

    @Test func `the delay shrinks when the network calms down`() {
        var call = SimulatedCall(.audio, seed: 9, path: Path(jitter: .milliseconds(200)))
        call.playsAudio = true
        call.streamAudio(seconds: 20)
        let before = call.right.session.statistics(at: call.now).received.jitterBufferDelay
        call.left.path.jitter = .zero
        call.streamAudio(seconds: 60)
        let after = call.right.session.statistics(at: call.now).received.jitterBufferDelay

        #expect(before > .milliseconds(100))
        #expect(after < .milliseconds(60), "\(after)")
    }

    @Test(arguments: [(0.05, 5), (0.1, 6), (0.2, 7)] as [(Double, UInt64)])
    func `forward error correction recovers most of what is lost`(loss: Double, seed: UInt64) {
        var call = SimulatedCall(.audio, seed: seed, path: Path(loss: loss))
        call.playsAudio = true
        call.streamAudio(seconds: 60)

        let statistics = call.right.session.statistics(at: call.now).received
        let lost = Double(statistics.packetsLost) * 20
        #expect(
            statistics.concealedDuration.inMilliseconds < lost / 2,
            "seed \(seed): \(statistics.concealedDuration), lost \(lost) ms")
        #expect(statistics.recoveredDuration.inMilliseconds > lost / 2)
    }

    @Test func `whichever one packet is lost, it is made up once`() {
        for lost in 0..<40 {
            var call = SimulatedCall(.audio, seed: 15, path: Path())
            call.playsAudio = true
            call.left.path.lostPacket = lost
            call.streamAudio(seconds: 1)
            call.run(until: call.now + .milliseconds(60))
            let madeUp = call.right.playouts.filter { $0.playout == "conceal" || $0.playout == "recover" }
            #expect(madeUp.count <= 5, "packet \(lost) lost: \(madeUp.count)")
            #expect(call.right.playouts.count { $0.playout == "packet" } >= 46, "packet \(lost) lost")
        }
    }

    @Test func `a pause of the sender is silence`() {
        var call = SimulatedCall(.audio, seed: 17, path: Path())
        call.playsAudio = true
        call.streamAudio(seconds: 2)
        call.run(until: call.now + .seconds(5))
        let concealed = call.right.session.statistics(at: call.now).received.concealedDuration
        call.streamAudio(seconds: 2)
        let statistics = call.right.session.statistics(at: call.now).received

        #expect(concealed < .milliseconds(200))
        #expect(statistics.concealedDuration < concealed + .milliseconds(60))
        #expect(statistics.playedDuration > .seconds(3.8))
    }

    @Test func `reports tell the loss and the round trip`() {
        var call = SimulatedCall(.audio, seed: 19, path: Path(loss: 0.1))
        call.playsAudio = true
        call.streamAudio(seconds: 60)

        let left = call.left.session.statistics(at: call.now)
        let roundTrip = left.roundTrip ?? .zero
        #expect(abs(roundTrip.inMilliseconds - 50) < 2)
        #expect(abs((left.sent.remoteFractionLost ?? 0) - 0.1) < 0.08)
        #expect((left.sent.remotePacketsLost ?? 0) > 150)
    }

    @Test func `a hole in the timestamps of our own pause bears the marker`() throws {
        var call = SimulatedCall(.audio, seed: 23, path: Path())
        call.streamAudio(seconds: 0.1)
        call.run(until: call.now + .seconds(1))
        call.streamAudio(seconds: 0.1)

        let headers = try call.left.wire.map { try $0.bytes.parsedHeader() }
        #expect(headers.map(\.marker) == [true, false, false, false, false, true, false, false, false, false])
        #expect(headers[5].timestamp - headers[4].timestamp == 960 + 48000)
        #expect(headers[5].sequenceNumber - headers[4].sequenceNumber == 1)
    }
}
