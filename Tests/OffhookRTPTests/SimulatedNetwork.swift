import OffhookBasics
import OffhookRTP

/// What a path does to packets.
struct Path {
    var delay = Duration.milliseconds(25)
    /// Added to the delay, evenly spread, so packets also overtake each other.
    var jitter = Duration.zero
    var loss = 0.0
    var duplication = 0.0
    /// Drops the packet with this number, counted over the path's life.
    var lostPacket: Int?
}

/// One end of a simulated call: a session, what comes out of it, and a player that pulls its sound.
final class SimulatedEnd {
    let session: RTPSession
    var pool = PacketPool()
    var path: Path
    var random: SeededRandom
    var sentCount = 0
    var frames: [(frame: ReceivedVideoFrame, bytes: [UInt8], at: Instant)] = []
    var keyFrameRequests: [Instant] = []
    var digits: [TelephoneEvent] = []
    var limits: [Int] = []
    var events: [String] = []
    var playouts: [(playout: String, at: Instant)] = []
    /// Each sent packet, for tests that look at the wire.
    var wire: [(bytes: [UInt8], at: Instant)] = []
    var reports: [(packets: [RTCPPacket], at: Instant)] = []

    init(_ configuration: RTPSession.Configuration, path: Path, seed: UInt64) {
        session = RTPSession(configuration: configuration)
        self.path = path
        random = SeededRandom(seed: seed)
    }
}

/// Two sessions with a seeded network between them, in time of their own.
struct SimulatedCall {
    private struct Datagram {
        let at: Instant
        let order: Int
        let toRight: Bool
        let isReport: Bool
        let bytes: [UInt8]
    }

    let left: SimulatedEnd
    let right: SimulatedEnd
    private(set) var now = Instant.zero
    private var network: [Datagram] = []
    private var order = 0
    /// Plays on both sides, each when its sound has run out.
    private var pullAt: [Instant] = [.zero, .zero]
    var playsAudio = false
    private var frameNumber = 0
    private var answeredRequests = 0

    static func configuration(_ kind: RTPSession.Kind, seed: UInt64) -> RTPSession.Configuration {
        RTPSession.Configuration(
            kind: kind, canonicalName: "end-\(seed)", seed: seed,
            clock: NTPClock(NTPTimestamp(unixNanoseconds: 1_800_000_000_000_000_000), at: .zero))
    }

    static let audioFormats = [
        PayloadFormat(payloadType: 111, codec: .opus, clockRate: 48000),
        PayloadFormat(payloadType: 0, codec: .pcmu, clockRate: 8000),
        PayloadFormat(payloadType: 13, codec: .comfortNoise, clockRate: 8000),
        PayloadFormat(payloadType: 110, codec: .telephoneEvent, clockRate: 48000),
        PayloadFormat(payloadType: 101, codec: .telephoneEvent, clockRate: 8000),
    ]

    static let videoFormats = [PayloadFormat(payloadType: 96, codec: .vp8, clockRate: 90000)]
    static let repeatedVideoFormats =
        videoFormats + [PayloadFormat(payloadType: 97, codec: .retransmission(of: 96), clockRate: 90000)]

    init(
        _ kind: RTPSession.Kind, seed: UInt64, path: Path, formats: [PayloadFormat]? = nil,
        configure: (inout RTPSession.Configuration) -> Void = { _ in }
    ) {
        var first = Self.configuration(kind, seed: seed &* 2 &+ 1)
        var second = Self.configuration(kind, seed: seed &* 2 &+ 2)
        configure(&first)
        configure(&second)
        left = SimulatedEnd(first, path: path, seed: seed ^ 0x1111)
        right = SimulatedEnd(second, path: path, seed: seed ^ 0x2222)
        for end in [left, right] {
            let chosen = formats ?? (kind == .audio ? Self.audioFormats : Self.videoFormats)
            end.session.setReceivePayloads(chosen)
            end.session.setSendPayloads(chosen)
            perform(end) { $0.setDirections(sends: true, receives: true, at: $1, pool: &$2, actions: &$3) }
        }
    }

    mutating func perform(
        _ end: SimulatedEnd,
        _ body: (RTPSession, Instant, inout PacketPool, inout [RTPSession.Action]) -> Void
    ) {
        var actions: [RTPSession.Action] = []
        body(end.session, now, &end.pool, &actions)
        for action in actions { carry(action, from: end) }
    }

    private mutating func carry(_ action: RTPSession.Action, from end: SimulatedEnd) {
        switch action {
        case .sendRTP(let packet), .repeatRTP(let packet):
            end.wire.append(([UInt8](copying: packet.bytes), now))
            send(packet, isReport: false, from: end)
        case .sendRTCP(let packet):
            if let packets = try? [UInt8](copying: packet.bytes).parsedReports() { end.reports.append((packets, now)) }
            send(packet, isReport: true, from: end)
        case .videoFrame(let frame): end.frames.append((frame, [UInt8](copying: frame.buffer.bytes), now))
        case .keyFrameRequested: end.keyFrameRequests.append(now)
        case .digit(let event): end.digits.append(event)
        case .digitSent: end.events.append("digitSent")
        case .bitrateLimit(let limit): end.limits.append(limit)
        case .receivingStopped: end.events.append("receivingStopped")
        case .receivingResumed: end.events.append("receivingResumed")
        case .remoteSourceChanged: end.events.append("remoteSourceChanged")
        case .remoteGoodbye: end.events.append("remoteGoodbye")
        case .localSourceChanged: end.events.append("localSourceChanged")
        case .loopDetected: end.events.append("loopDetected")
        case .transportFeedback: end.events.append("transportFeedback")
        case .lossReported: end.events.append("lossReported")
        }
    }

    private mutating func send(_ packet: PacketBuffer, isReport: Bool, from end: SimulatedEnd) {
        defer { end.pool.give(packet) }
        let number = end.sentCount
        end.sentCount += 1
        let isLost = Double.random(in: 0..<1, using: &end.random) < end.path.loss
        let copies = Double.random(in: 0..<1, using: &end.random) < end.path.duplication ? 2 : 1
        if isLost || end.path.lostPacket == number { return }
        for _ in 0..<copies {
            let extra = end.path.jitter.inNanoseconds
            let delay = end.path.delay + .nanoseconds(extra > 0 ? Int64.random(in: 0..<extra, using: &end.random) : 0)
            order += 1
            network.append(
                Datagram(
                    at: now + delay, order: order, toRight: end === left, isReport: isReport,
                    bytes: [UInt8](copying: packet.bytes)))
        }
    }

    /// Lets everything happen up to a time.
    mutating func run(until end: Instant) {
        while true {
            var next = end
            if let first = network.map(\.at).min() { next = min(next, first) }
            for side in [left, right] {
                if let deadline = side.session.nextDeadline { next = min(next, max(now, deadline)) }
            }
            if playsAudio { next = min(next, min(pullAt[0], pullAt[1])) }
            now = max(now, next)
            if now >= end, !network.contains(where: { $0.at <= now }) {
                now = end
                return
            }
            let due = network.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
            network.removeAll { $0.at <= now }
            for datagram in due { deliver(datagram) }
            for side in [left, right] {
                if let deadline = side.session.nextDeadline, deadline <= now {
                    perform(side) { $0.handle(timeoutAt: $1, pool: &$2, actions: &$3) }
                }
            }
            if playsAudio {
                for (index, side) in [left, right].enumerated() where pullAt[index] <= now { pull(index, side) }
            }
        }
    }

    private mutating func deliver(_ datagram: Datagram) {
        let end = datagram.toRight ? right : left
        if datagram.isReport {
            perform(end) { $0.receiveRTCP(datagram.bytes.span.bytes, at: $1, pool: &$2, actions: &$3) }
        } else {
            perform(end) {
                let packet = $2.take()
                packet.assign(datagram.bytes)
                $0.receiveRTP(packet, at: $1, pool: &$2, actions: &$3)
            }
        }
    }

    private mutating func pull(_ index: Int, _ side: SimulatedEnd) {
        let next = side.session.nextAudio(at: now, pool: &side.pool)
        let name: String
        switch next.playout {
        case .packet(let packet):
            name = "packet"
            side.pool.give(packet.buffer)
        case .forwardErrorCorrection(let packet):
            name = "recover"
            side.pool.give(packet.buffer)
        case .conceal: name = "conceal"
        case .silence: name = "silence"
        }
        side.playouts.append((name, now))
        // A time stretcher changes the length of a stretch by about a fifth.
        let factor: Double =
            switch next.speed {
            case .normal: 1
            case .accelerate: 0.8
            case .expand: 1.2
            }
        pullAt[index] = now + .nanoseconds(Int64(Double(next.playout.duration.inNanoseconds) * factor))
    }
}

extension SimulatedCall {
    /// A frame that says what it is: a VP8 key or delta header, then bytes that follow from its number.
    static func frame(_ number: Int, isKeyFrame: Bool, size: Int) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: max(16, size))
        for index in frame.indices { frame[index] = UInt8(truncatingIfNeeded: number &* 31 &+ index &* 7) }
        frame[0] = isKeyFrame ? 0x10 : 0x11
        frame[1] = 0
        frame[2] = 0
        if isKeyFrame { frame.replaceSubrange(3..<10, with: [0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01]) }
        frame[10] = UInt8(truncatingIfNeeded: number >> 8)
        frame[11] = UInt8(truncatingIfNeeded: number)
        return frame
    }

    static func number(of frame: [UInt8]) -> Int {
        Int(frame[10]) << 8 | Int(frame[11])
    }

    mutating func sendFrame(_ number: Int, isKeyFrame: Bool, size: Int, from end: SimulatedEnd) {
        let bytes = Self.frame(number, isKeyFrame: isKeyFrame, size: size)
        perform(end) {
            $0.sendVideoFrame(
                bytes.span.bytes, isKeyFrame: isKeyFrame, captureTime: $1, at: $1, pool: &$2, actions: &$3)
        }
    }

    /// Sends 30 frames a second from the left for some seconds; key frames when the far end asks for them.
    mutating func streamVideo(seconds: Int, frameSize: Int = 5000) -> Int {
        for _ in 0..<seconds * 30 {
            let isKeyFrame = frameNumber == 0 || left.keyFrameRequests.count > answeredRequests
            answeredRequests = left.keyFrameRequests.count
            sendFrame(frameNumber, isKeyFrame: isKeyFrame, size: isKeyFrame ? frameSize * 3 : frameSize, from: left)
            frameNumber += 1
            run(until: now + .microseconds(33_333))
        }
        return seconds * 30
    }

    /// Sends a packet each 20 ms from the left; Opus CELT-only 20 ms payloads (configuration 31).
    mutating func streamAudio(seconds: Double) {
        var sent = 0
        while Double(sent) * 0.02 < seconds {
            let payload = [UInt8(31 << 3)] + (0..<60).map { UInt8(truncatingIfNeeded: sent &+ $0) }
            perform(left) {
                $0.sendAudio(
                    payload.span.bytes, payloadType: 111, units: 960, at: $1, pool: &$2, actions: &$3)
            }
            sent += 1
            run(until: now + .milliseconds(20))
        }
    }
}
