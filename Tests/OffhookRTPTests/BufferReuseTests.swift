import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `Buffers and layers` {
    /// Held for good, so that a buffer that was let go instead of given back cannot hide behind the same address.
    private final class Census {
        var buffers: [ObjectIdentifier: PacketBuffer] = [:]

        func note(_ buffer: PacketBuffer) {
            buffers[ObjectIdentifier(buffer)] = buffer
        }
    }

    @Test(arguments: RTPSession.Kind.allKinds)
    func `packets in steady state take no new buffers`(kind: RTPSession.Kind) {
        let sender = RTPSession(configuration: SimulatedCall.configuration(kind, seed: 1))
        let receiver = RTPSession(configuration: SimulatedCall.configuration(kind, seed: 2))
        let formats = kind == .audio ? SimulatedCall.audioFormats : SimulatedCall.videoFormats
        var pool = PacketPool()
        var actions: [RTPSession.Action] = []
        for session in [sender, receiver] {
            session.setSendPayloads(formats)
            session.setReceivePayloads(formats)
            session.setDirections(sends: true, receives: true, at: .zero, pool: &pool, actions: &actions)
        }
        let census = Census()
        var random = SeededRandom(seed: 3)
        var counts: [Int] = []
        for turn in 0..<1500 {
            let now = Instant.zero + .milliseconds(20 * turn)
            if kind == .audio {
                let payload = [UInt8](repeating: 0xF8, count: 40)
                sender.sendAudio(
                    payload.span.bytes, payloadType: 111, units: 960, at: now, pool: &pool, actions: &actions)
            } else {
                let frame = SimulatedCall.frame(turn, isKeyFrame: turn % 50 == 0, size: 3000)
                sender.sendVideoFrame(
                    frame.span.bytes, isKeyFrame: turn % 50 == 0, captureTime: now, at: now, pool: &pool,
                    actions: &actions)
            }
            for session in [sender, receiver] { session.handle(timeoutAt: now, pool: &pool, actions: &actions) }
            var work = actions
            actions = []
            while let action = work.popLast() {
                switch action {
                case .sendRTP(let packet), .repeatRTP(let packet):
                    census.note(packet)
                    if random.next() % 10 == 0 {
                        pool.give(packet)
                    } else {
                        receiver.receiveRTP(packet, at: now, pool: &pool, actions: &actions)
                    }
                case .sendRTCP(let packet): pool.give(packet)
                default: break
                }
            }
            switch receiver.nextAudio(at: now, pool: &pool).playout {
            case .packet(let packet), .forwardErrorCorrection(let packet):
                census.note(packet.buffer)
                pool.give(packet.buffer)
            case .conceal, .silence: break
            }
            counts.append(census.buffers.count)
        }
        #expect(counts[1499] <= counts[500] + 8, "\(counts[500]) buffers, then \(counts[1499])")
        #expect(counts[1499] < 700)
    }

    /// Three frames of the pattern 0, 2, 1, 2: which of them may go on after losses.
    @Test func `a lost frame of an upper layer costs no key frame`() throws {
        let sender = RTPSession(configuration: SimulatedCall.configuration(.video, seed: 1))
        let receiver = RTPSession(
            configuration: {
                var configuration = SimulatedCall.configuration(.video, seed: 2)
                configuration.sendsNegativeAcknowledgements = false
                return configuration
            }())
        var pool = PacketPool()
        var actions: [RTPSession.Action] = []
        sender.setSendPayloads(SimulatedCall.videoFormats)
        receiver.setReceivePayloads(SimulatedCall.videoFormats)
        sender.setDirections(sends: true, receives: false, at: .zero, pool: &pool, actions: &actions)
        receiver.setDirections(sends: false, receives: true, at: .zero, pool: &pool, actions: &actions)
        let lost = [9, 13]  // Both of layer 2.
        var given: [Int] = []
        for number in 0..<40 {
            let now = Instant.zero + .milliseconds(33 * number)
            let layer = VP8TemporalLayer(
                index: [0, 2, 1, 2][number % 4], isLayerSync: number % 4 == 2 || number % 4 == 1,
                baseLayerPictureIndex: UInt8(number / 4))
            let frame = SimulatedCall.frame(number, isKeyFrame: number == 0, size: 500)
            sender.sendVideoFrame(
                frame.span.bytes, isKeyFrame: number == 0, captureTime: now, temporalLayer: layer, at: now, pool: &pool,
                actions: &actions)
            let sent = actions
            actions = []
            for case .sendRTP(let packet) in sent where !lost.contains(number) {
                receiver.receiveRTP(packet, at: now, pool: &pool, actions: &actions)
            }
            receiver.handle(timeoutAt: now, pool: &pool, actions: &actions)
            for case .videoFrame(let received) in actions {
                given.append(SimulatedCall.number(of: [UInt8](copying: received.buffer.bytes)))
            }
            actions = []
        }
        #expect(given.last == 39)
        #expect(given.count >= 40 - lost.count - 4, "\(given)")
        #expect(receiver.statistics(at: .zero + .seconds(2)).received.keyFrames == 1)
    }
}

extension RTPSession.Kind {
    static let allKinds: [RTPSession.Kind] = [.audio, .video]
}
