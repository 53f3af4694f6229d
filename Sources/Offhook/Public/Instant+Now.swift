public import OffhookBasics
internal import OffhookDevices

extension Instant {
    /// The local monotonic clock, by which capture times are told.
    public static var now: Instant { MonotonicClock.now }
}
