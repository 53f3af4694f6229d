import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `Hostile input` {
    /// Sessions of both kinds that are fed anything at all; they must neither trap nor stop working.
    private final class Target {
        let sessions: [RTPSession]
        var pool = PacketPool()
        var actions: [RTPSession.Action] = []
        var now = Instant.zero
        var outputs = 0

        init(seed: UInt64) {
            sessions = [RTPSession.Kind.audio, .video].map { kind in
                let session = RTPSession(configuration: SimulatedCall.configuration(kind, seed: seed))
                let formats =
                    kind == .audio
                    ? SimulatedCall.audioFormats
                        + [PayloadFormat(payloadType: 96, codec: .otherAudio("g722"), clockRate: 8000)]
                    : SimulatedCall.repeatedVideoFormats
                session.setReceivePayloads(formats)
                session.setSendPayloads(formats)
                return session
            }
            for session in sessions {
                session.setDirections(sends: true, receives: true, at: now, pool: &pool, actions: &actions)
            }
        }

        func feed(_ bytes: [UInt8]) {
            now = now + .milliseconds(7)
            let kind = bytes.packetKind
            for session in sessions {
                if kind == .rtcp {
                    session.receiveRTCP(bytes.span.bytes, at: now, pool: &pool, actions: &actions)
                } else if bytes.count <= PacketBuffer.capacity {
                    let packet = pool.take()
                    packet.assign(bytes)
                    session.receiveRTP(packet, at: now, pool: &pool, actions: &actions)
                }
                var turns = 0
                while let deadline = session.nextDeadline, deadline <= now, turns < 100 {
                    session.handle(timeoutAt: now, pool: &pool, actions: &actions)
                    turns += 1
                }
                #expect(turns < 100, "a deadline that has been handled does not come again at once")
                if case .packet(let packet) = session.nextAudio(at: now, pool: &pool).playout {
                    pool.give(packet.buffer)
                }
                _ = session.statistics(at: now)
            }
            outputs += actions.count
            for action in actions {
                switch action {
                case .sendRTP(let packet), .repeatRTP(let packet), .sendRTCP(let packet): pool.give(packet)
                default: break
                }
            }
            actions.removeAll(keepingCapacity: true)
        }
    }

    private static func mutate(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var result = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard !result.isEmpty else { return result }
            let index = Int.random(in: 0..<result.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: result[index] = UInt8(truncatingIfNeeded: random.next())
            case 1: result[index] ^= 1 << UInt8(random.next() % 8)
            case 2: result.removeLast(Int.random(in: 0...min(8, result.count), using: &random))
            case 3: result.insert(contentsOf: random.bytes(Int.random(in: 1...8, using: &random)), at: index)
            default: result[index] = [0, 0xFF, 0x7F, 0x80].randomElement(using: &random) ?? 0
            }
        }
        return Array(result.prefix(1500))
    }

    @Test func `inputs that fuzzers found are survived`() throws {
        let target = Target(seed: 1)
        for file in try Fixture.files(in: "fuzz-rtp") + Fixture.files(in: "fuzz-rtcp") {
            target.feed(file)
            _ = try? file.parsedHeader()
            _ = try? file.parsedReports()
            _ = try? file.extensionElements()
            _ = try? file.parsedDescriptor()
        }
        #expect(target.outputs > 0)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `changed packets are survived`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let target = Target(seed: seed)
        var seeds = try Fixture.files(in: "fuzz-rtcp") + `RTCP`.seeds
        seeds += try Capture.udpPayloads(Fixture.bytes("vp8/vp8.pcap")).prefix(40)
        seeds += try Fixture.files(in: "fuzz-rtp")
        for _ in 0..<3000 {
            guard let base = seeds.randomElement(using: &random) else { return }
            let bytes = Self.mutate(base, &random)
            target.feed(bytes)
            if let packets = try? bytes.parsedReports() {
                for packet in packets {
                    if case .other = packet { continue }
                    _ = packet.written
                }
            }
            _ = try? bytes.parsedDescriptor()
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `well-formed packets with wild numbers are survived`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let target = Target(seed: seed)
        var sequence = UInt16(truncatingIfNeeded: random.next())
        var timestamp = UInt32(truncatingIfNeeded: random.next())
        for _ in 0..<5000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: sequence = UInt16(truncatingIfNeeded: random.next())
            case 1: timestamp = UInt32(truncatingIfNeeded: random.next())
            case 2: sequence &+= 2500
            case 3: sequence &-= 40
            default: sequence &+= 1
            }
            if Bool.random(using: &random) { timestamp &+= 960 }
            let types: [UInt8] = [111, 0, 13, 101, 96, 96, 96, 97]
            let packet = PacketBuffer()
            RTPHeader(
                marker: Bool.random(using: &random), payloadType: types.randomElement(using: &random) ?? 0,
                sequenceNumber: SequenceNumber(sequence), timestamp: RTPTimestamp(timestamp), ssrc: SSRC(77)
            ).write(to: packet)
            packet.append(random.bytes(Int.random(in: 0...40, using: &random)).span.bytes)
            target.feed([UInt8](copying: packet.bytes))
        }
        #expect(target.sessions.allSatisfy { $0.remoteSSRC == SSRC(77) })
    }

    @Test func `a request for all packets there are is answered within bounds`() {
        let target = Target(seed: 9)
        let video = target.sessions[1]
        let frame = SimulatedCall.frame(0, isKeyFrame: true, size: 900_000)
        video.sendVideoFrame(
            frame.span.bytes, isKeyFrame: true, captureTime: .zero, at: .zero, pool: &target.pool,
            actions: &target.actions)
        target.actions = []
        let missing = (0..<65535).map { SequenceNumber(UInt16($0)) }
        for start in stride(from: 0, to: 65000, by: 5000) {
            let request = RTCPPacket.negativeAcknowledgement(
                NegativeAcknowledgement(
                    sender: SSRC(1), media: video.localSSRC, missing: Array(missing[start..<start + 5000])))
            let bytes = request.written
            video.receiveRTCP(bytes.span.bytes, at: .zero + .seconds(1), pool: &target.pool, actions: &target.actions)
        }
        let repeats = target.actions.count { if case .repeatRTP = $0 { true } else { false } }
        #expect(repeats <= 512)
    }
}

extension `RTCP` {
    static var seeds: [[UInt8]] { `RTCP`.examples.map(\.written) }
}
