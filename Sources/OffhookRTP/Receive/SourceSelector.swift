package import OffhookBasics

/// Decides which source a line plays: the one that is there, until a new one keeps coming (RFC 3550 §5.1, A.1).
///
/// A few packets in a row of another source take over. A stray packet does not, and a source that was left behind
/// comes back only when the one that replaced it has fallen silent, so two senders at once do not make us flap.
package struct SourceSelector: Sendable {
    package enum Verdict: Hashable, Sendable {
        case current
        /// The packet's source is the one to play from here on.
        case switched
        case stray
    }

    private static let neededInRow = 3
    private static let silence = Duration.milliseconds(200)

    private struct Candidate: Sendable {
        var ssrc: SSRC
        var next: SequenceNumber
        var count: Int
    }

    package private(set) var current: SSRC?
    private var lastPacket: Instant = .zero
    private var candidate: Candidate?
    private var abandoned: [SSRC] = []

    package init() {}

    package mutating func receive(_ ssrc: SSRC, _ number: SequenceNumber, at now: Instant) -> Verdict {
        if ssrc == current {
            lastPacket = now
            return .current
        }
        guard current != nil else { return take(ssrc, at: now) }
        if var known = candidate, known.ssrc == ssrc {
            let distance = number - known.next
            known.count =
                (0...2).contains(distance) ? known.count + 1 : (distance < 0 && distance > -8 ? known.count : 1)
            known.next = distance >= -8 && distance < 0 ? known.next : number.advanced(by: 1)
            candidate = known
        } else {
            candidate = Candidate(ssrc: ssrc, next: number.advanced(by: 1), count: 1)
        }
        guard let candidate, candidate.count >= Self.neededInRow else { return .stray }
        if abandoned.contains(ssrc), now - lastPacket < Self.silence { return .stray }
        return take(ssrc, at: now)
    }

    /// The current source has said goodbye; any other may follow at once.
    package mutating func forgetCurrent() {
        current = nil
        candidate = nil
    }

    private mutating func take(_ ssrc: SSRC, at now: Instant) -> Verdict {
        if let current {
            abandoned.append(current)
            if abandoned.count > 8 { abandoned.removeFirst() }
        }
        abandoned.removeAll { $0 == ssrc }
        current = ssrc
        candidate = nil
        lastPacket = now
        return .switched
    }
}
