package import OffhookBasics

/// Puts one source's audio packets in order, evens out their delay, and decides what to play (RFC 3550 §6.4.1 and the
/// adaptive buffers that follow from it).
///
/// It never plays by the clock of its own: the player pulls, and what is missing by then is made up for. The delay grows
/// by concealment when packets come late, and by `expand`; it shrinks by `accelerate`.
package final class AudioReceiveStream {
    private struct Slot {
        var number = -1
        /// Nil for packets that take a number but no playing time: events, comfort noise, unknown payloads.
        var packet: AudioPacket?
        var clockRate = 8000
        var units = 0
        var isOpus = false
        /// What comes after this is a pause of the sender (RFC 3389, or Opus DTX).
        var startsPause = false
    }

    private enum State {
        /// No stream, or a pause: the next packet starts buffering.
        case idle
        /// The packet with this number waits until the target delay is reached.
        case buffering(first: Int)
        case playing
    }

    private let ring = SlotRing(capacity: 512, repeating: Slot())
    private let range: ClosedRange<Duration>
    private var state = State.idle
    /// The number to play next, and the timestamp it should have.
    private var nextNumber = 0
    private var nextTimestamp = RTPTimestamp(0)
    private var highestNumber = -1
    private var count = 0
    private var histogram = DelayHistogram()
    private var lastClockRate = 8000
    private var lastUnits = 160
    private var lastIsOpus = false
    private var isPaused = false
    /// Playing time made up while nothing was there, which the missing packets have a claim to.
    private var madeUpUnits = 0
    private var madeUpInRow = Duration.zero
    private var lossRate = 0.0
    private var smoothedDelay: Double?
    private var speed = PlayoutSpeed.normal
    private var sinceUnderrun = 0

    package var extraDelay = Duration.zero
    package private(set) var latePackets = 0
    package private(set) var duplicatePackets = 0
    package private(set) var concealed = Duration.zero
    package private(set) var recovered = Duration.zero
    package private(set) var played = Duration.zero
    /// The timestamp of what was played last.
    package private(set) var lastPlayed: RTPTimestamp?

    package init(delayRange: ClosedRange<Duration>) {
        range = delayRange
    }

    // MARK: Packets in

    /// Takes a packet with its extended number; it is kept or given back.
    package func insert(
        _ packet: PacketBuffer, header: RTPHeader, number: Int, format: PayloadFormat, at now: Instant,
        pool: inout PacketPool
    ) {
        guard claim(number, giving: packet, to: &pool) else { return }
        let units = payloadUnits(packet, header, format)
        ring[number] = Slot(
            number: number,
            packet: AudioPacket(
                buffer: packet, payloadRange: header.payloadRange, payloadType: header.payloadType,
                timestamp: header.timestamp, marker: header.marker,
                duration: Self.duration(units, clockRate: format.clockRate), receiveTime: now),
            clockRate: format.clockRate, units: units, isOpus: format.codec == .opus,
            startsPause: format.codec == .opus && header.payloadRange.count <= 2)
        count += 1
        if number >= highestNumber {
            _ = histogram.insert(timestamp: header.timestamp, clockRate: format.clockRate, at: now)
            histogram.moveReference(to: header.timestamp)
        } else {
            lateness(of: header.timestamp, format.clockRate, at: now)
        }
        highestNumber = max(highestNumber, number)
        start(with: number)
    }

    /// Takes note of a number that brings no sound, so that it is not taken for lost.
    package func skip(number: Int, startsPause: Bool = false) {
        if case .idle = state {
            if startsPause { isPaused = true }
            return
        }
        guard number >= nextNumber, number - nextNumber < ring.capacity, ring[number].number != number else { return }
        ring[number] = Slot(number: number, startsPause: startsPause)
        count += 1
        highestNumber = max(highestNumber, number)
    }

    /// Drops everything: another source, or numbers that start anew.
    package func reset(pool: inout PacketPool) {
        if count > 0 {
            for number in 0..<ring.capacity { release(number, pool: &pool) }
        }
        count = 0
        highestNumber = -1
        state = .idle
        madeUpUnits = 0
        madeUpInRow = .zero
        isPaused = false
        histogram = DelayHistogram()
        smoothedDelay = nil
    }

    private func claim(_ number: Int, giving packet: PacketBuffer, to pool: inout PacketPool) -> Bool {
        if case .idle = state { return true }
        if number < nextNumber {
            latePackets += 1
            if case .buffering(let first) = state, number < first, first - number < 32 {
                // It overtook the one that started the stream, and nothing is played yet.
                latePackets -= 1
                nextNumber = number
                state = .buffering(first: number)
                return true
            }
            pool.give(packet)
            return false
        }
        if ring[number].number == number {
            duplicatePackets += 1
            pool.give(packet)
            return false
        }
        if number - nextNumber >= ring.capacity {
            drop(to: number, pool: &pool)
        }
        return true
    }

    private func start(with number: Int) {
        guard case .idle = state else { return }
        nextNumber = number
        state = .buffering(first: number)
    }

    private func lateness(of timestamp: RTPTimestamp, _ clockRate: Int, at now: Instant) {
        _ = histogram.insert(timestamp: timestamp, clockRate: clockRate, at: now)
    }

    private func payloadUnits(_ packet: PacketBuffer, _ header: RTPHeader, _ format: PayloadFormat) -> Int {
        let payload = packet.bytes.extracting(header.payloadRange)
        if let units = PayloadDuration.units(of: payload, codec: format.codec), units > 0 { return units }
        return format.clockRate / 50
    }

    // MARK: Sound out

    /// The next stretch to play. Whoever gets a packet gives its buffer back.
    package func next(at now: Instant, pool: inout PacketPool) -> (playout: AudioPlayout, speed: PlayoutSpeed) {
        let playout = decide(at: now, pool: &pool)
        switch playout {
        case .packet: played += playout.duration
        case .forwardErrorCorrection:
            played += playout.duration
            recovered += playout.duration
        case .conceal:
            played += playout.duration
            concealed += playout.duration
        case .silence: break
        }
        guard case .packet = playout else { return (playout, .normal) }
        return (playout, speed)
    }

    private func decide(at now: Instant, pool: inout PacketPool) -> AudioPlayout {
        if case .idle = state { return .silence(.milliseconds(10)) }
        skipSoundless()
        if case .buffering = state {
            guard count > 0, isDue(at: now) else { return waitForDelay() }
            state = .playing
            if let packet = ring[nextNumber].packet, ring[nextNumber].number == nextNumber {
                nextTimestamp = packet.timestamp
            }
            madeUpUnits = 0
        }
        dropExcess(at: now, pool: &pool)
        if count == 0 { return underrun() }
        if ring[nextNumber].number == nextNumber { return playNext(at: now) }
        return bridgeGap(at: now, pool: &pool)
    }

    /// Passes over numbers that bring no sound.
    private func skipSoundless() {
        while count > 0, ring[nextNumber].number == nextNumber, ring[nextNumber].packet == nil {
            if ring[nextNumber].startsPause { isPaused = true }
            ring[nextNumber] = Slot()
            count -= 1
            nextNumber += 1
        }
        if count == 0, isPaused { state = .idle }
    }

    private func waitForDelay() -> AudioPlayout {
        .silence(.milliseconds(10))
    }

    /// Whether the first packet there is has waited long enough.
    private func isDue(at now: Instant) -> Bool {
        guard let slot = firstSlot(), let packet = slot.packet else { return false }
        let delay = histogram.delay(of: packet.timestamp, clockRate: slot.clockRate, at: now)
        let waited = now - packet.receiveTime
        if waited >= target { return true }
        return (delay ?? 0) >= target.inMilliseconds
    }

    private func firstSlot() -> Slot? {
        guard count > 0 else { return nil }
        var number = nextNumber
        while number <= highestNumber {
            if ring[number].number == number, ring[number].packet != nil { return ring[number] }
            number += 1
        }
        return nil
    }

    private func playNext(at now: Instant) -> AudioPlayout {
        guard let packet = ring[nextNumber].packet else { return .silence(.milliseconds(10)) }
        let slot = ring[nextNumber]
        if slot.clockRate != lastClockRate {
            // Another codec with another clock: timestamps before and after have nothing to do with each other.
            nextTimestamp = packet.timestamp
        }
        let ahead = packet.timestamp - nextTimestamp
        if ahead > slot.units / 2, ahead - madeUpUnits > slot.units / 2, !isDue(at: now) {
            // The sender paused between the two; the pause is played as long as it was.
            return .silence(.milliseconds(10))
        }
        take(slot)
        measure(packet.timestamp, slot.clockRate, at: now)
        lossRate *= 0.98
        return .packet(packet)
    }

    private func take(_ slot: Slot) {
        ring[nextNumber] = Slot()
        count -= 1
        nextNumber += 1
        lastClockRate = slot.clockRate
        lastUnits = slot.units
        lastIsOpus = slot.isOpus
        isPaused = slot.startsPause
        madeUpUnits = 0
        madeUpInRow = .zero
        sinceUnderrun += 1
        if let packet = slot.packet {
            nextTimestamp = packet.timestamp.advanced(by: slot.units)
            lastPlayed = packet.timestamp
        }
    }

    /// The next packet is missing, and later ones are there.
    private func bridgeGap(at now: Instant, pool: inout PacketPool) -> AudioPlayout {
        var number = nextNumber
        while number <= highestNumber, ring[number].number != number { number += 1 }
        guard number <= highestNumber else { return underrun() }
        guard let following = ring[number].packet else {
            // Only events and the like come after the gap.
            nextNumber = number
            skipSoundless()
            return makeUp(lastUnits)
        }
        let slot = ring[number]
        let missing = slot.clockRate == lastClockRate ? following.timestamp - nextTimestamp - madeUpUnits : 0
        let packets = number - nextNumber
        guard missing > slot.units / 2 else {
            // The missing numbers took no playing time, or it has been made up already.
            nextNumber = number
            lossRate = min(1, lossRate + 0.02)
            return playNext(at: now)
        }
        if missing > (packets + 1) * max(slot.units, lastUnits) * 2 {
            // The sender paused as well; what was lost is the smaller part.
            nextNumber = number
            return playNext(at: now)
        }
        lossRate = min(1, lossRate + 0.02)
        if missing <= slot.units + slot.units / 2 {
            nextNumber = number
            nextTimestamp = following.timestamp
            madeUpUnits = 0
            if slot.isOpus { return .forwardErrorCorrection(copy(following, pool: &pool)) }
            let units = missing
            return .conceal(Self.duration(units, clockRate: slot.clockRate))
        }
        let units = max(1, min(missing, lastUnits))
        nextTimestamp = nextTimestamp.advanced(by: units)
        if packets > 1 { nextNumber += 1 }
        return .conceal(Self.duration(units, clockRate: slot.clockRate))
    }

    private func copy(_ packet: AudioPacket, pool: inout PacketPool) -> AudioPacket {
        let buffer = pool.take()
        buffer.assign(packet.payload)
        var copy = packet
        copy.buffer = buffer
        copy.payloadRange = 0..<buffer.count
        return copy
    }

    /// Nothing is there: late, lost, or a pause that was not announced.
    private func underrun() -> AudioPlayout {
        if isPaused || madeUpInRow >= .milliseconds(120) {
            if isPaused || madeUpInRow >= .milliseconds(400) { state = .idle }
            madeUpInRow += .milliseconds(10)
            return .silence(.milliseconds(10))
        }
        sinceUnderrun = 0
        return makeUp(lastUnits)
    }

    private func makeUp(_ units: Int) -> AudioPlayout {
        let duration = Self.duration(units, clockRate: lastClockRate)
        madeUpUnits += units
        madeUpInRow += duration
        return .conceal(duration)
    }

    // MARK: Delay

    /// The delay that is aimed for.
    package var target: Duration {
        var milliseconds = histogram.highDelay + 10
        // Forward error correction needs the packet after the lost one in time.
        if lossRate > 0.01, lastIsOpus {
            milliseconds += Self.duration(lastUnits, clockRate: lastClockRate).inMilliseconds
        }
        let wanted = Duration.nanoseconds(Int64(milliseconds * 1e6))
        return min(range.upperBound, max(range.lowerBound, wanted)) + extraDelay
    }

    /// The delay that there is, smoothed.
    package var delay: Duration {
        .nanoseconds(Int64(max(0, smoothedDelay ?? 0) * 1e6))
    }

    private func measure(_ timestamp: RTPTimestamp, _ clockRate: Int, at now: Instant) {
        guard let delay = histogram.delay(of: timestamp, clockRate: clockRate, at: now) else { return }
        let smoothed = smoothedDelay.map { $0 + (delay - $0) / 8 } ?? delay
        smoothedDelay = smoothed
        let wanted = target.inMilliseconds
        switch speed {
        case .normal:
            if smoothed > wanted + max(20, wanted / 4) {
                speed = .accelerate
            } else if smoothed < wanted - 6 {
                speed = .expand
            }
        // Changes end by the delay as it is: the smoothed one lags behind, and would overshoot into a hole.
        case .accelerate: if delay <= wanted + 4 { settle(at: delay) }
        case .expand: if delay >= wanted { settle(at: delay) }
        }
    }

    private func settle(at delay: Double) {
        speed = .normal
        smoothedDelay = delay
    }

    /// After a stall of the network or of the player there may be far more than anyone wants to hear late.
    private func dropExcess(at now: Instant, pool: inout PacketPool) {
        while count > 1, let slot = firstSlot(), let packet = slot.packet,
            let delay = histogram.delay(of: packet.timestamp, clockRate: slot.clockRate, at: now),
            delay > (range.upperBound + extraDelay).inMilliseconds + 200
        {
            let units = slot.units
            let number = slot.number
            release(number, pool: &pool)
            nextNumber = number + 1
            nextTimestamp = packet.timestamp.advanced(by: units)
            smoothedDelay = nil
        }
    }

    private func drop(to number: Int, pool: inout PacketPool) {
        for old in 0..<ring.capacity { release(old, pool: &pool) }
        count = 0
        nextNumber = number
        state = .buffering(first: number)
    }

    private func release(_ number: Int, pool: inout PacketPool) {
        if let packet = ring[number].packet { pool.give(packet.buffer) }
        if ring[number].number >= 0 { count -= 1 }
        ring[number] = Slot()
    }

    private static func duration(_ units: Int, clockRate: Int) -> Duration {
        .nanoseconds(Int64(units) * 1_000_000_000 / Int64(max(1, clockRate)))
    }
}
