package import OffhookBasics

/// Keeps the sound and the picture of one sender together (RFC 3550 §6.4.1 on NTP and RTP timestamps).
///
/// Whichever of the two is played sooner after its capture is delayed, gently, until they agree.
package struct LipSync: Sendable {
    /// Something captured at a time of the sender's clock was or will be played at an instant of ours.
    package struct Point: Hashable, Sendable {
        package var capture: NTPTimestamp
        package var playout: Instant

        package init(capture: NTPTimestamp, playout: Instant) {
            self.capture = capture
            self.playout = playout
        }
    }

    /// What each of the two should wait for the other.
    package private(set) var audioDelay: Duration = .zero
    package private(set) var videoDelay: Duration = .zero

    private static let tolerance = Duration.milliseconds(20)
    private static let step = Duration.milliseconds(20)
    private static let limit = Duration.milliseconds(1000)

    package init() {}

    /// Compares the two and moves the delays by at most one step; true where they changed.
    package mutating func update(audio: Point, video: Point) -> Bool {
        // Positive: the sound of a moment is played before the picture of it.
        let lead = (video.playout - audio.playout) - (video.capture - audio.capture)
        guard lead > Self.tolerance || lead < .zero - Self.tolerance else { return false }
        let before = (audioDelay, videoDelay)
        let change = min(Self.step, lead > .zero ? lead : .zero - lead)
        if lead > .zero {
            move(release: &videoDelay, add: &audioDelay, by: change)
        } else {
            move(release: &audioDelay, add: &videoDelay, by: change)
        }
        return before != (audioDelay, videoDelay)
    }

    /// A delay that is no longer needed goes before another is put on.
    private func move(release: inout Duration, add: inout Duration, by change: Duration) {
        let released = min(release, change)
        release -= released
        add = min(Self.limit, add + (change - released))
    }
}
