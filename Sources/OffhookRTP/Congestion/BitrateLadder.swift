package import OffhookBasics

/// Which size and frame rate a bit rate is good for.
///
/// | from kbit/s | pixels | frames a second |
/// |---|---|---|
/// | 2000 | no limit | 30 and more |
/// | 700 | 1280 × 720 | 30 |
/// | 350 | 960 × 540 | 30 |
/// | 180 | 640 × 360 | 30 |
/// | 110 | 480 × 270 | 25 |
/// | 60 | 320 × 180 | 20 |
/// | 0 | 320 × 180 | 10 |
///
/// A step down is taken when the rate has been below the step's for a second, at once below two thirds of it; a step up
/// when it has been a fifth above for three seconds, or thrice as high for one: each change of size costs a key frame.
package struct BitrateLadder: Sendable {
    package struct Step: Hashable, Sendable {
        package var bitsPerSecond: Int
        /// Nil: as the picture comes.
        package var maximumPixels: Int?
        /// Nil: as pictures come.
        package var maximumFrameRate: Double?
    }

    package static let steps = [
        Step(bitsPerSecond: 2_000_000, maximumPixels: nil, maximumFrameRate: nil),
        Step(bitsPerSecond: 700_000, maximumPixels: 1280 * 720, maximumFrameRate: nil),
        Step(bitsPerSecond: 350_000, maximumPixels: 960 * 540, maximumFrameRate: 30),
        Step(bitsPerSecond: 180_000, maximumPixels: 640 * 360, maximumFrameRate: 30),
        Step(bitsPerSecond: 110_000, maximumPixels: 480 * 270, maximumFrameRate: 25),
        Step(bitsPerSecond: 60_000, maximumPixels: 320 * 180, maximumFrameRate: 20),
        Step(bitsPerSecond: 0, maximumPixels: 320 * 180, maximumFrameRate: 10),
    ]

    private static let shortPatience = Duration.seconds(1)
    private static let longPatience = Duration.seconds(3)

    private var index: Int
    private var belowSince: Instant?
    private var aboveSince: Instant?

    package var step: Step { Self.steps[index] }

    package init(bitsPerSecond: Int) {
        index = Self.index(for: bitsPerSecond)
    }

    private static func index(for bitsPerSecond: Int) -> Int {
        steps.firstIndex { bitsPerSecond >= $0.bitsPerSecond } ?? steps.count - 1
    }

    /// Takes in the rate; true where the step has changed.
    package mutating func update(bitsPerSecond: Int, at now: Instant) -> Bool {
        let wanted = Self.index(for: bitsPerSecond)
        if wanted > index {
            aboveSince = nil
            let since = belowSince ?? now
            belowSince = since
            let isFarBelow = bitsPerSecond < Self.steps[index].bitsPerSecond * 2 / 3
            guard isFarBelow || now - since >= Self.shortPatience else { return false }
            return move(to: wanted)
        }
        belowSince = nil
        let comfortable = Self.index(for: bitsPerSecond * 5 / 6)
        guard comfortable < index else {
            aboveSince = nil
            return false
        }
        let since = aboveSince ?? now
        aboveSince = since
        let isFarAbove = bitsPerSecond > Self.steps[index - 1].bitsPerSecond * 3
        guard now - since >= (isFarAbove ? Self.shortPatience : Self.longPatience) else { return false }
        return move(to: comfortable)
    }

    private mutating func move(to new: Int) -> Bool {
        index = new
        belowSince = nil
        aboveSince = nil
        return true
    }
}
