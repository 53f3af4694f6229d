internal import OffhookBasics
public import OffhookMedia

/// The microphone and speaker of an account's calls.
///
/// May be used on any thread. While no microphone is set, silence is sent; while no speaker is set, nothing is played.
public final class AudioInterface: Sendable {
    let routes = AudioRoutes()
    let devices: AudioDeviceChoice
    let tones: CallTones

    init(delegateQueue: DelegateQueue) {
        devices = AudioDeviceChoice(queue: delegateQueue)
        tones = CallTones(routes: routes)
        devices.interface.set { [weak self] in self }
    }

    /// Chooses where the sound comes from that the far end gets: for one call, or for every call that has none of its own.
    ///
    /// With nil the choice is taken back. The capturer's own sink is set by the calls that use it.
    public func setMicrophone(_ capturer: (any AudioCapturer)?, for call: Call? = nil) {
        routes.setMicrophone(capturer, for: call?.id)
    }

    /// Chooses where received sound goes: that of one call, or that of every call that has none of its own, mixed.
    ///
    /// With nil the choice is taken back; a frame that is on its way may still come. Called on a media thread.
    public func setSpeaker(_ sink: (any AudioSink)?, for call: Call? = nil) {
        routes.setSpeaker(sink, for: call?.id)
    }

    /// Whether all calls send silence. Beside `Call.muteAudio(_:)`: sound is sent where neither mutes it.
    public var isMicrophoneMuted: Bool {
        get { routes.isMicrophoneMuted }
        set { routes.isMicrophoneMuted = newValue }
    }

    /// By how much sent sound is amplified: 1 leaves it, 0 silences it; at most 8.
    public var microphoneGain: Double {
        get { routes.microphoneGain }
        set { routes.microphoneGain = newValue }
    }

    /// By how much received sound is amplified: 1 leaves it, 0 silences it; at most 8.
    public var speakerGain: Double {
        get { routes.speakerGain }
        set { routes.speakerGain = newValue }
    }

    /// How loud the microphone's newest sound is, in decibels below the loudest there can be: -127 (silence) to 0 (RFC 6464).
    public var microphoneLevel: Double { routes.microphoneLevel }

    /// How loud the newest received sound is, in decibels below the loudest there can be: -127 (silence) to 0.
    public var speakerLevel: Double { routes.speakerLevel }

    /// Plays a sound here or to the far end, in place of what else would be heard, until it is stopped or another is played.
    ///
    /// A tone or a file is an ``AudioCapturer`` like any microphone. With nil playing stops.
    public func play(_ sound: (any AudioCapturer)?, to destination: PlayDestination) {
        routes.play(sound, to: destination)
    }

    /// Where a sound is played.
    public enum PlayDestination: Sendable {
        /// At this end: ringing, say.
        case speaker
        /// At the far end of a call: an announcement, say.
        case remote(Call)
    }

    // MARK: For the wiring

    /// Sends a call's sound to `uplink` from now on, 20 ms at a time, on the capturer's thread.
    package func attach(_ uplink: any AudioSink, for call: Call.ID) {
        routes.attach(uplink, for: call)
    }

    /// The call is over: forget it and what was chosen for it.
    package func detach(_ call: Call.ID) {
        routes.detach(call)
    }

    /// From now on the far ends of both calls hear each other beside us.
    package func join(_ first: Call.ID, _ second: Call.ID) {
        routes.join(first, second)
    }

    /// Takes 20 ms of a call's received sound, on a media thread.
    package func handleReceivedFrame(_ frame: AudioFrame, of call: Call.ID) {
        routes.handleReceivedFrame(frame, of: call)
    }
}
