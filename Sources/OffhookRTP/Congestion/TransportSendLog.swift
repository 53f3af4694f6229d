package import OffhookBasics

/// What the network did with one packet that bore a transport-wide number.
package struct PacketOutcome: Hashable, Sendable {
    /// Bytes as counted when it went out.
    package var size: Int
    package var sentAt: Instant
    /// On the far end's clock, in microseconds since an origin of its own; nil where the packet was lost.
    package var arrival: Int64?

    package init(size: Int, sentAt: Instant, arrival: Int64?) {
        self.size = size
        self.sentAt = sentAt
        self.arrival = arrival
    }
}

/// Packets under their transport-wide numbers, until feedback has told what became of them
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
///
/// Each packet has one outcome. A packet that feedback calls missing counts as lost only when ones sent well after it
/// have arrived, for it may merely have been overtaken; one that feedback never speaks of, since that feedback was lost
/// itself, has none.
package final class TransportSendLog {
    private struct Slot {
        var number = -1
        var size: Int32 = 0
        var isMissing = false
        var isResolved = true
        var sentAt = Instant.zero
    }

    /// How long after a missing packet another one must have gone out, and arrived, for the first to be lost.
    private static let overtaking = Duration.milliseconds(60)

    private let ring = SlotRing(capacity: 4096, repeating: Slot())
    /// The next number, continued over the wraps.
    private var next = 0x1_0000
    /// Everything before this has its outcome.
    private var oldest = 0x1_0000
    private var newestArrived: Instant?
    private var lastReference: Int64?

    package init() {}

    /// The number of the packet that goes out now.
    package func record(size: Int, at now: Instant) -> UInt16 {
        ring[next] = Slot(
            number: next, size: Int32(clamping: size), isMissing: false, isResolved: false,
            sentAt: now)
        defer { next += 1 }
        oldest = max(oldest, next + 1 - ring.capacity)
        return UInt16(truncatingIfNeeded: next)
    }

    /// Takes feedback in; outcomes that are new are appended, arrivals in the order of the numbers.
    package func take(_ feedback: TransportFeedback, outcomes: inout [PacketOutcome]) {
        let base = next + (feedback.base - SequenceNumber(UInt16(truncatingIfNeeded: next)))
        var time = origin(feedback.referenceTime)
        for (index, arrival) in feedback.arrivals.enumerated() {
            if case .received(let delta) = arrival { time += Int64(delta) * 250 }
            let number = base + index
            guard number >= oldest, number < next, ring[number].number == number, !ring[number].isResolved else {
                continue
            }
            switch arrival {
            case .lost: ring[number].isMissing = true
            case .received:
                let slot = ring[number]
                ring[number].isResolved = true
                newestArrived = max(newestArrived ?? slot.sentAt, slot.sentAt)
                outcomes.append(
                    PacketOutcome(size: Int(slot.size), sentAt: slot.sentAt, arrival: time))
            }
        }
        resolve(&outcomes)
    }

    /// The far end's time in microseconds, continued over the wraps of its 24 bits.
    private func origin(_ reference: Int32) -> Int64 {
        let last = lastReference ?? Int64(reference)
        let step = Int32(truncatingIfNeeded: Int64(reference) - last) << 8
        // Sign-extended from 24 bits.
        let continued = last + Int64(step >> 8)
        lastReference = continued
        return continued * 64_000
    }

    private func resolve(_ outcomes: inout [PacketOutcome]) {
        guard let newestArrived else { return }
        var unresolved: Int?
        var number = oldest
        while number < next {
            let slot = ring[number]
            if !slot.isResolved {
                guard newestArrived - slot.sentAt > Self.overtaking else { break }
                if slot.isMissing {
                    outcomes.append(
                        PacketOutcome(
                            size: Int(slot.size), sentAt: slot.sentAt, arrival: nil))
                    ring[number].isResolved = true
                } else if newestArrived - slot.sentAt > .seconds(1) {
                    ring[number].isResolved = true
                } else if unresolved == nil {
                    // Feedback about it may still come.
                    unresolved = number
                }
            }
            number += 1
        }
        oldest = unresolved ?? number
    }
}
