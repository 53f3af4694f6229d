import OffhookBasics
import OffhookRTP
import Testing

/// A session with its pool and all that it asked for.
private final class Bench {
    let session: RTPSession
    var pool = PacketPool()
    var actions: [RTPSession.Action] = []
    var now = Instant.zero

    init(_ kind: RTPSession.Kind, configure: (inout RTPSession.Configuration) -> Void = { _ in }) {
        var configuration = SimulatedCall.configuration(kind, seed: 7)
        configure(&configuration)
        session = RTPSession(configuration: configuration)
        let formats = kind == .audio ? SimulatedCall.audioFormats : SimulatedCall.videoFormats
        session.setReceivePayloads(formats)
        session.setSendPayloads(formats)
        session.setDirections(sends: true, receives: true, at: now, pool: &pool, actions: &actions)
    }

    func receive(_ payload: [UInt8], type: UInt8, marker: Bool = false, sequence: Int, timestamp: Int, ssrc: UInt32) {
        let packet = pool.take()
        RTPHeader(
            marker: marker, payloadType: type, sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: sequence)),
            timestamp: RTPTimestamp(UInt32(truncatingIfNeeded: timestamp)), ssrc: SSRC(ssrc)
        ).write(to: packet)
        packet.append(payload.span.bytes)
        session.receiveRTP(packet, at: now, pool: &pool, actions: &actions)
    }

    func receive(_ reports: [RTCPPacket]) {
        let packet = PacketBuffer()
        for report in reports { report.write(to: packet) }
        session.receiveRTCP(packet.bytes, at: now, pool: &pool, actions: &actions)
    }

    func send(_ payload: [UInt8], type: UInt8, units: Int) {
        session.sendAudio(
            payload.span.bytes, payloadType: type, units: units, at: now, pool: &pool, actions: &actions)
    }

    func sendFrame(_ frame: [UInt8], isKeyFrame: Bool) {
        session.sendVideoFrame(
            frame.span.bytes, isKeyFrame: isKeyFrame, captureTime: now, at: now, pool: &pool, actions: &actions)
    }

    /// Runs the session's own deadlines up to a time.
    func run(until end: Instant) {
        while let deadline = session.nextDeadline, deadline <= end {
            now = max(now, deadline)
            session.handle(timeoutAt: now, pool: &pool, actions: &actions)
        }
        now = end
    }

    var sentPackets: [[UInt8]] {
        actions.compactMap {
            switch $0 {
            case .sendRTP(let packet), .repeatRTP(let packet): [UInt8](copying: packet.bytes)
            default: nil
            }
        }
    }

    var sentReports: [[RTCPPacket]] {
        actions.compactMap {
            guard case .sendRTCP(let packet) = $0 else { return nil }
            return try? [UInt8](copying: packet.bytes).parsedReports()
        }
    }

    var digits: String {
        String(
            actions.compactMap { action -> Character? in
                if case .digit(let event) = action { event.key } else { nil }
            })
    }

    func count(_ isWanted: (RTPSession.Action) -> Bool) -> Int {
        actions.count(where: isWanted)
    }

    /// Pulls one stretch of sound; true where it was a packet.
    func pullsPacket() -> Bool {
        let next = session.nextAudio(at: now, pool: &pool)
        guard case .packet(let packet) = next.playout else { return false }
        pool.give(packet.buffer)
        return true
    }
}

@Suite struct `RTP session` {
    // MARK: Sources

    @Test func `a new source that keeps coming is taken within a few packets, a stray is not`() throws {
        let report = try Fixture.object("reports/R129.json")
        let runs = try #require(report["runs"] as? [[String: Any]])
        var packets: [(at: Int, sequence: Int, timestamp: Int, ssrc: UInt32)] = []
        for run in runs {
            let ssrc = try #require((run["ssrc"] as? String).flatMap { UInt32($0.dropFirst(2), radix: 16) })
            let number = { (key: String) in run[key] as? Int ?? 0 }
            for index in 0..<number("n") {
                packets.append(
                    (
                        number("t0_ms") + index * number("every_ms"), number("seq0") + index * number("dseq"),
                        number("ts0") + index * number("dts"), ssrc
                    ))
            }
        }
        packets.sort { $0.at < $1.at }
        let bench = Bench(.audio)
        var played = 0
        for packet in packets {
            bench.now = .zero + .milliseconds(packet.at)
            bench.receive(
                [UInt8](repeating: 0xD5, count: 160), type: 0, sequence: packet.sequence, timestamp: packet.timestamp,
                ssrc: packet.ssrc)
            if packet.ssrc != 0x1111_1111, bench.pullsPacket() { played += 1 }
        }

        #expect(played > packets.count - 12)
        #expect(bench.session.remoteSSRC == SSRC(0x7FD4_E5F6))
        #expect(bench.count { if case .remoteSourceChanged = $0 { true } else { false } } == 2)
    }

    @Test func `two senders at once do not make us flap`() {
        let bench = Bench(.audio)
        for index in 0..<200 {
            bench.now = .zero + .milliseconds(20 * index)
            bench.receive([UInt8](repeating: 1, count: 160), type: 0, sequence: index, timestamp: 160 * index, ssrc: 1)
            if index > 20 {
                bench.receive(
                    [UInt8](repeating: 1, count: 160), type: 0, sequence: index, timestamp: 160 * index, ssrc: 2)
            }
        }
        #expect(bench.session.remoteSSRC == SSRC(2))
        #expect(bench.count { if case .remoteSourceChanged = $0 { true } else { false } } == 2)
    }

    @Test func `numbers that start anew are taken after two packets`() {
        let bench = Bench(.audio)
        var played = 0
        for index in 0..<100 {
            bench.now = .zero + .milliseconds(20 * index)
            let sequence = index < 50 ? 40000 + index : 100 + index
            bench.receive(
                [UInt8](repeating: 1, count: 160), type: 0, sequence: sequence, timestamp: 160 * index, ssrc: 1)
            if bench.pullsPacket() { played += 1 }
        }
        #expect(played > 90)
    }

    @Test func `another participant with our SSRC makes us take a new one`() {
        let bench = Bench(.audio)
        let before = bench.session.localSSRC
        bench.send([1, 2, 3], type: 0, units: 160)
        bench.receive([1, 2, 3], type: 0, sequence: 30000, timestamp: 5_000_000, ssrc: before.rawValue)

        #expect(bench.session.localSSRC != before)
        #expect(bench.count { if case .localSourceChanged = $0 { true } else { false } } == 1)
        #expect(bench.sentReports.last?.contains(.goodbye(Goodbye(sources: [before]))) == true)
    }

    @Test(arguments: [true, false])
    func `our own packets that come back are a loop, not a collision`(plays: Bool) throws {
        let bench = Bench(.audio) { $0.playsLoopedMedia = plays }
        let before = bench.session.localSSRC
        for index in 0..<50 {
            bench.now = .zero + .milliseconds(20 * index)
            bench.send([UInt8](repeating: 1, count: 160), type: 0, units: 160)
            let bytes = try #require(bench.sentPackets.last)
            let packet = bench.pool.take()
            packet.assign(bytes)
            bench.session.receiveRTP(packet, at: bench.now, pool: &bench.pool, actions: &bench.actions)
        }
        #expect(bench.session.localSSRC == before)
        #expect(bench.count { if case .loopDetected = $0 { true } else { false } } == 1)
        #expect(bench.session.statistics(at: bench.now).received.packets == (plays ? 50 : 0))
    }

    // MARK: Timestamps and directions

    @Test func `timestamps step by the RTP clock, whatever is encoded`() throws {
        for row in try Fixture.cases("reports/R132.json") {
            let isOpus = row["codec"] as? String == "opus"
            let milliseconds = try #require(row["frame_ms"] as? Int)
            let rate = isOpus ? 48 : 8
            let bench = Bench(.audio)
            for index in 0..<5 {
                bench.now = .zero + .milliseconds(milliseconds * index)
                bench.send([0xF8, 1, 2], type: isOpus ? 111 : 0, units: rate * milliseconds)
            }
            let headers = try bench.sentPackets.map { try $0.parsedHeader() }
            let steps = zip(headers, headers.dropFirst()).map { $1.timestamp - $0.timestamp }
            #expect(steps == Array(repeating: try #require(row["expect_dts"] as? Int), count: 4))
        }
    }

    @Test func `hold keeps reports going, and numbers go on after it`() throws {
        let bench = Bench(.audio)
        bench.send([1], type: 0, units: 160)
        let first = try #require(bench.sentPackets.last).parsedHeader()
        bench.session.setDirections(
            sends: false, receives: false, at: bench.now, pool: &bench.pool, actions: &bench.actions)
        bench.actions = []
        for second in 1...30 {
            bench.run(until: .zero + .seconds(second))
            bench.send([1], type: 0, units: 160)
        }
        #expect(bench.sentPackets.isEmpty)
        #expect(bench.sentReports.count >= 3)

        bench.session.setDirections(
            sends: true, receives: true, at: bench.now, pool: &bench.pool, actions: &bench.actions)
        bench.send([1], type: 0, units: 160)
        let next = try #require(bench.sentPackets.last).parsedHeader()
        #expect(next.ssrc == first.ssrc)
        #expect(next.sequenceNumber - first.sequenceNumber == 1)
        #expect(next.marker)
        #expect(abs(next.timestamp - first.timestamp - 8000 * 30) < 800)
    }

    @Test func `silence is told once, and so is its end`() {
        let bench = Bench(.audio)
        bench.receive([1], type: 0, sequence: 1, timestamp: 1, ssrc: 1)
        bench.run(until: .zero + .seconds(25))
        bench.receive([1], type: 0, sequence: 2, timestamp: 161, ssrc: 1)
        bench.receive([1], type: 0, sequence: 3, timestamp: 321, ssrc: 1)

        #expect(bench.count { if case .receivingStopped = $0 { true } else { false } } == 1)
        #expect(bench.count { if case .receivingResumed = $0 { true } else { false } } == 1)
    }

    @Test func `the end says goodbye and nothing after it`() {
        let bench = Bench(.audio)
        bench.session.end(at: bench.now, pool: &bench.pool, actions: &bench.actions)
        #expect(bench.sentReports.last?.last == .goodbye(Goodbye(sources: [bench.session.localSSRC])))
        let count = bench.actions.count
        bench.send([1], type: 0, units: 160)
        bench.run(until: .zero + .seconds(60))
        #expect(bench.actions.count == count)
        #expect(bench.session.nextDeadline == nil)
    }

    /// RFC 8285 §5: `a=extmap:3/recvonly` is of the one direction.
    @Test func `an extension that goes one way is written only by who sends it`() throws {
        let bench = Bench(.video)
        bench.session.setHeaderExtensions(
            sent: HeaderExtensionIdentifiers(), received: HeaderExtensionIdentifiers(absoluteSendTime: 2),
            mediaIdentification: nil)
        bench.sendFrame([1, 2, 3], isKeyFrame: true)
        #expect(try #require(bench.sentPackets.first).extensionElements().isEmpty)
        bench.session.setHeaderExtensions(
            sent: HeaderExtensionIdentifiers(absoluteSendTime: 2), received: HeaderExtensionIdentifiers(),
            mediaIdentification: nil)
        bench.sendFrame([1, 2, 3], isKeyFrame: true)
        #expect(try #require(bench.sentPackets.last).extensionElements().keys.sorted() == [2])
    }

    @Test func `header extensions are written as agreed`() throws {
        let bench = Bench(.video)
        bench.session.setHeaderExtensions(
            HeaderExtensionIdentifiers(mediaIdentification: 4, absoluteSendTime: 2, transportSequenceNumber: 3),
            mediaIdentification: "v0")
        bench.session.transportSequenceNumber = 0xFFFF
        bench.sendFrame([UInt8](repeating: 1, count: 3000), isKeyFrame: true)
        let elements = try bench.sentPackets.map { try $0.extensionElements() }

        #expect(elements.count == 3)
        #expect(elements.allSatisfy { $0[4] == Array("v0".utf8) && $0[2]?.count == 3 })
        #expect(elements.map { $0[3] } == [[0xFF, 0xFF], [0, 0], [0, 1]])
    }

    // MARK: Key frames, limits, repeats

    @Test func `a burst of requests is one demand, and each later one another`() {
        let bench = Bench(.video)
        let demands = { bench.count { if case .keyFrameRequested = $0 { true } else { false } } }
        let request = RTCPPacket.pictureLossIndication(
            PictureLossIndication(sender: SSRC(5), media: bench.session.localSSRC))
        bench.sendFrame(SimulatedCall.frame(0, isKeyFrame: true, size: 100), isKeyFrame: true)
        bench.now = .zero + .seconds(1)
        for _ in 0..<5 { bench.receive([request]) }
        #expect(demands() == 1)

        bench.sendFrame(SimulatedCall.frame(1, isKeyFrame: true, size: 100), isKeyFrame: true)
        bench.receive([request])
        #expect(demands() == 1, "what was asked for before the key frame is answered by it")
        for _ in 0..<60 {
            bench.now = bench.now + .milliseconds(33)
            bench.sendFrame(SimulatedCall.frame(2, isKeyFrame: false, size: 100), isKeyFrame: false)
        }
        #expect(demands() == 1)
        bench.receive([request])
        #expect(demands() == 2)
    }

    @Test func `a repeated FIR counts once`() {
        let bench = Bench(.video)
        let request = { (number: UInt8) in
            RTCPPacket.fullIntraRequest(
                FullIntraRequest(
                    sender: SSRC(5), entries: [.init(media: bench.session.localSSRC, sequenceNumber: number)]))
        }
        bench.receive([request(3)])
        bench.sendFrame(SimulatedCall.frame(0, isKeyFrame: true, size: 100), isKeyFrame: true)
        bench.now = .zero + .seconds(3)
        bench.receive([request(3)])
        bench.receive([request(4)])

        #expect(bench.count { if case .keyFrameRequested = $0 { true } else { false } } == 2)
    }

    @Test func `rate limits are told on change and confirmed`() {
        let bench = Bench(.video)
        let source = bench.session.localSSRC
        let limit = { (rate: Int) in
            RTCPPacket.receiverEstimatedMaximumBitrate(
                ReceiverEstimatedMaximumBitrate(sender: SSRC(5), bitsPerSecond: rate, sources: [source]))
        }
        bench.receive([limit(300_000)])
        bench.receive([limit(300_000)])
        bench.receive([
            .temporaryMaximumBitrateRequest(
                TemporaryMaximumBitrate(
                    sender: SSRC(5), entries: [.init(media: source, bitsPerSecond: 100_000, overhead: 40)]))
        ])
        let limits = bench.actions.compactMap { if case .bitrateLimit(let rate) = $0 { rate } else { nil } }

        #expect(limits == [300_000, 100_000])
        #expect(
            bench.sentReports.last?.contains {
                if case .temporaryMaximumBitrateNotification(let content) = $0 {
                    content.entries[0].bitsPerSecond == 100_000
                } else {
                    false
                }
            } == true)
    }

    @Test func `a packet asked for twice in a moment is repeated once`() throws {
        let bench = Bench(.video)
        bench.sendFrame([UInt8](repeating: 9, count: 3000), isKeyFrame: true)
        let original = bench.sentPackets
        let number = try original[1].parsedHeader().sequenceNumber
        let request = RTCPPacket.negativeAcknowledgement(
            NegativeAcknowledgement(
                sender: SSRC(5), media: bench.session.localSSRC, missing: [number, SequenceNumber(1)]))
        bench.now = .zero + .milliseconds(50)
        bench.actions = []
        bench.receive([request])
        bench.receive([request])

        #expect(bench.sentPackets == [original[1]])
    }

    @Test func `what an RFC 3611 reference time asks is answered`() {
        let bench = Bench(.audio)
        bench.receive([
            .extendedReport(
                ExtendedReport(ssrc: SSRC(9), receiverReferenceTime: NTPTimestamp(rawValue: 0x1234_5678_9ABC_DEF0)))
        ])
        bench.run(until: .zero + .seconds(8))
        let answers = bench.sentReports.flatMap { $0 }.compactMap { packet -> ExtendedReport.LastReport? in
            if case .extendedReport(let report) = packet { report.lastReports.first } else { nil }
        }
        #expect(answers.first?.ssrc == SSRC(9))
        #expect(answers.first?.lastReceiverReport == 0x5678_9ABC)
        #expect((answers.first?.delaySinceLastReceiverReport ?? 0) > 65536)
    }

    @Test func `every compound packet begins with a report and names us`() {
        let bench = Bench(.video)
        bench.sendFrame([UInt8](repeating: 9, count: 300), isKeyFrame: true)
        bench.run(until: .zero + .seconds(20))

        #expect((10...40).contains(bench.sentReports.count))
        for report in bench.sentReports {
            guard report.count >= 2, case .sourceDescription(let description) = report[1] else {
                Issue.record("no name in \(report)")
                continue
            }
            #expect(description.chunks.first?.ssrc == bench.session.localSSRC)
        }
        guard case .senderReport(let report) = bench.sentReports.first?.first else {
            Issue.record("a sender sends sender reports")
            return
        }
        #expect(report.packetCount == 1)
        guard case .receiverReport = bench.sentReports.last?.first else {
            Issue.record("who sends no more is no sender")
            return
        }
    }

    @Test func `sender reports tell when sound was taken, not when it was sent`() throws {
        let bench = Bench(.audio)
        let payload: [UInt8] = [1, 2, 3]
        for number in 0..<400 {
            let due = Instant.zero + .milliseconds(number * 20)
            bench.run(until: due)
            // Taken 80 ms before, give or take 5.
            let captureTime = due - .milliseconds(80) + .milliseconds([-5, 0, 5][number % 3])
            bench.session.sendAudio(
                payload.span.bytes, payloadType: 0, units: 160, captureTime: captureTime, at: due,
                pool: &bench.pool, actions: &bench.actions)
        }

        let packet = try #require(bench.sentPackets.first)
        let first = try RTPHeader(parsing: packet.span.bytes).timestamp
        let reports = bench.sentReports.compactMap { packets -> SenderReport? in
            if case .senderReport(let report) = packets.first { report } else { nil }
        }
        let last = try #require(reports.last)
        let wall = last.time - NTPTimestamp(unixNanoseconds: 1_800_000_000_000_000_000)
        let media = Duration.milliseconds((last.timestamp - first) / 8)
        #expect(abs((wall - media).inMilliseconds + 80) < 3)
    }

    // MARK: Digits

    @Test func `one digit is one source, timestamp and event`() throws {
        for row in try Fixture.cases("reports/R135.json") {
            let bench = Bench(.audio)
            for packet in try #require(row["packets"] as? [[String: Any]]) {
                if let wait = packet["wait_ms"] as? Int {
                    bench.now = bench.now + .milliseconds(wait)
                    continue
                }
                let payload = try #require((packet["hex"] as? String).flatMap { [UInt8](hexadecimal: $0) })
                bench.receive(
                    payload, type: 101, marker: packet["m"] as? Int == 1, sequence: packet["seq"] as? Int ?? 0,
                    timestamp: packet["ts"] as? Int ?? 0, ssrc: 1)
            }
            let expected = try #require(row["digits"] as? String).prefix { $0 != " " }
            #expect(bench.digits == expected, "\(row["name"] ?? "")")
        }
    }

    @Test func `digits go out one after another and are heard once each`() throws {
        var call = SimulatedCall(.audio, seed: 3, path: Path(loss: 0.1))
        call.streamAudio(seconds: 0.5)
        for key in "15#" {
            let event = try #require(TelephoneEvent(key: key))
            call.perform(call.left) { _ = $0.sendDigit(event, at: $1, pool: &$2, actions: &$3) }
        }
        call.streamAudio(seconds: 2)

        #expect(String(call.right.digits.compactMap(\.key)) == "15#")
        #expect(call.left.events.count { $0 == "digitSent" } == 3)
        let events = try call.left.wire.map { ($0, try $0.bytes.parsedHeader()) }.filter { $0.1.payloadType == 110 }
        let presses = Dictionary(grouping: events) { $0.1.timestamp }
        #expect(presses.count == 3)
        for press in presses.values {
            let payloads = press.map { Array($0.0.bytes[$0.1.payloadRange]) }
            let durations = payloads.map { Int($0[2]) << 8 | Int($0[3]) }
            #expect(press.map(\.1.marker) == [true] + Array(repeating: false, count: press.count - 1))
            #expect(durations == durations.sorted())
            #expect(payloads.suffix(3).allSatisfy { $0[1] & 0x80 != 0 } && Set(payloads.suffix(3)).count == 1)
            #expect(payloads.dropLast(3).allSatisfy { $0[1] & 0x80 == 0 })
            #expect(durations.last == 48 * 160)
            #expect(payloads[0][1] & 0x3F == 10)
        }
        let headers = try call.left.wire.map { try $0.bytes.parsedHeader() }
        #expect(zip(headers, headers.dropFirst()).allSatisfy { $1.sequenceNumber - $0.sequenceNumber == 1 })
    }

    @Test func `digits between sounds are no loss of sound`() {
        var call = SimulatedCall(.audio, seed: 4, path: Path())
        call.playsAudio = true
        call.streamAudio(seconds: 1)
        call.perform(call.left) { _ = $0.sendDigit(TelephoneEvent(code: 5), at: $1, pool: &$2, actions: &$3) }
        call.streamAudio(seconds: 1)

        #expect(call.right.session.statistics(at: call.now).received.packetsLost == 0)
        #expect(call.right.playouts.count { $0.playout == "conceal" } <= 8)
    }
}
