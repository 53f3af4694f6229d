internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookMedia

/// Where a call's microphone puts its sound. It notes when sound came last, so that silence can be sent in its place.
final class AudioUplink: AudioSink {
    private struct State {
        var encoder: AudioEncoderPipeline?
        var lastFrame: Instant?
        var isMuted = false
        /// What earlier encoders made: a change of the session may bring a new one.
        var packetsBefore = 0
    }

    private let state = Lock(State())
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    /// The encoder that gets the sound; nil drops it.
    func setEncoder(_ encoder: AudioEncoderPipeline?) {
        let former = state.withLock { state in
            defer { state.encoder = encoder }
            encoder?.setMuted(state.isMuted)
            state.packetsBefore += state.encoder?.counters.packetsEncoded ?? 0
            return state.encoder
        }
        if former !== encoder { former?.stop() }
    }

    func setMuted(_ isMuted: Bool) {
        state.withLock { state in
            state.isMuted = isMuted
            state.encoder?.setMuted(isMuted)
        }
    }

    func handleAudioFrame(_ frame: AudioFrame) {
        let arrival = now()
        let encoder = state.withLock { state in
            state.lastFrame = arrival
            return state.encoder
        }
        encoder?.handleAudioFrame(frame)
    }

    /// Sends 20 ms of silence where no microphone has brought anything for a while.
    func fillSilence(at now: Instant) {
        let encoder = state.withLock { state -> AudioEncoderPipeline? in
            if let last = state.lastFrame, now - last < .milliseconds(100) { return nil }
            return state.encoder
        }
        encoder?.handleAudioFrame(AudioFrame(samples: [Int16](repeating: 0, count: 960), captureTime: now))
    }

    var level: Float { state.withLock { $0.encoder }?.counters.level ?? 0 }
    /// How many packets of sound were made since the call began.
    var packetsEncoded: Int {
        state.withLock { $0.packetsBefore + ($0.encoder?.counters.packetsEncoded ?? 0) }
    }
}

/// Takes a call's decoded sound to the account's speakers.
final class AudioDownlink: AudioSink {
    private let audio: AudioInterface
    private let call: Call.ID
    private let isSilenced = Lock(false)

    init(audio: AudioInterface, call: Call.ID) {
        self.audio = audio
        self.call = call
    }

    func setSilenced(_ isSilenced: Bool) {
        self.isSilenced.withLock { $0 = isSilenced }
    }

    func handleAudioFrame(_ frame: AudioFrame) {
        var frame = frame
        if isSilenced.withLock({ $0 }) { frame.samples = [Int16](repeating: 0, count: frame.samples.count) }
        audio.handleReceivedFrame(frame, of: call)
    }
}
