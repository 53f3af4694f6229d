package import OffhookBasics

/// How many bits a second arrive, by the far end's clock.
package struct DeliveryRate: Sendable {
    private var arrivals = InlineArray<1024, (time: Int64, size: Int32)>(repeating: (0, 0))
    private var count = 0
    private var newest: Int64 = .min
    private var first: Int64?

    package init() {}

    package mutating func note(size: Int, arrival: Int64) {
        arrivals[count & 1023] = (arrival, Int32(clamping: size))
        count += 1
        newest = max(newest, arrival)
        first = min(first ?? arrival, arrival)
    }

    /// Over the last stretch of time before the newest arrival, or before an instant of the same clock; nil while less
    /// than half of it has been seen.
    package func bitsPerSecond(over window: Duration, until end: Instant? = nil) -> Int? {
        guard let first else { return nil }
        let newest = end.map { $0.nanoseconds / 1000 } ?? newest
        let length = window.inNanoseconds / 1000
        let seen = min(length, newest - first)
        guard seen >= length / 2 else { return nil }
        var bytes = 0
        var index = 1
        while index <= min(count, 1024) {
            let packet = arrivals[(count - index) & 1023]
            // Arrivals are almost in order: far behind, none belongs to the window.
            if packet.time < newest - length - 200_000 { break }
            if packet.time > newest - length { bytes += Int(packet.size) }
            index += 1
        }
        return Int(Double(bytes) * 8e6 / Double(seen))
    }
}
