package import OffhookBasics

/// When a request is sent again, and when it is given up (RFC 8489 §6.2.1, §6.2.2).
package struct STUNRetransmission: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        case wait
        case resend
        case timedOut
    }

    /// Rm: how many initial timeouts the last request is waited for.
    private static let lastWait = 16
    /// Ti: how long an answer is waited for where the transport repeats by itself.
    private static let reliableTimeout = Duration.milliseconds(39_500)

    /// When to take the next step.
    package private(set) var deadline: Instant
    /// When the request was sent last.
    package private(set) var lastSentAt: Instant
    private let initialTimeout: Duration
    private var interval: Duration
    private var requestsLeft: Int
    private var steadyLeft: Int

    /// The first request is sent now; it is repeated `steadyCount` times before the time to the next repetition doubles each
    /// time.
    package init(
        initialTimeout: Duration = .milliseconds(500), requestCount: Int = 7, steadyCount: Int = 0,
        isReliable: Bool = false, at now: Instant
    ) {
        self.initialTimeout = initialTimeout
        lastSentAt = now
        steadyLeft = steadyCount
        interval = initialTimeout
        requestsLeft = isReliable ? 0 : max(requestCount - 1, 0)
        if isReliable {
            deadline = now + Self.reliableTimeout
        } else {
            deadline = now + (requestCount > 1 ? initialTimeout : initialTimeout * Self.lastWait)
        }
    }

    package mutating func step(at now: Instant) -> Step {
        guard now >= deadline else { return .wait }
        guard requestsLeft > 0 else { return .timedOut }
        requestsLeft -= 1
        lastSentAt = now
        if steadyLeft > 0 { steadyLeft -= 1 } else { interval = interval * 2 }
        deadline = now + (requestsLeft > 0 ? interval : initialTimeout * Self.lastWait)
        return .resend
    }
}
