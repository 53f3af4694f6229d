package import OffhookBasics

/// Spreads packets over time, so that a large picture does not fill a queue on the way (RFC 8836 §2).
///
/// Repeats go before new packets: somebody waits for them. Sound does not come here at all. The queue is emptied
/// within a third of a second however low the rate is: a picture held back longer is of no use.
package struct Pacer {
    package struct Entry {
        package var packet: PacketBuffer
        package var isRepeat: Bool
    }

    private struct Queue {
        private var entries: [Entry?] = []
        private var head = 0

        var count: Int { entries.count - head }
        private(set) var bytes = 0

        mutating func append(_ entry: Entry) {
            bytes += entry.packet.count
            entries.append(entry)
        }

        mutating func removeFirst() -> Entry? {
            guard head < entries.count, let entry = entries[head] else { return nil }
            entries[head] = nil
            head += 1
            bytes -= entry.packet.count
            if head == entries.count {
                entries.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 512 {
                entries.removeFirst(head)
                head = 0
            }
            return entry
        }
    }

    /// Packets leave in small groups rather than one by one, which spares timers.
    private static let burst = Duration.milliseconds(5)
    private static let longestWait = 0.33
    private static let mostPackets = 1000

    private var repeats = Queue()
    private var media = Queue()
    private var freeAt = Instant.zero
    /// Bits a second.
    package var rate = 1_000_000

    package init() {}

    package var queuedBytes: Int { repeats.bytes + media.bytes }
    package var isEmpty: Bool { repeats.count + media.count == 0 }

    package mutating func append(_ packet: PacketBuffer, isRepeat: Bool = false) {
        let entry = Entry(packet: packet, isRepeat: isRepeat)
        if isRepeat { repeats.append(entry) } else { media.append(entry) }
    }

    /// The packet to send now, if any.
    package mutating func next(at now: Instant) -> Entry? {
        let isOverfull = repeats.count + media.count > Self.mostPackets
        guard !isEmpty, isOverfull || freeAt <= now + Self.burst else { return nil }
        let pace = max(Double(rate), Double(queuedBytes) * 8 / Self.longestWait)
        guard let entry = repeats.removeFirst() ?? media.removeFirst() else { return nil }
        let time = Double(entry.packet.count) * 8 / max(1000, pace)
        freeAt = max(freeAt, now) + .nanoseconds(Int64(time * 1e9))
        return entry
    }

    package var nextDeadline: Instant? {
        isEmpty ? nil : freeAt - Self.burst + .milliseconds(1)
    }

    /// Gives back all packets that wait.
    package mutating func removeAll(pool: inout PacketPool) {
        while let entry = repeats.removeFirst() ?? media.removeFirst() { pool.give(entry.packet) }
    }
}
