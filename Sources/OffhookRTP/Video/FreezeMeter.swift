internal import OffhookBasics

/// Counts freezes as a viewer sees them: no new picture for more than max(3 × average, average + 150 ms).
///
/// The rule and the average over the last 30 pictures are those of W3C webrtc-stats (`freezeCount`).
struct FreezeMeter {
    private var intervals = InlineArray<30, Double>(repeating: 0)
    private var filled = 0
    private var position = 0
    private var lastFrame: Instant?
    private(set) var count = 0
    private var total = Duration.zero

    mutating func frame(at now: Instant) {
        defer { lastFrame = now }
        guard let lastFrame else { return }
        let interval = (now - lastFrame).inMilliseconds
        if let threshold, interval > threshold {
            count += 1
            total += now - lastFrame
        }
        intervals[position] = interval
        position = (position + 1) % 30
        filled = min(30, filled + 1)
    }

    /// Pictures are not expected for a while: what comes next ends no freeze.
    mutating func pause() {
        lastFrame = nil
    }

    /// All freezes, the one that may be going on included.
    func duration(at now: Instant) -> Duration {
        guard let lastFrame, let threshold, (now - lastFrame).inMilliseconds > threshold else { return total }
        return total + (now - lastFrame)
    }

    private var threshold: Double? {
        guard filled > 0 else { return nil }
        var sum = 0.0
        for index in 0..<filled { sum += intervals[index] }
        let average = sum / Double(filled)
        return max(3 * average, average + 150)
    }
}
