internal import OffhookBasics

/// Packets that went out a moment ago, in the clear, for those who miss them.
final class PacketHistory {
    private struct Slot {
        var number = -1
        var packet: PacketBuffer?
        var sentAt = Instant.zero
        var resentAt: Instant?
        /// Whether the packet has left, with its transport-wide number.
        var isStamped = false
    }

    private static let memory = Duration.seconds(2)

    private let ring = SlotRing(capacity: 1024, repeating: Slot())
    private var oldest = 0
    private var newest = -1

    /// Keeps a copy: the packet itself is encrypted in place.
    func insert(_ packet: PacketBuffer, number: Int, at now: Instant, pool: inout PacketPool) {
        if newest < 0 { oldest = number }
        let copy = pool.take()
        copy.assign(packet.bytes)
        if number - oldest >= ring.capacity { release(number - ring.capacity, pool: &pool) }
        ring[number] = Slot(number: number, packet: copy, sentAt: now)
        newest = number
        oldest = max(oldest, number - ring.capacity + 1)
        while oldest < newest, now - ring[oldest].sentAt > Self.memory {
            release(oldest, pool: &pool)
            oldest += 1
        }
    }

    /// The packet to repeat; nil where it is gone, or was repeated so lately that the repeat is still under way.
    func packet(_ sequence: SequenceNumber, at now: Instant, spacing: Duration) -> PacketBuffer? {
        guard newest >= 0 else { return nil }
        let distance = sequence - SequenceNumber(UInt16(truncatingIfNeeded: newest))
        let number = newest + distance
        guard distance <= 0, number >= oldest, ring[number].number == number, let packet = ring[number].packet else {
            return nil
        }
        if let resentAt = ring[number].resentAt, now - resentAt < spacing { return nil }
        ring[number].resentAt = now
        return packet
    }

    /// Whether a packet has been repeated already.
    func isRepeated(_ sequence: SequenceNumber) -> Bool {
        number(of: sequence).map { ring[$0].resentAt != nil } ?? false
    }

    /// The copy of a packet that leaves now, for its transport-wide number; nil where there is none.
    func stampable(_ sequence: SequenceNumber) -> PacketBuffer? {
        guard let number = number(of: sequence) else { return nil }
        ring[number].isStamped = true
        return ring[number].packet
    }

    func isStamped(_ sequence: SequenceNumber) -> Bool {
        number(of: sequence).map { ring[$0].isStamped } ?? false
    }

    private func number(of sequence: SequenceNumber) -> Int? {
        guard newest >= 0 else { return nil }
        let number = newest + (sequence - SequenceNumber(UInt16(truncatingIfNeeded: newest)))
        guard number >= oldest, number <= newest, ring[number].number == number else { return nil }
        return number
    }

    func contains(_ sequence: SequenceNumber, timestamp: RTPTimestamp) -> Bool {
        guard newest >= 0 else { return false }
        let number = newest + (sequence - SequenceNumber(UInt16(truncatingIfNeeded: newest)))
        guard number >= oldest, number <= newest, ring[number].number == number, let packet = ring[number].packet,
            let header = try? RTPHeader(parsing: packet.bytes)
        else { return false }
        return header.timestamp == timestamp
    }

    func removeAll(pool: inout PacketPool) {
        while oldest <= newest {
            release(oldest, pool: &pool)
            oldest += 1
        }
        newest = -1
    }

    private func release(_ number: Int, pool: inout PacketPool) {
        if let packet = ring[number].packet { pool.give(packet) }
        ring[number] = Slot()
    }
}
