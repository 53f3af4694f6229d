internal import OffhookBasics

/// Remembers when packets with transport-wide numbers arrived, and reports it after three of them, but no more often than
/// fifty times and no less often than ten times a second: about a fortieth of what comes (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3).
///
/// A report covers the numbers from the one after the last report up to the highest; a packet that comes after its
/// number was reported missing is told with the next report.
final class TransportFeedbackCollector {
    private struct Slot {
        var number = -1
        var arrival = Int64(0)
    }

    private static let shortest = Duration.milliseconds(20)
    private static let longest = Duration.milliseconds(100)
    private static let fewPackets = 3
    /// So that a report fits a packet.
    private static let mostStatuses = 400
    private static let furthestBack = 128

    private let ring = SlotRing(capacity: 4096, repeating: Slot())
    private var highest: Int?
    private var base = 0
    private var count: UInt8 = 0
    private var unreported = 0
    private var lastReport: Instant?
    private(set) var nextDeadline: Instant?

    func note(_ sequence: UInt16, at now: Instant) {
        let number: Int
        if let highest {
            number = highest + (SequenceNumber(sequence) - SequenceNumber(UInt16(truncatingIfNeeded: highest)))
        } else {
            number = 0x1_0000 + Int(sequence)
            base = number
        }
        let top = max(highest ?? number, number)
        // Numbers that jump begin anew.
        if number - base >= ring.capacity { base = number }
        guard number > top - ring.capacity, number >= base - Self.furthestBack, number >= 0,
            ring[number].number != number
        else { return }
        ring[number] = Slot(number: number, arrival: now.nanoseconds / 1000)
        base = min(base, number)
        highest = top
        unreported += 1
        if unreported == 1 { nextDeadline = now + Self.longest }
        if unreported == Self.fewPackets { nextDeadline = max(now, (lastReport ?? now) + Self.shortest) }
    }

    /// Appends the reports that are due.
    func takeReports(sender: SSRC, media: SSRC, at now: Instant, into packets: inout [RTCPPacket]) {
        guard let deadline = nextDeadline, now >= deadline, let highest else { return }
        nextDeadline = nil
        lastReport = now
        unreported = 0
        while base <= highest {
            guard let report = report(upTo: highest, sender: sender, media: media) else { return }
            packets.append(.transportFeedback(report))
        }
    }

    private func report(upTo highest: Int, sender: SSRC, media: SSRC) -> TransportFeedback? {
        let first = base
        var received = first
        while received <= highest, ring[received].number != received { received += 1 }
        guard received <= highest else { return nil }
        // More than a report holds were lost in a row: they are passed over.
        if received - first >= Self.mostStatuses {
            base = received
            return report(upTo: highest, sender: sender, media: media)
        }
        let reference = ring[received].arrival / 64_000
        var time = reference * 64_000
        var arrivals: [TransportFeedback.Arrival] = []
        var number = first
        while number <= highest, arrivals.count < Self.mostStatuses {
            if ring[number].number == number {
                let units = (ring[number].arrival - time) / 250
                guard let delta = Int16(exactly: units) else { break }
                arrivals.append(.received(delta: delta))
                time += units * 250
            } else {
                arrivals.append(.lost)
            }
            number += 1
        }
        // A gap of more than eight seconds takes another report.
        while arrivals.last == .lost { arrivals.removeLast() }
        base = number
        count &+= 1
        return TransportFeedback(
            sender: sender, media: media, base: SequenceNumber(UInt16(truncatingIfNeeded: first)),
            referenceTime: (Int32(truncatingIfNeeded: reference) << 8) >> 8, feedbackCount: count &- 1,
            arrivals: arrivals)
    }
}
