internal import OffhookBasics

/// Turns requests for key frames into demands on our encoder: one for each burst of requests (RFC 4585 §6.3.1,
/// RFC 5104 §4.3.1).
struct KeyFrameDemand {
    /// A demand that the encoder has not met by then may be made again.
    private static let patience = Duration.seconds(1)

    private var demandedAt: Instant?
    private var lastKeyFrame: Instant?
    private var lastIntraRequest: [SSRC: UInt8] = [:]

    /// Whether the encoder should be told.
    mutating func request(at now: Instant, roundTrip: Duration?) -> Bool {
        if let demandedAt, now - demandedAt < Self.patience { return false }
        // What was asked for before the last key frame can have arrived is answered by it; a little less than a round trip,
        // since its loss is seen when its first packet is missing.
        let flight = min(.milliseconds(500), (roundTrip ?? .milliseconds(30)) * 3 / 4)
        if let lastKeyFrame, now - lastKeyFrame < flight { return false }
        demandedAt = now
        return true
    }

    /// A FIR counts once: its repeats bear the same number.
    mutating func intraRequest(_ number: UInt8, from sender: SSRC, at now: Instant, roundTrip: Duration?) -> Bool {
        guard lastIntraRequest[sender] != number else { return false }
        if lastIntraRequest.count >= 64 { lastIntraRequest.removeAll() }
        lastIntraRequest[sender] = number
        return request(at: now, roundTrip: roundTrip)
    }

    mutating func keyFrameSent(at now: Instant) {
        demandedAt = nil
        lastKeyFrame = now
    }
}
