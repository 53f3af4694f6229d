import OffhookBasics
import OffhookRTP

/// One direction of a path that has a bottleneck: a rate, a queue that drops what does not fit, delay, jitter that
/// keeps the order, and loss at random.
struct Bottleneck {
    /// Bits a second; nil: without a limit.
    var rate: Int?
    var queue = Duration.milliseconds(200)
    var delay = Duration.milliseconds(25)
    var jitter = Duration.zero
    var loss = 0.0
    /// Bits a second that others send through it.
    var competing = 0

    private(set) var freeAt = Instant.zero
    private(set) var dropped = 0
    private(set) var carriedBytes = 0
    private var lastArrival = Instant.zero
    private var random: SeededRandom
    private var competedUntil = Instant.zero

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// How long a packet that comes now stands in the queue.
    func queueing(at now: Instant) -> Duration { max(.zero, freeAt - now) }

    mutating func compete(at now: Instant) {
        guard let rate, competing > 0, now - competedUntil >= .milliseconds(20) else { return }
        competedUntil = now
        freeAt = max(freeAt, now) + .nanoseconds(Int64(competing) * 20_000_000 / Int64(rate))
    }

    /// When a packet arrives; nil where it does not.
    mutating func carry(_ size: Int, at now: Instant) -> Instant? {
        var out = now
        if let rate {
            guard queueing(at: now) <= queue else {
                dropped += 1
                return nil
            }
            freeAt = max(freeAt, now) + .nanoseconds(Int64(size) * 8_000_000_000 / Int64(rate))
            out = freeAt
        }
        guard Double.random(in: 0..<1, using: &random) >= loss else { return nil }
        carriedBytes += size
        let extra = jitter.inNanoseconds > 0 ? Int64.random(in: 0..<jitter.inNanoseconds, using: &random) : 0
        lastArrival = max(lastArrival, out + delay + .nanoseconds(extra))
        return lastArrival
    }
}

/// A video encoder as far as rates go: sizes that scatter, key frames four times as large, and what is too much is paid
/// back within a second.
struct ModelEncoder {
    var target = VideoTarget(bitsPerSecond: 800_000)
    private(set) var number = 0
    private var debt = 0.0
    private var random: SeededRandom
    private(set) var nextFrame = Instant.zero
    var needsKeyFrame = true

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func frame(at now: Instant) -> (bytes: [UInt8], isKeyFrame: Bool, number: Int)? {
        guard now >= nextFrame else { return nil }
        let frameRate = min(30, target.maximumFrameRate ?? 30)
        nextFrame = max(nextFrame, now - .milliseconds(20)) + .nanoseconds(Int64(1e9 / frameRate))
        let budget = Double(target.bitsPerSecond) / 8 / frameRate
        var size = budget * Double.random(in: 0.75..<1.25, using: &random)
        let isKeyFrame = needsKeyFrame
        needsKeyFrame = false
        if isKeyFrame { size *= 4 } else { size -= min(debt / 20, size * 0.5) }
        debt += size - budget
        defer { number += 1 }
        return (
            SimulatedCall.frame(number, isKeyFrame: isKeyFrame, size: max(60, Int(size))), isKeyFrame, number
        )
    }
}

/// Video from one side to the other through bottlenecks, under the sender's controller, in time of its own.
final class CongestedCall {
    struct Options {
        var hasTransportFeedback = true
        var hasRetransmission = true
        /// The receiver judges by the time of sending in packets, and tells by REMB.
        var hasRateEstimates = false
        var maximum = 1_500_000
        var start = 800_000
    }

    /// What was seen in a second.
    struct Second {
        var target = 0
        var carried = 0
        var frames = 0
        var longestQueue = Duration.zero
    }

    var forward: Bottleneck
    var back: Bottleneck
    let sender: RTPSession
    let receiver: RTPSession
    let controller: SendController
    var encoder: ModelEncoder
    private(set) var now = Instant.zero
    private(set) var frameTimes: [Instant] = []
    private(set) var encodingTimes: [Instant] = []
    private(set) var seconds: [Second] = []
    /// Time spent with more than this queueing.
    private(set) var longQueueing = Duration.zero
    /// Drops feedback, all of it.
    var isDeaf = false

    private var pool = PacketPool()
    private var toRight: [(at: Instant, bytes: [UInt8], isReport: Bool)] = []
    private var toLeft: [(at: Instant, bytes: [UInt8])] = []
    private var actions: [RTPSession.Action] = []
    private var carriedBefore = 0
    private var framesBefore = 0
    private var longestQueue = Duration.zero

    init(seed: UInt64, options: Options = Options(), path: (inout Bottleneck) -> Void = { _ in }) {
        forward = Bottleneck(seed: seed &* 3)
        back = Bottleneck(seed: seed &* 3 &+ 1)
        path(&forward)
        path(&back)
        back.rate = nil
        encoder = ModelEncoder(seed: seed &* 3 &+ 2)
        sender = RTPSession(configuration: Self.configuration(seed &* 2))
        receiver = RTPSession(configuration: Self.configuration(seed &* 2 &+ 1))
        controller = SendController(start: options.start, maximum: options.maximum)
        let formats = options.hasRetransmission ? SimulatedCall.repeatedVideoFormats : SimulatedCall.videoFormats
        for session in [sender, receiver] {
            session.setSendPayloads(formats)
            session.setReceivePayloads(formats)
            if options.hasRateEstimates {
                session.setHeaderExtensions(
                    HeaderExtensionIdentifiers(absoluteSendTime: 2), mediaIdentification: nil)
                session.setRateEstimates(areSent: true)
            }
            if options.hasTransportFeedback {
                session.setHeaderExtensions(
                    HeaderExtensionIdentifiers(absoluteSendTime: 2, transportSequenceNumber: 3),
                    mediaIdentification: nil)
                session.setTransportFeedback(isSent: true)
            }
        }
        sender.setDirections(sends: true, receives: false, at: now, pool: &pool, actions: &actions)
        receiver.setDirections(sends: false, receives: true, at: now, pool: &pool, actions: &actions)
    }

    private static func configuration(_ seed: UInt64) -> RTPSession.Configuration {
        var configuration = SimulatedCall.configuration(.video, seed: seed)
        configuration.usesReducedSizeReports = true
        return configuration
    }

    func run(seconds count: Double) {
        let end = now + .nanoseconds(Int64(count * 1e9))
        while now < end { step() }
    }

    private func step() {
        now = now + .milliseconds(1)
        forward.compete(at: now)
        deliver()
        if let deadline = sender.nextDeadline, deadline <= now {
            sender.handle(timeoutAt: now, pool: &pool, actions: &actions)
        }
        controller.handle(timeoutAt: now)
        performSender()
        if let deadline = receiver.nextDeadline, deadline <= now {
            receiver.handle(timeoutAt: now, pool: &pool, actions: &actions)
            performReceiver()
        }
        if let target = controller.takeTarget() { encoder.target = target }
        sender.repetition = controller.repetition(at: now)
        if let frame = encoder.frame(at: now) {
            encodingTimes.append(now)
            sender.sendVideoFrame(
                frame.bytes.span.bytes, isKeyFrame: frame.isKeyFrame, captureTime: now, at: now, pool: &pool,
                actions: &actions)
            performSender()
        }
        while let packet = controller.nextPacket(from: sender, at: now) { carry(packet) }
        observe()
    }

    private func deliver() {
        while let first = toRight.first, first.at <= now {
            toRight.removeFirst()
            if first.isReport {
                receiver.receiveRTCP(first.bytes.span.bytes, at: now, pool: &pool, actions: &actions)
            } else {
                let packet = pool.take()
                packet.assign(first.bytes)
                receiver.receiveRTP(packet, at: now, pool: &pool, actions: &actions)
            }
            performReceiver()
        }
        while let first = toLeft.first, first.at <= now {
            toLeft.removeFirst()
            if !isDeaf { sender.receiveRTCP(first.bytes.span.bytes, at: now, pool: &pool, actions: &actions) }
            performSender()
        }
    }

    private func carry(_ packet: PacketBuffer) {
        if let arrival = forward.carry(packet.count + 38, at: now) {
            toRight.append((arrival, [UInt8](copying: packet.bytes), false))
        }
        pool.give(packet)
    }

    private func performSender() {
        let work = actions
        actions.removeAll(keepingCapacity: true)
        for action in work {
            switch action {
            case .sendRTP(let packet): controller.send(packet, isRepeat: false)
            case .repeatRTP(let packet): controller.send(packet, isRepeat: true)
            case .sendRTCP(let packet):
                if let arrival = forward.carry(packet.count + 38, at: now) {
                    toRight.append((arrival, [UInt8](copying: packet.bytes), true))
                }
                pool.give(packet)
            case .transportFeedback(let feedback):
                controller.handle(feedback, roundTrip: sender.roundTrip, at: now)
            case .lossReported(let lost, let total):
                controller.handle(lost: lost, of: total, roundTrip: sender.latestRoundTrip, at: now)
            case .bitrateLimit(let limit): controller.setRemoteLimit(limit, at: now)
            case .keyFrameRequested: encoder.needsKeyFrame = true
            default: break
            }
        }
    }

    private func performReceiver() {
        let work = actions
        actions.removeAll(keepingCapacity: true)
        for action in work {
            switch action {
            case .sendRTP(let packet), .repeatRTP(let packet): pool.give(packet)
            case .sendRTCP(let packet):
                if let arrival = back.carry(packet.count + 38, at: now) {
                    toLeft.append((arrival, [UInt8](copying: packet.bytes)))
                }
                pool.give(packet)
            case .videoFrame: frameTimes.append(now)
            default: break
            }
        }
    }

    private func observe() {
        let queueing = forward.rate == nil ? .zero : forward.queueing(at: now)
        longestQueue = max(longestQueue, queueing)
        if queueing >= .milliseconds(300) { longQueueing += .milliseconds(1) }
        guard now.nanoseconds / 1_000_000 % 1000 == 0 else { return }
        seconds.append(
            Second(
                target: encoder.target.bitsPerSecond, carried: (forward.carriedBytes - carriedBefore) * 8,
                frames: frameTimes.count - framesBefore, longestQueue: longestQueue))
        carriedBefore = forward.carriedBytes
        framesBefore = frameTimes.count
        longestQueue = .zero
    }

    // MARK: What a viewer sees

    var received: RTPStatistics.Received { receiver.statistics(at: now).received }

    /// Bits a second carried over some of the seconds.
    func carried(_ range: Range<Int>) -> Int {
        seconds[range].reduce(0) { $0 + $1.carried } / range.count
    }

    func frames(_ range: Range<Int>) -> Double {
        Double(seconds[range].reduce(0) { $0 + $1.frames }) / Double(range.count)
    }

    /// The time without a new picture beyond what passes for smooth, in the seconds of a range.
    func frozen(_ range: Range<Int>) -> (count: Int, seconds: Double) {
        var count = 0
        var total = 0.0
        for (earlier, later) in zip(frameTimes, frameTimes.dropFirst()) {
            let gap = (later - earlier).inSeconds
            guard later >= .zero + .seconds(range.lowerBound), later < .zero + .seconds(range.upperBound), gap > 0.184
            else { continue }
            count += 1
            total += gap
        }
        return (count, total)
    }

    var story: String {
        seconds.enumerated().map { index, second in
            "\(index): target \(second.target / 1000) carried \(second.carried / 1000) frames \(second.frames) "
                + "queue \(Int(second.longestQueue.inMilliseconds))"
        }.joined(separator: "\n")
    }
}
