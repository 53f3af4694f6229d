package import OffhookBasics

/// How much sound may take where little is left: it goes first, yet below some rate two streams do not fit.
///
/// | left for pictures, kbit/s | sound, kbit/s at most |
/// |---|---|
/// | under 80 | 16 |
/// | under 160 | 24 |
/// | more | no limit |
///
/// Down at once, up after five seconds with a quarter more than needed: a voice that changes all the time is worse than a
/// narrow one.
package struct AudioShare: Sendable {
    private static let patience = Duration.seconds(5)
    private static let steps: [(below: Int, limit: Int?)] = [(80_000, 16_000), (160_000, 24_000), (.max, nil)]

    private var index = Self.steps.count - 1
    private var aboveSince: Instant?

    /// Bits a second; nil: no limit.
    package var limit: Int? { Self.steps[index].limit }

    package init() {}

    /// Takes in what is left for pictures; true where the limit has changed.
    package mutating func update(videoRate: Int, at now: Instant) -> Bool {
        let wanted = Self.index(videoRate)
        if wanted < index {
            index = wanted
            aboveSince = nil
            return true
        }
        guard Self.index(videoRate * 4 / 5) > index else {
            aboveSince = nil
            return false
        }
        let since = aboveSince ?? now
        aboveSince = since
        guard now - since >= Self.patience else { return false }
        index = Self.index(videoRate * 4 / 5)
        aboveSince = nil
        return true
    }

    private static func index(_ rate: Int) -> Int {
        steps.firstIndex { rate < $0.below } ?? steps.count - 1
    }
}
