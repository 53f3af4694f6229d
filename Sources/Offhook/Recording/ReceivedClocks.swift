internal import OffhookBasics
internal import OffhookRTP

/// Puts the sound and the pictures of the far end on our clock, as they belong together.
///
/// Sound is placed where it was played, give or take a packet. Once the far end has told by its clock when it took both (RFC 3550 §6.4.1), pictures are
/// placed by that beside the sound; until then, and where it does not tell, where they were shown.
struct ReceivedClocks {
    /// A sender whose two clocks are further apart than this does not mean them.
    private static let mostCorrection = Duration.seconds(1)

    private var sound = SteadyClock.forSound(rate: 48_000)
    private var pictures = SteadyClock(rate: 90_000)
    /// A moment of the sender's clock, and where its sound was placed.
    private var anchor: (capture: NTPTimestamp, time: Instant)?

    mutating func timeOfSound(
        _ timestamp: RTPTimestamp, rate: Int, capture: NTPTimestamp?, near reference: Instant
    ) -> Instant {
        if sound.rate != rate { sound = .forSound(rate: rate) }
        let time = sound.time(of: timestamp.rawValue, near: reference)
        if let capture { anchor = (capture, time) }
        return time
    }

    mutating func timeOfPicture(
        _ timestamp: RTPTimestamp, capture: NTPTimestamp?, near reference: Instant
    ) -> Instant {
        let shown = pictures.time(of: timestamp.rawValue, near: reference)
        guard let capture, let anchor else { return shown }
        let beside = anchor.time + (capture - anchor.capture)
        let correction = beside - shown
        guard correction < Self.mostCorrection, .zero - correction < Self.mostCorrection else { return shown }
        return beside
    }
}
