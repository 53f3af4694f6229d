internal import OffhookBasics

/// What a microphone or speaker has done so far.
public struct SoundStatistics: Hashable, Sendable {
    /// The id of the device in use; nil where there is none.
    public var device: String?
    /// How long sound is under way: from the microphone to its delivery, or from its arrival to the speaker.
    public var latency = Duration.zero
    /// By how much the sound card is faster than the machine's clock, in parts in a million; known after a minute or so.
    public var driftPPM = 0.0
    /// Frames delivered or played, of 20 ms.
    public var frames = 0
    /// How often sound was missing: the speaker had none to play, or the microphone's began anew.
    public var gaps = 0
    /// How often another device was opened, the first one too.
    public var openings = 0
    /// Why no sound flows; nil where it does.
    public var trouble: SoundError?

    mutating func note(_ event: PulseEvent) {
        switch event {
        case .opened(let device):
            self.device = device
            trouble = nil
            openings += 1
        case .interrupted(let error):
            device = nil
            trouble = error
        case .substituted: break
        }
    }
}
