import Offhook

/// Reads the number and the clock in each received test picture.
final class PictureChecker: VideoSink {
    struct Findings: Sendable {
        /// Pictures that came.
        var pictures = 0
        /// Pictures whose number could be read.
        var readable = 0
        /// Pictures whose number was not above the one before.
        var outOfOrder = 0
        var lastNumber = -1
        var size: VideoSize?
        /// From the drawing of a picture to its arrival here.
        var latencies: [Duration] = []
        var firstArrival: Instant?
        var lastArrival: Instant?

        /// Pictures a second between the first and the last.
        var frameRate: Double {
            guard let firstArrival, let lastArrival, pictures > 1 else { return 0 }
            return Double(pictures - 1) / max((lastArrival - firstArrival).inSeconds, 0.001)
        }

        /// The latency that this share of the pictures did not exceed.
        func latency(percentile: Double) -> Duration? {
            guard !latencies.isEmpty else { return nil }
            let sorted = latencies.sorted()
            return sorted[min(Int(Double(sorted.count) * percentile), sorted.count - 1)]
        }
    }

    private let state = Lock(Findings())
    private let reader = TestPatternReader()
    /// Gets one picture, the fifteenth.
    private let snapshot: (any VideoSink)?
    static let snapshotPicture = 15

    init(snapshot: (any VideoSink)? = nil) {
        self.snapshot = snapshot
    }

    var findings: Findings { state.withLock { $0 } }

    func handleVideoFrame(_ frame: VideoFrame) {
        let now = Instant.now
        let pattern = reader.read(frame)
        let count = state.withLock { findings in
            findings.pictures += 1
            findings.size = frame.size
            findings.firstArrival = findings.firstArrival ?? now
            findings.lastArrival = now
            if let pattern {
                findings.readable += 1
                if pattern.frameNumber <= findings.lastNumber { findings.outOfOrder += 1 }
                findings.lastNumber = pattern.frameNumber
                findings.latencies.append(pattern.age(at: now))
            }
            return findings.pictures
        }
        if count == Self.snapshotPicture { snapshot?.handleVideoFrame(frame) }
    }
}
