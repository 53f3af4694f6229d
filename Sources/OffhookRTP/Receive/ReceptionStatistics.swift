package import OffhookBasics

/// What a receiver reports about one source (RFC 3550 §6.4.1, Appendices A.1, A.3 and A.8).
package struct ReceptionStatistics: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// In or near its place, with its number extended so that it does not wrap.
        case accepted(Int)
        /// The source has started its numbers anew; everything kept from before is void.
        case restarted(Int)
        /// Far from its place, and nothing has confirmed a new start yet.
        case dropped
    }

    private static let largestJump = 3000
    private static let largestDisorder = 1000

    package private(set) var extendedHighest: Int
    package private(set) var received = 0
    private var base: Int
    private var expectedBefore = 0
    private var receivedBefore = 0
    /// The number that would confirm a new start.
    private var suspected: SequenceNumber?
    private var lastTransit: Int?
    /// In units of the clock, times 16 (A.8).
    private var scaledJitter = 0

    private var lastReportTime: UInt32 = 0
    private var lastReportArrival: Instant?
    /// Carried over from before a restart, so that totals do not jump back.
    private var expectedEarlier = 0
    private var receivedEarlier = 0

    /// Begins with the first packet of a source, which still has to be counted by `update`.
    package init(first: SequenceNumber) {
        // One cycle up, so that packets from before the first one have positive numbers as well.
        base = 0x1_0000 + Int(first.rawValue)
        extendedHighest = base - 1
    }

    package mutating func update(_ number: SequenceNumber) -> Verdict {
        let distance = number - SequenceNumber(UInt16(truncatingIfNeeded: extendedHighest))
        let extended = extendedHighest + distance
        if (-Self.largestDisorder...Self.largestJump).contains(distance), extended >= 0 {
            suspected = nil
            extendedHighest = max(extendedHighest, extended)
            base = min(base, extended)
            received += 1
            return .accepted(extended)
        }
        guard suspected == number else {
            suspected = number.advanced(by: 1)
            return .dropped
        }
        expectedEarlier += expected - expectedEarlier
        receivedEarlier = received
        suspected = nil
        base = (extendedHighest / 0x1_0000 + 2) * 0x1_0000 + Int(number.rawValue)
        extendedHighest = base
        received += 1
        lastTransit = nil
        return .restarted(base)
    }

    /// Takes a packet's time under way into the jitter (A.8).
    package mutating func updateJitter(timestamp: RTPTimestamp, clockRate: Int, at now: Instant) {
        let arrival = Int(now.nanoseconds / 1000) &* clockRate / 1_000_000
        let transit = Int(UInt32(truncatingIfNeeded: arrival) &- timestamp.rawValue)
        defer { lastTransit = transit }
        guard let lastTransit else { return }
        let difference = abs(Int(Int32(truncatingIfNeeded: transit &- lastTransit)))
        // A timestamp that jumps by more than ten seconds says nothing about the network.
        guard difference < clockRate * 10 else { return }
        scaledJitter += difference - ((scaledJitter + 8) >> 4)
    }

    package mutating func forgetTransit() {
        lastTransit = nil
    }

    package mutating func handle(senderReportAt time: NTPTimestamp, at now: Instant) {
        lastReportTime = time.middle
        lastReportArrival = now
    }

    package var expected: Int {
        expectedEarlier + extendedHighest - base + 1
    }

    package var lost: Int {
        expected - received
    }

    package var jitter: Int {
        scaledJitter >> 4
    }

    /// The block for the next report; the fraction counts from the block before.
    package mutating func makeBlock(ssrc: SSRC, at now: Instant) -> ReportBlock {
        let expectedInterval = expected - expectedBefore
        let lostInterval = expectedInterval - (received - receivedBefore)
        expectedBefore = expected
        receivedBefore = received
        let fraction = expectedInterval > 0 && lostInterval > 0 ? min(255, lostInterval * 256 / expectedInterval) : 0
        var delay: UInt32 = 0
        if let lastReportArrival {
            let nanoseconds = max(0, (now - lastReportArrival).inNanoseconds)
            delay = UInt32(clamping: nanoseconds / 1000 &* 65536 / 1_000_000)
        }
        return ReportBlock(
            ssrc: ssrc, fractionLost: UInt8(fraction),
            cumulativeLost: Int32(clamping: min(0x7F_FFFF, max(-0x80_0000, lost))),
            extendedHighestSequenceNumber: UInt32(truncatingIfNeeded: extendedHighest - 0x1_0000),
            jitter: UInt32(clamping: jitter), lastSenderReport: lastReportTime, delaySinceLastSenderReport: delay)
    }
}
