package import OffhookBasics

/// Sends key presses as RFC 4733 packets: one at a time, each repeated with a growing duration, its end three times.
package struct TelephoneEventSender: Sendable {
    /// One packet to send.
    package struct Packet: Hashable, Sendable {
        package var event: TelephoneEvent
        package var isFirst: Bool
        package var isEnd: Bool
        /// In units of the event's clock, from the start of the press.
        package var duration: UInt16
        /// This packet is the last of its event.
        package var isLast: Bool

        /// The four bytes of §2.3; the volume is −10 dBm0.
        package func write(to buffer: PacketBuffer) {
            buffer.append(event.code)
            buffer.append((isEnd ? 0x80 : 0) | 10)
            buffer.appendBigEndian(duration)
        }
    }

    private struct Press: Sendable {
        var event: TelephoneEvent
        var duration: Duration
    }

    private enum State: Sendable {
        case idle
        /// The key is down; `updates` packets are out.
        case pressing(Press, updates: Int, nextAt: Instant)
        /// The key is up; `repeats` end packets are still to come.
        case ending(Press, repeats: Int, nextAt: Instant)
        case pausing(until: Instant)
    }

    private static let interval = Duration.milliseconds(20)
    private static let pause = Duration.milliseconds(100)
    private static let endPackets = 3

    private var state = State.idle
    private var queue: [Press] = []

    package init() {}

    /// Whether a press is going out, so that sound gives way to it.
    package var isPressing: Bool {
        switch state {
        case .pressing, .ending: true
        case .idle, .pausing: false
        }
    }

    package mutating func send(_ event: TelephoneEvent, duration: Duration) {
        // §2.5.1.3's segments are for presses of more than eight seconds; no dial pad asks for one.
        let length = min(.seconds(5), max(.milliseconds(40), duration))
        guard queue.count < 256 else { return }
        queue.append(Press(event: event, duration: length))
    }

    package mutating func removeAll() {
        queue.removeAll()
        state = .idle
    }

    package var nextDeadline: Instant? {
        switch state {
        case .idle: queue.isEmpty ? nil : .zero
        case .pressing(_, _, let at), .ending(_, _, let at): at
        case .pausing(let until): until
        }
    }

    /// The packet that is due, if one is; ask again until none is.
    package mutating func next(at now: Instant, clockRate: Int) -> Packet? {
        switch state {
        case .idle: return startPress(at: now, clockRate: clockRate)
        case .pausing(let until):
            guard now >= until else { return nil }
            state = .idle
            return startPress(at: now, clockRate: clockRate)
        case .pressing(let press, let updates, let nextAt):
            guard now >= nextAt else { return nil }
            let pressed = min(press.duration, Self.interval * (updates + 1))
            let packet = Packet(
                event: press.event, isFirst: false, isEnd: pressed >= press.duration,
                duration: Self.units(pressed, clockRate), isLast: false)
            // A late timer does not make the far end hear a burst: the cadence goes on from now.
            let following = max(nextAt + Self.interval, now)
            state =
                packet.isEnd
                ? .ending(press, repeats: Self.endPackets - 1, nextAt: following)
                : .pressing(press, updates: updates + 1, nextAt: following)
            return packet
        case .ending(let press, let repeats, let nextAt):
            guard now >= nextAt else { return nil }
            let packet = Packet(
                event: press.event, isFirst: false, isEnd: true, duration: Self.units(press.duration, clockRate),
                isLast: repeats == 1)
            state =
                repeats == 1
                ? .pausing(until: now + Self.pause)
                : .ending(press, repeats: repeats - 1, nextAt: max(nextAt + Self.interval, now))
            return packet
        }
    }

    private mutating func startPress(at now: Instant, clockRate: Int) -> Packet? {
        guard !queue.isEmpty else { return nil }
        let press = queue.removeFirst()
        state = .pressing(press, updates: 1, nextAt: now + Self.interval)
        return Packet(
            event: press.event, isFirst: true, isEnd: false, duration: Self.units(Self.interval, clockRate),
            isLast: false)
    }

    private static func units(_ duration: Duration, _ clockRate: Int) -> UInt16 {
        UInt16(clamping: duration.inNanoseconds / 1000 * Int64(clockRate) / 1_000_000)
    }
}
