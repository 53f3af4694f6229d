import OffhookBasics
import OffhookRTP
import Testing

/// A stream that is fed packets by hand and pulled each time its sound has run out.
private final class Player {
    let stream = AudioReceiveStream(delayRange: .milliseconds(20)...(.milliseconds(400)))
    var pool = PacketPool()
    var now = Instant.zero
    var pullAt = Instant.zero
    var log: [String] = []
    var played: [UInt32] = []

    static let opus = PayloadFormat(payloadType: 111, codec: .opus, clockRate: 48000)
    static let pcmu = PayloadFormat(payloadType: 0, codec: .pcmu, clockRate: 8000)

    func insert(_ number: Int, timestamp: UInt32, _ format: PayloadFormat, payload: [UInt8]) {
        let packet = pool.take()
        let header = RTPHeader(
            payloadType: format.payloadType, sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: number)),
            timestamp: RTPTimestamp(timestamp), ssrc: SSRC(1))
        header.write(to: packet)
        packet.append(payload.span.bytes)
        guard let parsed = try? RTPHeader(parsing: packet.bytes) else { return }
        stream.insert(packet, header: parsed, number: number, format: format, at: now, pool: &pool)
    }

    func opus(_ number: Int, timestamp: UInt32) {
        insert(number, timestamp: timestamp, Self.opus, payload: [0xF8] + [UInt8](repeating: 7, count: 40))
    }

    func pcmu(_ number: Int, timestamp: UInt32, milliseconds: Int = 20) {
        insert(number, timestamp: timestamp, Self.pcmu, payload: [UInt8](repeating: 7, count: 8 * milliseconds))
    }

    /// Plays until a time.
    func run(until end: Instant) {
        while pullAt <= end {
            now = max(now, pullAt)
            let next = stream.next(at: now, pool: &pool)
            switch next.playout {
            case .packet(let packet):
                log.append("packet")
                played.append(packet.timestamp.rawValue)
                pool.give(packet.buffer)
            case .forwardErrorCorrection(let packet):
                log.append("recover")
                pool.give(packet.buffer)
            case .conceal: log.append("conceal")
            case .silence: log.append("silence")
            }
            let factor = next.speed == .accelerate ? 0.8 : next.speed == .expand ? 1.2 : 1
            pullAt = pullAt + .nanoseconds(Int64(Double(next.playout.duration.inNanoseconds) * factor))
        }
        now = end
    }

    func step(_ milliseconds: Int) {
        run(until: now + .milliseconds(milliseconds))
    }

    var madeUp: Int { log.count { $0 == "conceal" || $0 == "recover" } }
}

@Suite struct `Audio receive stream` {
    @Test(arguments: [10, 20, 30, 40, 60])
    func `packets of any length play without a hole`(milliseconds: Int) {
        let player = Player()
        for index in 0..<100 {
            player.pcmu(index, timestamp: UInt32(index * milliseconds * 8), milliseconds: milliseconds)
            player.step(milliseconds)
        }
        #expect(player.played.count >= 97)
        #expect(player.played == player.played.sorted())
        #expect(player.madeUp <= 1, "\(player.log)")
    }

    @Test func `another codec with another clock goes on in the next packet`() {
        let player = Player()
        for index in 0..<50 {
            player.pcmu(index, timestamp: UInt32(1000 + index * 160))
            player.step(20)
        }
        for index in 50..<100 {
            player.opus(index, timestamp: UInt32(3_000_000_000 + (index - 50) * 960))
            player.step(20)
        }
        for index in 100..<150 {
            player.pcmu(index, timestamp: UInt32(77 + (index - 100) * 160))
            player.step(20)
        }
        #expect(player.played.count >= 145)
        #expect(player.madeUp <= 4, "\(player.madeUp)")
    }

    @Test(arguments: [10_000_000, 4_000_000_000, 700_000] as [UInt32])
    func `a jump of the timestamps is no gap`(jump: UInt32) {
        let player = Player()
        for index in 0..<100 {
            player.opus(index, timestamp: UInt32(index * 960) &+ (index >= 50 ? jump : 0))
            player.step(20)
        }
        #expect(player.played.count >= 95)
        #expect(player.madeUp <= 4)
    }

    @Test func `timestamps wrap`() {
        let player = Player()
        for index in 0..<100 {
            player.opus(index, timestamp: UInt32.max - 40000 &+ UInt32(index * 960))
            player.step(20)
        }
        #expect(player.played.count >= 98)
        #expect(player.madeUp == 0)
    }

    @Test func `comfort noise begins a pause that nothing is made up for`() {
        let player = Player()
        for index in 0..<50 {
            player.pcmu(index, timestamp: UInt32(index * 160))
            player.step(20)
        }
        player.stream.skip(number: 50, startsPause: true)
        player.step(1000)
        #expect(player.madeUp == 0)
        for index in 51..<100 {
            player.pcmu(index, timestamp: UInt32(100 * 160 + (index - 51) * 160))
            player.step(20)
        }
        #expect(player.madeUp == 0)
        #expect(player.played.count >= 97)
    }

    @Test func `Opus DTX is silence, not loss`() {
        let player = Player()
        for index in 0..<50 {
            player.opus(index, timestamp: UInt32(index * 960))
            player.step(20)
        }
        // One short packet each 400 ms.
        for index in 0..<5 {
            player.insert(50 + index, timestamp: UInt32(48000 + index * 19200), Player.opus, payload: [0xF8])
            player.step(400)
        }
        for index in 0..<50 {
            player.opus(55 + index, timestamp: UInt32(48000 + 5 * 19200 + index * 960))
            player.step(20)
        }
        #expect(player.madeUp == 0, "\(player.madeUp)")
        #expect(player.played.count >= 102)
    }

    @Test func `a lost packet is recovered from the one after it`() {
        let player = Player()
        for index in 0..<100 {
            if index % 10 != 5 { player.opus(index, timestamp: UInt32(index * 960)) }
            player.step(20)
        }
        #expect(player.log.count { $0 == "recover" } >= 7)
        #expect(player.log.count { $0 == "conceal" } <= 3)
        #expect(player.played.count >= 87)
    }

    @Test func `duplicates and late packets are counted and dropped`() {
        let player = Player()
        for index in 0..<50 {
            player.opus(index, timestamp: UInt32(index * 960))
            player.opus(index, timestamp: UInt32(index * 960))
            player.step(20)
        }
        player.opus(10, timestamp: 9600)
        #expect(player.stream.duplicatePackets + player.stream.latePackets == 51)
        #expect(Set(player.played).count == player.played.count)
    }

    @Test func `a burst after a stall does not stay as delay`() {
        let player = Player()
        for index in 0..<100 {
            player.opus(index, timestamp: UInt32(index * 960))
            player.step(20)
        }
        player.step(1500)
        for index in 100..<175 { player.opus(index, timestamp: UInt32(index * 960)) }
        for index in 175..<600 {
            player.opus(index, timestamp: UInt32(index * 960))
            player.step(20)
        }
        #expect(player.stream.delay < .milliseconds(620), "\(player.stream.delay)")
        for index in 600..<2500 {
            player.opus(index, timestamp: UInt32(index * 960))
            player.step(20)
        }
        #expect(player.stream.delay < .milliseconds(60), "\(player.stream.delay)")
    }

    @Test func `delay for the picture's sake is put on and taken off without a hole`() {
        let player = Player()
        for index in 0..<500 {
            if index == 100 { player.stream.extraDelay = .milliseconds(100) }
            player.opus(index, timestamp: UInt32(index * 960))
            player.step(20)
        }
        #expect(player.stream.delay > .milliseconds(90), "\(player.stream.delay)")
        #expect(player.madeUp == 0)
        player.stream.extraDelay = .zero
        for index in 500..<1000 {
            player.opus(index, timestamp: UInt32(index * 960))
            player.step(20)
        }
        #expect(player.stream.delay < .milliseconds(60), "\(player.stream.delay)")
        #expect(player.madeUp == 0)
    }

    @Test(arguments: [
        ("f8", 960), ("00", 480), ("08", 960), ("18", 2880), ("60", 480), ("68", 960), ("80", 120), ("fb03", 2880),
        ("f9", 1920),
    ])
    func `an Opus payload tells its length`(hexadecimal: String, units: Int) throws {
        let payload = try #require([UInt8](hexadecimal: hexadecimal)) + [0]
        let measured = PayloadDuration.units(of: payload.span.bytes, codec: .opus)
        #expect(measured == units)
    }
}
