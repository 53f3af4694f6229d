internal import OffhookBasics

/// One outgoing source: its numbers, its clock, its counts, and what it can repeat (RFC 3550 §5.1, RFC 4588).
struct RTPSender {
    private(set) var ssrc: SSRC
    private(set) var retransmissionSSRC: SSRC
    let clockOrigin: UInt32
    var extensions = HeaderExtensionWriter()
    var transportSequence: UInt16 = 0

    /// The number of the next packet, continued over the wraps.
    private(set) var nextNumber: Int
    private var nextRetransmission: UInt16
    private let history = PacketHistory()
    private let clock: NTPClock

    private(set) var packets = 0
    private(set) var payloadBytes = 0
    private(set) var bytes = 0
    private(set) var retransmitted = 0
    /// Since the SSRC was taken: what a sender report counts.
    private var reportedPackets: UInt32 = 0
    private var reportedOctets: UInt32 = 0
    /// A timestamp, and the instant that it stands for.
    private(set) var reference: (timestamp: RTPTimestamp, instant: Instant, clockRate: Int)?
    private(set) var lastSent: Instant?

    init(ssrc: SSRC?, retransmissionSSRC: SSRC?, clock: NTPClock, random: inout SeededRandom) {
        self.clock = clock
        self.ssrc = ssrc ?? Self.roll(&random)
        self.retransmissionSSRC = retransmissionSSRC ?? Self.roll(&random)
        // Below the middle, as RFC 3711 §3.3.1 advises so that no early loss wraps.
        nextNumber = 0x1_0000 + Int(random.next() & 0x7FFF)
        nextRetransmission = UInt16(random.next() & 0x7FFF)
        clockOrigin = UInt32(truncatingIfNeeded: random.next())
    }

    private static func roll(_ random: inout SeededRandom) -> SSRC {
        SSRC(UInt32(truncatingIfNeeded: random.next() | 1))
    }

    var nextSequence: SequenceNumber {
        SequenceNumber(UInt16(truncatingIfNeeded: nextNumber))
    }

    /// Starts a packet in a fresh buffer; the caller appends the payload and calls `finish`.
    mutating func start(
        payloadType: UInt8, timestamp: RTPTimestamp, marker: Bool, at now: Instant, pool: inout PacketPool
    ) -> PacketBuffer {
        let buffer = pool.take()
        RTPHeader(
            marker: marker, payloadType: payloadType, sequenceNumber: nextSequence, timestamp: timestamp, ssrc: ssrc
        ).write(to: buffer)
        extensions.append(to: buffer, time: clock.time(at: now), transportSequence: &transportSequence)
        return buffer
    }

    /// Counts a packet whose payload has been appended, and keeps a copy of it where it may be asked for again.
    mutating func finish(
        _ buffer: PacketBuffer, payloadSize: Int, isRepeatable: Bool, at now: Instant, pool: inout PacketPool
    ) {
        if isRepeatable { history.insert(buffer, number: nextNumber, at: now, pool: &pool) }
        nextNumber += 1
        packets += 1
        payloadBytes += payloadSize
        bytes += buffer.count
        reportedPackets &+= 1
        reportedOctets &+= UInt32(truncatingIfNeeded: payloadSize)
        lastSent = now
    }

    mutating func setReference(_ timestamp: RTPTimestamp, at instant: Instant, clockRate: Int) {
        reference = (timestamp, instant, clockRate)
    }

    /// What the media clock shows at an instant.
    func timestamp(at now: Instant) -> RTPTimestamp {
        guard let reference else { return RTPTimestamp(clockOrigin) }
        let nanoseconds = Double((now - reference.instant).inNanoseconds)
        return reference.timestamp.advanced(by: Int((nanoseconds * Double(reference.clockRate) / 1e9).rounded()))
    }

    func makeReport(blocks: [ReportBlock], at now: Instant) -> SenderReport {
        SenderReport(
            ssrc: ssrc, time: clock.time(at: now), timestamp: timestamp(at: now), packetCount: reportedPackets,
            octetCount: reportedOctets, blocks: blocks)
    }

    /// A packet that went out before, once more: as it was, or as a packet of the retransmission stream (RFC 4588 §4).
    mutating func repeated(
        _ sequence: SequenceNumber, retransmissionTypes: [UInt8: UInt8], at now: Instant, spacing: Duration,
        pool: inout PacketPool
    ) -> PacketBuffer? {
        guard let original = history.packet(sequence, at: now, spacing: spacing),
            let header = try? RTPHeader(parsing: original.bytes)
        else { return nil }
        let buffer = pool.take()
        if let payloadType = retransmissionTypes[header.payloadType] {
            buffer.assign(original.bytes.extracting(0..<header.payloadRange.lowerBound))
            buffer[1] = buffer[1] & 0x80 | payloadType & 0x7F
            let number = nextRetransmission
            nextRetransmission &+= 1
            buffer[2] = UInt8(number >> 8)
            buffer[3] = UInt8(truncatingIfNeeded: number)
            for index in 0..<4 {
                buffer[8 + index] = UInt8(truncatingIfNeeded: retransmissionSSRC.rawValue >> UInt32(24 - 8 * index))
            }
            buffer.appendBigEndian(header.sequenceNumber.rawValue)
            buffer.append(original.bytes.extracting(header.payloadRange))
        } else {
            buffer.assign(original.bytes)
        }
        retransmitted += 1
        bytes += buffer.count
        return buffer
    }

    /// Overwrites an extension element as the packet leaves, in the packet and in the copy that repeats it.
    func stamp(_ packet: PacketBuffer, _ header: RTPHeader, _ identifier: UInt8, value: UInt32, size: Int) {
        guard let place = header.extensionElement(identifier, in: packet.bytes), place.count == size else { return }
        let copy = header.ssrc == ssrc ? history.stampable(header.sequenceNumber) : nil
        for (index, offset) in place.enumerated() {
            let byte = UInt8(truncatingIfNeeded: value >> UInt32(8 * (size - 1 - index)))
            packet[offset] = byte
            if let copy, offset < copy.count { copy[offset] = byte }
        }
    }

    func hasRepeated(_ sequence: SequenceNumber) -> Bool { history.isRepeated(sequence) }

    func hasStamped(_ sequence: SequenceNumber) -> Bool { history.isStamped(sequence) }

    /// Whether a packet with our SSRC is one that we sent.
    func isOwn(_ header: RTPHeader) -> Bool {
        let distance = header.sequenceNumber - nextSequence
        guard (-1024..<0).contains(distance) else { return false }
        if history.contains(header.sequenceNumber, timestamp: header.timestamp) { return true }
        guard let reference else { return false }
        return abs(header.timestamp - reference.timestamp) < reference.clockRate * 10
    }

    /// Another SSRC, after a collision (RFC 3550 §8.2). Counts for reports start anew; numbers are new as well.
    mutating func takeNewSource(random: inout SeededRandom, pool: inout PacketPool) {
        ssrc = Self.roll(&random)
        nextNumber = 0x1_0000 + Int(random.next() & 0x7FFF)
        reportedPackets = 0
        reportedOctets = 0
        history.removeAll(pool: &pool)
    }
}
