package import OffhookBasics

/// Keeps the sound and the picture of one sender together (RFC 3550 §6.4.1 on NTP and RTP timestamps).
///
/// Whichever of the two is played too soon after its capture is delayed, gently, until they agree. Sound that is early is
/// noticed sooner than sound that is late (ITU-R BT.1359-1: 45 and 125 ms): a picture does not wait for sound that is a
/// little late.
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

    private static let earlySound = Duration.milliseconds(20)
    private static let lateSound = Duration.milliseconds(60)
    /// How late sound is once a picture's delay has been put on or taken off.
    private static let restingLateness = Duration.milliseconds(40)
    private static let step = Duration.milliseconds(20)
    private static let limit = Duration.milliseconds(1000)

    package init() {}

    /// Compares the two and moves the delays by at most one step; true where they changed.
    package mutating func update(audio: Point, video: Point) -> Bool {
        // Positive: the sound of a moment is played before the picture of it.
        let lead = (video.playout - audio.playout) - (video.capture - audio.capture)
        let lateness = .zero - lead
        let before = (audioDelay, videoDelay)
        if lead > Self.earlySound {
            move(release: &videoDelay, add: &audioDelay, by: min(Self.step, lead))
        } else if lateness > Self.lateSound {
            move(release: &audioDelay, add: &videoDelay, by: min(Self.step, lateness - Self.restingLateness))
        } else if lateness < Self.restingLateness {
            videoDelay -= min(videoDelay, Self.step, Self.restingLateness - lateness)
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
