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

    @Test func `a picture is not held back where nothing queues`() {
        let call = CongestedCall(seed: 9)
        call.run(seconds: 20)

        // Nothing is lost, so pictures come in their order. The way takes 25 ms.
        let delays = zip(call.encodingTimes, call.frameTimes).map { $1 - $0 }.dropFirst(60).sorted()
        #expect(delays.count > 500)
        #expect(delays[delays.count / 2] <= .milliseconds(25 + 7))
    }

    @Test(arguments: [3, 32, 33, 35, 36] as [UInt64])
    func `jitter is no congestion`(seed: UInt64) {
        let call = CongestedCall(seed: seed) { $0.jitter = .milliseconds(40) }
        call.run(seconds: 40)

        #expect(call.seconds[20..<40].allSatisfy { $0.target > 1_450_000 }, "seed \(seed)\n\(call.story)")
        #expect(call.frozen(5..<40).count == 0, "seed \(seed)\n\(call.story)")
    }

    /// With loss and without.
    @Test(arguments: [0, 0.2], [300, 800, 2000] as [Int64])
    func `an outage is over when it is over`(loss: Double, milliseconds: Int64) {
        let call = CongestedCall(seed: 1) { $0.loss = loss }
        call.run(seconds: 12)
        call.forward.loss = 1
        call.run(seconds: Double(milliseconds) / 1000)
        call.forward.loss = loss
        call.run(seconds: 10 - Double(milliseconds) / 1000)

        // No flood of repeats, nor a picture that starves for them.
        let end = 12 + Int((milliseconds + 999) / 1000)
        #expect(call.seconds[12..<22].allSatisfy { $0.carried < 2_500_000 }, "\(call.story)")
        #expect(call.seconds[end..<22].allSatisfy { $0.target > 400_000 }, "\(call.story)")
        #expect(call.frames(end + 1..<22) > 27.5, "\(call.story)")
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

    @Test(arguments: [7, 8, 17, 18] as [UInt64])
    func `the rate follows a link that narrows and widens`(seed: UInt64) {
        let call = CongestedCall(seed: seed)
        call.run(seconds: 15)
        call.forward.rate = 600_000
        call.forward.queue = .milliseconds(300)
        call.run(seconds: 20)
        call.forward.rate = nil
        call.run(seconds: 10)

        #expect(call.frozen(15..<45).count == 0, "seed \(seed)\n\(call.story)")
        #expect(call.longQueueing < .milliseconds(100), "seed \(seed)\n\(call.story)")
        #expect(call.carried(18..<35) > 510_000, "seed \(seed)\n\(call.story)")
        #expect(call.seconds[35..<41].contains { $0.target > 1_400_000 }, "seed \(seed)\n\(call.story)")
    }

    @Test(arguments: [10, 11, 12] as [UInt64], [60, 125, 250] as [Int64])
    func `a path that has become longer is no congestion`(seed: UInt64, more: Int64) {
        let call = CongestedCall(seed: seed)
        call.run(seconds: 15)
        call.forward.delay += .milliseconds(more)
        call.run(seconds: 10)

        #expect(call.seconds[18..<25].allSatisfy { $0.target > 1_200_000 }, "seed \(seed)\n\(call.story)")
    }

    @Test func `what others send through a narrow link is left to them`() {
        let call = CongestedCall(seed: 9) {
            $0.rate = 600_000
            $0.competing = 100_000
        }
        call.run(seconds: 30)

        #expect((400_000..<510_000).contains(call.carried(10..<30)), "\(call.story)")
        #expect(call.frozen(10..<30).count == 0, "\(call.story)")
    }

    @Test func `a rate falls while feedback is away and comes back with it`() {
        let call = CongestedCall(seed: 10)
        call.run(seconds: 10)
        call.isDeaf = true
        call.run(seconds: 6)
        let low = call.encoder.target.bitsPerSecond
        call.isDeaf = false
        call.run(seconds: 8)

        #expect(low < 400_000, "\(call.story)")
        #expect(call.encoder.target.bitsPerSecond > 1_300_000, "\(call.story)")
    }

    @Test(arguments: [0, 0.1] as [Double])
    func `a peer that only reports loss gets the whole rate of a wide link`(loss: Double) {
        var options = CongestedCall.Options()
        options.hasTransportFeedback = false
        let call = CongestedCall(seed: 11, options: options) { $0.loss = loss }
        call.run(seconds: 30)

        #expect(call.encoder.target.bitsPerSecond > 1_300_000, "\(call.story)")
        #expect(call.frames(15..<30) > 28, "\(call.story)")
    }

    @Test(arguments: [21, 22, 23] as [UInt64])
    func `a peer that only reports is sent what a narrow link carries`(seed: UInt64) {
        var options = CongestedCall.Options()
        options.hasTransportFeedback = false
        let call = CongestedCall(seed: seed, options: options) { $0.rate = 600_000 }
        call.run(seconds: 45)

        #expect(call.frames(15..<45) > 25, "seed \(seed)\n\(call.story)")
        #expect(call.frozen(15..<45).seconds < 2, "seed \(seed)\n\(call.story)")
        #expect(call.carried(15..<45) > 350_000, "seed \(seed)\n\(call.story)")
    }

    @Test(arguments: [24, 25] as [UInt64])
    func `a receiver tells one that knows nothing else what a narrow link carries`(seed: UInt64) {
        var options = CongestedCall.Options()
        options.hasTransportFeedback = false
        options.hasRateEstimates = true
        let call = CongestedCall(seed: seed, options: options) { $0.rate = 600_000 }
        call.run(seconds: 45)

        #expect(call.frames(15..<45) > 27, "seed \(seed)\n\(call.story)")
        #expect(call.frozen(15..<45).seconds < 1, "seed \(seed)\n\(call.story)")
        #expect(call.carried(15..<45) > 400_000, "seed \(seed)\n\(call.story)")
    }

    @Test func `a receiver does not slow down a sender on a wide link that loses`() {
        var options = CongestedCall.Options()
        options.hasTransportFeedback = false
        options.hasRateEstimates = true
        let call = CongestedCall(seed: 26, options: options) { $0.loss = 0.05 }
        call.run(seconds: 30)

        #expect(call.encoder.target.bitsPerSecond > 1_300_000, "\(call.story)")
    }

    @Test func `a limit of the far end holds until it tells another`() {
        let call = CongestedCall(seed: 12)
        call.run(seconds: 5)
        call.controller.setRemoteLimit(300_000, at: call.now)
        call.run(seconds: 5)
        #expect(call.seconds[7..<10].allSatisfy { $0.carried < 350_000 }, "\(call.story)")

        call.controller.setRemoteLimit(5_000_000, at: call.now)
        call.run(seconds: 6)
        #expect(call.encoder.target.bitsPerSecond > 1_300_000, "\(call.story)")
    }
}

@Suite struct `The ladder of sizes` {
    @Test func `goes down at once for a great fall and up after three good seconds`() {
        var ladder = BitrateLadder(bitsPerSecond: 1_000_000)
        #expect(ladder.step.maximumPixels == 1280 * 720)

        let rates = [(200_000, 0), (1_000_000, 1000), (1_000_000, 3000), (1_000_000, 4000)] as [(Int, Int64)]
        var pixels: [Int?] = []
        for (rate, milliseconds) in rates {
            _ = ladder.update(bitsPerSecond: rate, at: .zero + .milliseconds(milliseconds))
            pixels.append(ladder.step.maximumPixels)
        }
        #expect(pixels == [640 * 360, 640 * 360, 640 * 360, 1280 * 720])
    }

    @Test func `a rate about a step does not flap`() {
        var ladder = BitrateLadder(bitsPerSecond: 360_000)
        var changes = 0
        for index in 0..<200 {
            let rate = index % 2 == 0 ? 340_000 : 360_000
            if ladder.update(bitsPerSecond: rate, at: .zero + .milliseconds(100 * Int64(index))) { changes += 1 }
        }
        #expect(changes <= 1)
    }
}

@Suite struct `What sound may take` {
    @Test func `shrinks at once where little is left, and grows back after five seconds with room to spare`() {
        var share = AudioShare()
        var limits: [Int?] = []
        for (rate, seconds) in [
            (500_000, 0), (70_000, 1), (90_000, 2), (120_000, 3), (120_000, 7), (120_000, 9), (300_000, 10),
            (300_000, 16),
        ] as [(Int, Int64)] {
            _ = share.update(videoRate: rate, at: .zero + .seconds(seconds))
            limits.append(share.limit)
        }
        #expect(limits == [nil, 16_000, 16_000, 16_000, 16_000, 24_000, 24_000, nil])
    }
}

@Suite struct `Transport-wide feedback` {
    @Test func `each packet has one outcome, over wraps and through reports that are lost or say it twice`() {
        let log = TransportSendLog()
        var outcomes: [PacketOutcome] = []
        for index in 0..<70_000 {
            let now = Instant.zero + .milliseconds(5 * Int64(index))
            let number = log.record(size: 100, at: now)
            // Every tenth packet is lost, and every third report.
            guard index % 10 == 9, index % 30 != 29 else { continue }
            let base = SequenceNumber(number).advanced(by: -9)
            let milliseconds = 5 * (index - 9) + 25
            let arrivals: [TransportFeedback.Arrival] =
                [.received(delta: Int16(milliseconds % 64 * 4))] + Array(repeating: .received(delta: 20), count: 3)
                + [.lost] + [.received(delta: 40)] + Array(repeating: .received(delta: 20), count: 4)
            let feedback = TransportFeedback(
                sender: SSRC(1), media: SSRC(2), base: base, referenceTime: Int32(milliseconds / 64),
                feedbackCount: 0, arrivals: arrivals)
            log.take(feedback, outcomes: &outcomes)
            log.take(feedback, outcomes: &outcomes)
        }
        let reports = outcomes.count { $0.arrival != nil } / 9
        #expect(reports == 4_667)
        #expect(outcomes.count { $0.arrival != nil } == reports * 9)
        #expect((reports - 10...reports).contains(outcomes.count { $0.arrival == nil }))
        for outcome in outcomes {
            guard let arrival = outcome.arrival else { continue }
            #expect(arrival - outcome.sentAt.nanoseconds / 1000 == 25_000)
        }
    }

    @Test func `a packet that went out before keeps its bytes, so that no nonce protects two of them`() throws {
        let call = SimulatedCall(.video, seed: 3, path: Path())
        let session = call.left.session
        session.setHeaderExtensions(
            HeaderExtensionIdentifiers(transportSequenceNumber: 3), mediaIdentification: nil)
        var pool = PacketPool()
        var actions: [RTPSession.Action] = []
        let frame = SimulatedCall.frame(0, isKeyFrame: true, size: 500)
        session.sendVideoFrame(
            frame.span.bytes, isKeyFrame: true, captureTime: .zero, at: .zero, pool: &pool, actions: &actions)
        guard case .sendRTP(let packet)? = actions.first else {
            Issue.record("no packet")
            return
        }
        #expect(session.canStamp(packet))
        session.stamp(packet, transportSequence: 4711, at: .zero)
        let bytes = [UInt8](copying: packet.bytes)
        #expect(try bytes.extensionElements()[3] == [0x12, 0x67])

        actions = []
        let request = RTCPPacket.negativeAcknowledgement(
            NegativeAcknowledgement(
                sender: SSRC(1), media: session.localSSRC, missing: [try bytes.parsedHeader().sequenceNumber]))
        session.receiveRTCP(request.written.span.bytes, at: .zero + .seconds(1), pool: &pool, actions: &actions)
        guard case .repeatRTP(let again)? = actions.first else {
            Issue.record("no repeat")
            return
        }
        #expect(!session.canStamp(again))
        #expect([UInt8](copying: again.bytes) == bytes)
    }
}
