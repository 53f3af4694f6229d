internal import OffhookBasics

/// Tries that failed, flows that broke, and when to try again.
extension RegistrationMachine {
    mutating func flowFailed(_ reason: String, at now: Instant, actions: inout [Action]) {
        switch state {
        case .registered, .registering: break
        case .idle, .resolving, .waiting, .failed, .unregistering, .stopped: return
        }
        isRecovering = true
        let failure = CallFailure(.signalingLost, reason)
        let isShortLived = boundAt.map { now - $0 < Self.shortLife } ?? false
        shortLivedCount = isShortLived ? shortLivedCount + 1 : 0
        if shortLivedCount > 1 {
            // A server that takes us and breaks off each time is not asked without a pause.
            failureCount = shortLivedCount - 2
            return wait(nextDelay(), failure, actions: &actions, at: now)
        }
        // The first try follows soon, but not from all clients of a server that went away at the same moment.
        wait(.milliseconds(Int(500 + random.next() % 1500)), failure, actions: &actions, at: now)
    }

    /// A flow that broke sooner says something of the server.
    private static var shortLife: Duration { .seconds(60) }

    mutating func fail(_ failure: CallFailure, at now: Instant, actions: inout [Action]) {
        wait(nextDelay(), failure, actions: &actions, at: now)
    }

    mutating func fail(_ refusal: RegistrationRefusal, at now: Instant, actions: inout [Action]) {
        guard refusal.mayPass else {
            state = .failed
            lose()
            return tell(RegistrationStatus(.failed, failure: refusal.failure), actions: &actions)
        }
        wait(max(nextDelay(), refusal.retryAfter ?? .zero), refusal.failure, actions: &actions, at: now)
    }

    mutating func wait(
        _ delay: Duration, _ failure: CallFailure, actions: inout [Action], at now: Instant
    ) {
        if case .registering = state { actions.append(.abandon) }
        state = .waiting(until: now + delay)
        lose()
        var failure = failure
        failure.retryAfter = delay
        tell(RegistrationStatus(.failed, retryAfter: delay, failure: failure), actions: &actions)
    }

    /// Nothing can be sent along the flow any more.
    mutating func lose() {
        binding = nil
        pingAt = nil
        pongDeadline = nil
        hasMoved = false
    }

    /// Doubles from 30 s to half an hour; between half and all of it, at random (RFC 5626 §4.5).
    ///
    /// A flow that was there and was lost is tried for from 5 s on: calls may hang on it.
    mutating func nextDelay() -> Duration {
        let base = Duration.seconds(isRecovering ? 5 : 30)
        let longest = min(base * (1 << min(failureCount, 9)), .seconds(1800))
        failureCount += 1
        return longest * random.fraction(0.5, 1)
    }

    mutating func finish(actions: inout [Action]) {
        state = .stopped
        lose()
        tell(RegistrationStatus(.unregistered), actions: &actions)
        actions.append(.stopped)
    }

    mutating func tell(_ status: RegistrationStatus, actions: inout [Action]) {
        guard status != self.status else { return }
        self.status = status
        actions.append(.changed(status))
    }
}

extension SeededRandom {
    /// A number between these two.
    mutating func fraction(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * Double(next() >> 11) / Double(1 << 53)
    }
}
