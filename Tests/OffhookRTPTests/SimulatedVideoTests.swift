import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `Video over a bad network` {
    /// Every frame that came out is one that went in, unchanged, in order, and a chain without holes follows each key frame.
    private func check(_ end: SimulatedEnd, sourceLocation: SourceLocation = #_sourceLocation) {
        var last: Int?
        for (frame, bytes, _) in end.frames {
            let number = SimulatedCall.number(of: bytes)
            let original = SimulatedCall.frame(number, isKeyFrame: frame.isKeyFrame, size: bytes.count)
            #expect(bytes == original, "frame \(number) is whole", sourceLocation: sourceLocation)
            if !frame.isKeyFrame {
                #expect(last == number - 1, "frame \(number) follows what it refers to", sourceLocation: sourceLocation)
            }
            last = number
        }
    }

    @Test func `a clean path brings every frame at once`() {
        var call = SimulatedCall(.video, seed: 1, path: Path())
        let sent = call.streamVideo(seconds: 3)
        call.run(until: call.now + .milliseconds(500))

        #expect(call.right.frames.count == sent)
        check(call.right)
        let statistics = call.right.session.statistics(at: call.now).received
        #expect(statistics.nacksSent == 0)
        #expect(statistics.pictureLossIndicationsSent == 0)
        #expect(statistics.freezes == 0)
        #expect(call.left.keyFrameRequests.isEmpty)
    }

    @Test(arguments: [(0.05, 11), (0.1, 12), (0.2, 13)] as [(Double, UInt64)])
    func `repeats repair loss at a round trip of 50 ms`(loss: Double, seed: UInt64) {
        var call = SimulatedCall(.video, seed: seed, path: Path(loss: loss))
        let sent = call.streamVideo(seconds: 20)
        call.run(until: call.now + .seconds(2))

        check(call.right)
        let statistics = call.right.session.statistics(at: call.now).received
        #expect(
            Double(call.right.frames.count) > Double(sent) * 0.97, "seed \(seed): \(call.right.frames.count) of \(sent)"
        )
        #expect(statistics.keyFrames <= 4)
        #expect(statistics.repairedPackets > 50)
    }

    @Test(arguments: [(0.05, 14), (0.1, 15)] as [(Double, UInt64)])
    func `repeats repair loss at a round trip of 300 ms, which one who only receives is not told`(
        loss: Double, seed: UInt64
    ) {
        var call = SimulatedCall(
            .video, seed: seed, path: Path(delay: .milliseconds(150), loss: loss),
            formats: SimulatedCall.repeatedVideoFormats)
        call.perform(call.right) { $0.setDirections(sends: false, receives: true, at: $1, pool: &$2, actions: &$3) }
        let sent = call.streamVideo(seconds: 15)
        call.run(until: call.now + .seconds(2))

        check(call.right)
        let statistics = call.right.session.statistics(at: call.now).received
        #expect(
            Double(call.right.frames.count) > Double(sent) * 0.85, "seed \(seed): \(call.right.frames.count) of \(sent)"
        )
        #expect(statistics.keyFrames <= 8, "seed \(seed)")
        #expect(statistics.packetsNacked < statistics.packetsLost * 4, "seed \(seed)")
    }

    @Test func `repeats come as an RFC 4588 stream where one was agreed on`() throws {
        var call = SimulatedCall(.video, seed: 21, path: Path(loss: 0.1), formats: SimulatedCall.repeatedVideoFormats)
        let sent = call.streamVideo(seconds: 5)
        call.run(until: call.now + .seconds(2))

        check(call.right)
        #expect(Double(call.right.frames.count) > Double(sent) * 0.97)
        let repeats = try call.left.wire.map { try $0.bytes.parsedHeader() }.filter { $0.payloadType == 97 }
        #expect(repeats.count > 20)
        #expect(repeats.allSatisfy { $0.ssrc == call.left.session.retransmissionSSRC })
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `disorder, jitter and duplicates break nothing`(seed: UInt64) {
        let path = Path(jitter: .milliseconds(30), loss: 0.02, duplication: 0.1)
        var call = SimulatedCall(.video, seed: 100 + seed, path: path)
        let sent = call.streamVideo(seconds: 5)
        call.run(until: call.now + .seconds(2))

        check(call.right)
        #expect(Double(call.right.frames.count) > Double(sent) * 0.95, "seed \(seed)")
    }

    @Test func `without repair a loss leads to a key frame, and no broken frame gets out`() {
        var call = SimulatedCall(.video, seed: 31, path: Path(loss: 0.02)) { $0.sendsNegativeAcknowledgements = false }
        let sent = call.streamVideo(seconds: 20)
        call.run(until: call.now + .seconds(2))

        check(call.right)
        let statistics = call.right.session.statistics(at: call.now).received
        #expect(statistics.nacksSent == 0)
        #expect(statistics.pictureLossIndicationsSent > 5)
        #expect(statistics.keyFrames > 5)
        #expect(call.right.frames.count > sent / 5)
    }

    @Test func `whichever one packet is lost, the stream goes on`() {
        for lost in 0..<60 {
            var call = SimulatedCall(.video, seed: 41, path: Path())
            call.left.path.lostPacket = lost
            let sent = call.streamVideo(seconds: 1)
            call.run(until: call.now + .seconds(1))
            check(call.right)
            #expect(call.right.frames.count >= sent - 4, "packet \(lost) lost: \(call.right.frames.count) of \(sent)")
            #expect(
                call.right.frames.last.map { SimulatedCall.number(of: $0.bytes) } == sent - 1, "packet \(lost) lost")
        }
    }

    @Test func `an outage is a freeze, and the picture comes back`() {
        var call = SimulatedCall(.video, seed: 51, path: Path())
        _ = call.streamVideo(seconds: 2)
        call.left.path.loss = 1
        call.right.path.loss = 1
        _ = call.streamVideo(seconds: 3)
        call.left.path.loss = 0
        call.right.path.loss = 0
        let before = call.right.frames.count
        _ = call.streamVideo(seconds: 3)

        #expect(call.right.frames.count > before + 30)
        let statistics = call.right.session.statistics(at: call.now).received
        #expect(statistics.freezes == 1)
        #expect(statistics.frozenDuration > .seconds(2.9))
    }

    @Test func `one request for a key frame is honoured once`() {
        var call = SimulatedCall(.video, seed: 61, path: Path())
        _ = call.streamVideo(seconds: 1)
        call.perform(call.right) { $0.requestKeyFrame(at: $1, pool: &$2, actions: &$3) }
        _ = call.streamVideo(seconds: 2)

        #expect(call.left.keyFrameRequests.count == 1)
    }

    @Test func `packets are equal in size and few buffers serve many frames`() throws {
        var call = SimulatedCall(.video, seed: 71, path: Path())
        _ = call.streamVideo(seconds: 1)

        let byTime = Dictionary(grouping: try call.left.wire.map { ($0.bytes.count, try $0.bytes.parsedHeader()) }) {
            $0.1.timestamp
        }
        for packets in byTime.values {
            let sizes = packets.map(\.0)
            #expect(Set(sizes.dropLast()).count <= 1)
            #expect(sizes.count == 1 || sizes[0] - (sizes.last ?? 0) <= sizes.count)
            #expect(sizes.allSatisfy { $0 <= 1172 })
            #expect(packets.last?.1.marker == true)
        }
        let buffers = Set(call.right.frames.map { ObjectIdentifier($0.frame.buffer) })
        #expect(buffers.count == call.right.frames.count, "a buffer that is still held is never used again")
        call.right.frames.removeAll()
        _ = call.streamVideo(seconds: 1)
    }
}
