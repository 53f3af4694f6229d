internal import OffhookBasics

/// Works out how much the far end may send, for those who cannot judge it by feedback on single packets: told to them as
/// REMB (draft-alvestrand-rmcat-remb-03).
///
/// It reasons as a sender would (``BitrateController``), by the time of sending that packets bear (`abs-send-time`). Loss is
/// left to the sender, who hears of it by reports and knows what it has changed.
struct ReceiveRateEstimator {
    private static let interval = Duration.seconds(1)
    private static let batch = Duration.milliseconds(50)
    /// A fall by this share is told at once.
    private static let notable = 0.03

    private var controller: BitrateController
    private var outcomes: [PacketOutcome] = []
    private var received = DeliveryRate()
    private var sentAt = Instant.zero + .seconds(3600)
    private var lastSendTime: UInt32?
    private var lastUpdate: Instant?
    private var told: (rate: Int, at: Instant)?

    init(maximum: Int = 5_000_000) {
        var limits = BitrateController.Limits()
        limits.start = maximum
        limits.maximum = maximum
        controller = BitrateController(limits: limits)
    }

    /// Takes in a packet of the stream itself, with the 24 bits of its time of sending.
    mutating func note(
        size: Int, sendTime: UInt32, roundTrip: Duration?, at now: Instant
    ) {
        let last = lastSendTime ?? sendTime
        lastSendTime = sendTime
        // Sign-extended from 24 bits of 1/2^18 s.
        let step = Int64(Int32(bitPattern: (sendTime &- last) << 8) >> 8)
        sentAt = sentAt + .nanoseconds(step * 1_000_000_000 / 262_144)
        let arrival = now.nanoseconds / 1000
        received.note(size: size, arrival: arrival)
        outcomes.append(PacketOutcome(size: size, sentAt: sentAt, arrival: arrival))
        guard let lastUpdate else {
            self.lastUpdate = now
            return
        }
        guard now - lastUpdate >= Self.batch else { return }
        self.lastUpdate = now
        controller.handle(
            outcomes, sentRate: received.bitsPerSecond(over: .seconds(1)), roundTrip: roundTrip ?? .milliseconds(100),
            at: now)
        outcomes.removeAll(keepingCapacity: true)
    }

    /// The numbers begin anew: another source.
    mutating func reset() {
        self = ReceiveRateEstimator(maximum: controller.limits.maximum)
    }

    /// When something is to be told at the latest; nil before packets came.
    var nextDeadline: Instant? {
        guard let lastUpdate else { return nil }
        // Of a stream that has ended nothing new is to be said.
        guard let told else { return lastUpdate + Self.interval }
        return lastUpdate > told.at ? told.at + Self.interval : nil
    }

    /// Whether the rate has fallen so far that it should be told now.
    var hasFallen: Bool {
        guard let told else { return false }
        return Double(controller.rate) < Double(told.rate) * (1 - Self.notable)
    }

    /// What is to be told now, in bits a second; it counts as told.
    mutating func takeEstimate(at now: Instant) -> Int? {
        guard let deadline = nextDeadline, now >= deadline || hasFallen else { return nil }
        told = (controller.rate, now)
        return controller.rate
    }
}
