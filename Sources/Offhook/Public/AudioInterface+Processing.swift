/// Whether one step of processing is done to the sound of microphones.
public enum AudioProcessing: String, Hashable, Sendable, CaseIterable {
    /// Done where the microphone hears a room: a device of the sound server that is no monitor of a speaker. Files, tones
    /// and an app's own capturers are left as they are.
    case automatic
    /// Always done.
    case on
    /// Never done.
    case off

    func isOn(inRoom isInRoom: Bool) -> Bool {
        switch self {
        case .automatic: isInRoom
        case .on: true
        case .off: false
        }
    }
}

extension AudioInterface {
    /// Whether what the speaker plays is taken out of what the microphone hears. It takes some seconds to learn the room.
    ///
    /// Works with speakers that are an ``AudioPlayer``, as ``PulseSpeaker`` is. Delays the microphone by 24 ms; may be
    /// changed at any time.
    public var echoCancellation: AudioProcessing {
        get { routes.echoCancellation }
        set { routes.echoCancellation = newValue }
    }

    /// Whether steady noise, of a fan for example, is made softer by up to 18 dB. Delays the microphone by 24 ms.
    public var noiseSuppression: AudioProcessing {
        get { routes.noiseSuppression }
        set { routes.noiseSuppression = newValue }
    }

    /// Whether voices are brought to a usual loudness, by at most 20 dB; off unless set. Delays the microphone by 24 ms.
    public var gainControl: AudioProcessing {
        get { routes.gainControl }
        set { routes.gainControl = newValue }
    }
}
