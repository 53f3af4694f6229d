package import OffhookBasics

/// Watches how much of the time between pictures encoding takes, and says when to work less thoroughly.
///
/// At `cpu-used` -12 libvpx takes about an eighth less than at -8 and loses 0.2 dB; -16 is its limit.
package struct EncoderLoad: Hashable, Sendable {
    /// Above this share of the time, pictures are about to be dropped.
    private static let high = 0.7
    /// Below this share there is room for the thorough way, with some to spare.
    private static let low = 0.4
    /// Pictures between two changes, so that each is judged by its own effect.
    private static let patience = 30

    private let thorough: Int
    package private(set) var speed: Int
    private var share: Double?
    private var lastCapture: Instant?
    private var picturesSinceChange = 0

    package init(speed: Int) {
        thorough = speed
        self.speed = speed
    }

    /// Takes note of one encoded picture; true where ``speed`` has changed.
    package mutating func note(captureTime: Instant, encodeTime: Duration) -> Bool {
        defer { lastCapture = captureTime }
        guard let lastCapture, captureTime > lastCapture else { return false }
        let new = min(encodeTime.inSeconds / (captureTime - lastCapture).inSeconds, 4)
        let average = share.map { $0 + (new - $0) / 16 } ?? new
        share = average
        picturesSinceChange += 1
        guard picturesSinceChange >= Self.patience else { return false }
        let wanted =
            if average > Self.high { max(speed - 4, -16) } else if average < Self.low { min(speed + 4, thorough) } else
            {
                speed
            }
        guard wanted != speed, wanted <= thorough else { return false }
        speed = wanted
        picturesSinceChange = 0
        return true
    }
}
