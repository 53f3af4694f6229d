package import OffhookBasics

/// What a video encoder is to make at the moment.
package struct VideoTarget: Hashable, Sendable {
    /// Of payload, in bits a second.
    package var bitsPerSecond: Int
    /// Nil: as pictures come.
    package var maximumFrameRate: Double?
    /// Nil: as the picture comes.
    package var maximumPixels: Int?

    package init(bitsPerSecond: Int, maximumFrameRate: Double? = nil, maximumPixels: Int? = nil) {
        self.bitsPerSecond = bitsPerSecond
        self.maximumFrameRate = maximumFrameRate
        self.maximumPixels = maximumPixels
    }
}

/// How packets that were asked for are repeated.
package struct RepetitionPolicy: Hashable, Sendable {
    /// How often each goes out; 0 while repeats take too much.
    package var count = 1
    /// How long a repeat is waited for before it may go out again; nil goes by the round trip of reports.
    package var spacing: Duration?
    /// Where one request asks for more packets, a key frame takes their place: it is smaller than all of them.
    package var mostPackets = 256

    package init(count: Int = 1, spacing: Duration? = nil, mostPackets: Int = 256) {
        self.count = count
        self.spacing = spacing
        self.mostPackets = mostPackets
    }
}

/// The sending side of a call's video: how much, when each packet leaves, and what the encoder is told.
///
/// Sound is not held back and not counted here: it goes first, and what it takes shows as less room for the picture.
/// It belongs to one thread.
package final class SendController {
    private enum Constants {
        /// RTP header and extensions, VP8 descriptor, SRTP tag, UDP and IP, for a packet of usual size.
        static let payloadShare = 0.94
        /// UDP, IPv4 and the tag of SRTP.
        static let overhead = 38
        /// Times the rate at which packets leave: as a rule, and where neither a queue nor loss has been seen. There a
        /// picture that leaves sooner is shown sooner.
        static let pace = 1.35
        static let freePace = 3.0
        static let check = Duration.milliseconds(200)
        static let notableLoss = 0.02
        static let longRoundTrip = Duration.milliseconds(150)
        /// Of the rate: with more, repeats leave nothing for new pictures.
        static let mostRepeats = 0.6
        /// Likewise, while a full queue loses more of whatever is sent.
        static let fewRepeats = 0.35
        /// A key frame is about as large as what is sent in this time, in seconds, and in how many packets at least.
        static let keyFrameSpan = 0.25
        static let smallestKeyFrame = 20
        static let packetSize = 1200
    }

    package private(set) var controller: BitrateController
    private var pacer = Pacer()
    private let log = TransportSendLog()
    private var sent = DeliveryRate()
    private var repeated = DeliveryRate()
    private var repeatRate = 0.0
    private var lastRepeatNote: Instant?
    private var outcomes: [PacketOutcome] = []
    private var ladder: BitrateLadder
    private var target: VideoTarget
    private var isTargetNew = true
    private var lastTargetChange: Instant?
    private var nextCheck: Instant?
    private var roundTrip = Duration.milliseconds(100)
    /// From sending the newest packet that has been told of to being told.
    private var answerTime: Duration?
    private var lastSent: Instant?
    /// The most that the encoder may be told, in bits a second of payload.
    private var limit: Int

    /// Starts with a rate and the highest one, of payload.
    package init(start: Int, maximum: Int) {
        limit = max(30_000, maximum)
        var limits = BitrateController.Limits()
        limits.start = Int(Double(max(30_000, min(start, limit))) / Constants.payloadShare)
        limits.maximum = Int(Double(limit) / Constants.payloadShare)
        controller = BitrateController(limits: limits)
        let first = min(start, limit)
        ladder = BitrateLadder(bitsPerSecond: first)
        target = VideoTarget(
            bitsPerSecond: first, maximumFrameRate: ladder.step.maximumFrameRate,
            maximumPixels: ladder.step.maximumPixels)
    }

    /// The share of packets that the path loses, from 0 to 1.
    package var lossFraction: Double { controller.loss.fraction }

    /// How a session repeats packets: where much is lost at random, a single repeat would be lost as often; where a queue
    /// is full, more would only fill it. Over a long round trip one more is cheaper than to be asked again. What is still
    /// under way is not repeated, however long the queue makes that.
    package func repetition(at now: Instant) -> RepetitionPolicy {
        let repeats = Double(repeated.bitsPerSecond(over: .milliseconds(500), until: now) ?? 0)
        let isWorthMore = lossFraction > Constants.notableLoss && !controller.wasOverused(at: now)
        let share = controller.wasOverused(at: now) ? Constants.fewRepeats : Constants.mostRepeats
        let several = roundTrip > Constants.longRoundTrip ? 3 : 2
        let count = repeats > Double(controller.rate) * share ? 0 : isWorthMore ? several : 1
        var policy = RepetitionPolicy(count: count, spacing: answerTime.map { $0 * 9 / 10 })
        // A full queue would lose a key frame as well.
        guard controller.isFree(at: now) else { return policy }
        let span = Double(controller.rate) * Constants.keyFrameSpan / 8 / Double(Constants.packetSize)
        policy.mostPackets = max(Constants.smallestKeyFrame, Int(span))
        return policy
    }

    // MARK: Limits

    /// The most that signalling and the app allow, in bits a second of payload.
    package func setMaximum(_ bitsPerSecond: Int, at now: Instant) {
        limit = max(30_000, bitsPerSecond)
        updateTarget(at: now)
    }

    /// REMB or TMMBR: what the far end allows on the wire.
    package func setRemoteLimit(_ bitsPerSecond: Int, at now: Instant) {
        controller.remoteLimit = bitsPerSecond
        updateTarget(at: now)
    }

    // MARK: Packets

    package func send(_ packet: PacketBuffer, isRepeat: Bool) {
        pacer.append(packet, isRepeat: isRepeat)
    }

    /// The next packet to go out now, stamped with its number and time.
    package func nextPacket(from session: RTPSession, at now: Instant) -> PacketBuffer? {
        let isFree = !controller.knowsCapacity && lossFraction < Constants.notableLoss
        let pace = isFree ? Constants.freePace : Constants.pace
        pacer.rate = Int(Double(controller.rate) * (controller.isDraining ? 1.0 : pace))
        guard let entry = pacer.next(at: now) else { return nil }
        let size = entry.packet.count + Constants.overhead
        if session.canStamp(entry.packet) {
            let number = log.record(size: size, at: now)
            session.stamp(entry.packet, transportSequence: number, at: now)
        }
        sent.note(size: size, arrival: now.nanoseconds / 1000)
        if entry.isRepeat { repeated.note(size: size, arrival: now.nanoseconds / 1000) }
        lastSent = now
        if nextCheck == nil { nextCheck = now + Constants.check }
        return entry.packet
    }

    package func removeAll(pool: inout PacketPool) {
        pacer.removeAll(pool: &pool)
    }

    // MARK: Feedback

    package func handle(_ feedback: TransportFeedback, roundTrip: Duration?, at now: Instant) {
        if let roundTrip { self.roundTrip = roundTrip }
        outcomes.removeAll(keepingCapacity: true)
        log.take(feedback, outcomes: &outcomes)
        guard !outcomes.isEmpty else { return }
        for outcome in outcomes.reversed() where outcome.arrival != nil {
            answerTime = now - outcome.sentAt
            break
        }
        controller.handle(outcomes, sentRate: sentRate, roundTrip: self.roundTrip, at: now)
        updateTarget(at: now)
    }

    package func handle(lost: Int, of total: Int, roundTrip: Duration?, at now: Instant) {
        controller.handle(lost: lost, of: total, sentRate: sentRate, roundTrip: roundTrip, at: now)
        updateTarget(at: now)
    }

    private var sentRate: Int? { sent.bitsPerSecond(over: .seconds(1)) }

    // MARK: Time

    package var nextDeadline: Instant? {
        guard let due = pacer.nextDeadline else { return nextCheck }
        return min(due, nextCheck ?? due)
    }

    package func handle(timeoutAt now: Instant) {
        guard let check = nextCheck, now >= check else { return }
        guard let lastSent, now - lastSent < .seconds(5) else {
            nextCheck = nil
            return
        }
        nextCheck = now + Constants.check
        controller.heedSilence(at: now)
        updateTarget(at: now)
    }

    // MARK: The encoder

    /// What the encoder is to be told, where that has changed.
    package func takeTarget() -> VideoTarget? {
        guard isTargetNew else { return nil }
        isTargetNew = false
        return target
    }

    private func updateTarget(at now: Instant) {
        noteRepeats(at: now)
        controller.limits.maximum = Int(Double(limit) / Constants.payloadShare + repeatRate)
        let waiting = Double(pacer.queuedBytes) * 8
        let room = Double(controller.rate) - repeatRate - max(0, waiting - Double(controller.rate) * 0.1)
        let wanted = max(30_000, min(limit, Int(room * Constants.payloadShare)))
        let stepChanged = ladder.update(bitsPerSecond: wanted, at: now)
        let change = Double(wanted - target.bitsPerSecond) / Double(target.bitsPerSecond)
        guard stepChanged || abs(change) > 0.02 || wanted == limit && target.bitsPerSecond != limit else { return }
        // Setting an encoder costs something: small changes wait for the next round.
        if !stepChanged, change > -0.1, let last = lastTargetChange, now - last < .milliseconds(100) { return }
        lastTargetChange = now
        target = VideoTarget(
            bitsPerSecond: wanted, maximumFrameRate: ladder.step.maximumFrameRate,
            maximumPixels: ladder.step.maximumPixels)
        isTargetNew = true
    }

    private func noteRepeats(at now: Instant) {
        let repeats = Double(repeated.bitsPerSecond(over: .seconds(1), until: now) ?? 0)
        // Where no queue stands, a burst of repeats is over soon and leaves room for a picture; a full queue must be emptied.
        let most = controller.isFree(at: now) ? Double(controller.rate) * Constants.mostRepeats : .infinity
        let rate = min(repeats, most)
        // By time, for this is called ever less often the less is sent.
        let elapsed = min(1, lastRepeatNote.map { (now - $0).inSeconds } ?? 0)
        lastRepeatNote = now
        repeatRate += (rate - repeatRate) * min(1, elapsed * (rate > repeatRate ? 10 : 2))
    }
}
