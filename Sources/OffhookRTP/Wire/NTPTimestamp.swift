package import OffhookBasics

/// Wall-clock time as RTCP tells it: seconds since 1900 in 32.32 fixed point (RFC 3550 §4).
package struct NTPTimestamp: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The time a Unix clock shows.
    package init(unixNanoseconds: Int64) {
        let seconds = UInt64(bitPattern: unixNanoseconds / 1_000_000_000 &+ 2_208_988_800)
        let rest = UInt64(bitPattern: max(0, unixNanoseconds % 1_000_000_000))
        rawValue = seconds << 32 | (rest << 32) / 1_000_000_000
    }

    /// Whole seconds as a Unix clock counts them.
    package var unixSeconds: Int64 {
        Int64(rawValue >> 32) - 2_208_988_800
    }

    /// The middle 32 bits, as LSR and DLSR use them: units of 1/65536 s.
    package var middle: UInt32 {
        UInt32(truncatingIfNeeded: rawValue >> 16)
    }

    package static func < (left: NTPTimestamp, right: NTPTimestamp) -> Bool {
        left.rawValue < right.rawValue
    }

    package func advanced(by duration: Duration) -> NTPTimestamp {
        let nanoseconds = duration.inNanoseconds
        let magnitude = nanoseconds.magnitude
        let fixed = (magnitude / 1_000_000_000) << 32 | ((magnitude % 1_000_000_000) << 32) / 1_000_000_000
        return NTPTimestamp(rawValue: nanoseconds < 0 ? rawValue &- fixed : rawValue &+ fixed)
    }

    /// The time from the right moment to the left one, by the shorter way round.
    package static func - (left: NTPTimestamp, right: NTPTimestamp) -> Duration {
        let difference = Int64(bitPattern: left.rawValue &- right.rawValue)
        let seconds = difference >> 32
        let fraction = difference & 0xFFFF_FFFF
        return .nanoseconds(seconds &* 1_000_000_000 &+ (fraction &* 1_000_000_000) >> 32)
    }
}

/// Ties the monotonic clock to the wall clock, so that reports can say the time without reading a clock.
package struct NTPClock: Sendable {
    private let origin: NTPTimestamp
    private let instant: Instant

    /// A clock that shows `origin` at `instant`.
    package init(_ origin: NTPTimestamp, at instant: Instant) {
        self.origin = origin
        self.instant = instant
    }

    package func time(at now: Instant) -> NTPTimestamp {
        origin.advanced(by: now - instant)
    }
}
