package import OffhookBasics

/// When to ask the sender of a video for a key frame: at once where one is needed, and again, ever less often, until one is
/// there.
package struct KeyFrameRequester: Sendable {
    private static let firstInterval = Duration.milliseconds(500)
    private static let longestInterval = Duration.seconds(4)

    private var isNeeded = false
    private var interval = Self.firstInterval
    private var lastRequest: Instant?

    package init() {}

    package mutating func need() {
        isNeeded = true
    }

    /// A key frame is there.
    package mutating func satisfy() {
        isNeeded = false
        interval = Self.firstInterval
    }

    package var nextDeadline: Instant? {
        guard isNeeded else { return nil }
        return lastRequest.map { $0 + interval } ?? .zero
    }

    /// Whether a request should go out now; it counts as sent.
    package mutating func takeRequest(at now: Instant) -> Bool {
        guard let deadline = nextDeadline, now >= deadline else { return false }
        if let lastRequest, now - lastRequest < Self.longestInterval * 2 {
            interval = min(Self.longestInterval, interval * 3 / 2)
        }
        lastRequest = now
        return true
    }
}
