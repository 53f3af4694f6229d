import Offhook

/// Where a program's calls get their sound from and play it: devices, files, tones.
@MainActor final class Sound {
    private let options: Options
    private var microphone: any AudioCapturer
    private var audio: AudioInterface?
    /// The sentence told last, so that microphone and speaker do not tell the same trouble twice.
    private var lastTrouble: String?
    private var hasDevices = false
    /// Told in words, and as an event with its members.
    var tell: (_ words: String, _ event: String, _ members: KeyValuePairs<String, JSONValue>) -> Void = { _, _, _ in }

    /// Opens files, and no device yet.
    init(options: Options) throws(FileFailure) {
        self.options = options
        microphone = try Self.capturer(for: options.microphone)
    }

    private static func capturer(for choice: MicrophoneChoice) throws(FileFailure) -> any AudioCapturer {
        switch choice {
        case .tone(let frequency): return ToneCapturer(frequency: frequency)
        case .silence, .pulse: return SilenceCapturer()
        case .file(let path):
            do { return try WAVCapturer(path: path) } catch { throw FileFailure(error.reason) }
        }
    }

    /// Gives an account's calls their microphone and speaker.
    func connect(to audio: AudioInterface) {
        self.audio = audio
        audio.echoCancellation = options.echoCancellation
        audio.noiseSuppression = options.noiseSuppression
        audio.gainControl = options.gainControl
        if usesDevices { audio.delegate = self }
        use(options.microphone)
        use(options.speaker)
    }

    private var usesDevices: Bool {
        if case .pulse = options.microphone { return true }
        if case .pulse = options.speaker { return true }
        return false
    }

    private func use(_ choice: MicrophoneChoice) {
        if case .pulse(let name) = choice {
            audio?.useMicrophone(named: name)
        } else {
            audio?.setMicrophone(microphone)
        }
    }

    private func use(_ choice: SpeakerChoice) {
        guard case .pulse(let name) = choice else {
            audio?.setSpeaker(nil)
            return
        }
        audio?.useSpeaker(named: name)
        // A person listens: ringing and busy tones are for them.
        audio?.callTones = .europe
    }

    /// Takes another microphone, in the middle of a call too.
    func change(microphone choice: MicrophoneChoice) async throws(FileFailure) {
        if case .pulse(let name?) = choice { try await check(name, .microphone) }
        microphone = try Self.capturer(for: choice)
        audio?.delegate = self
        use(choice)
    }

    /// Takes another speaker, in the middle of a call too.
    func change(speaker choice: SpeakerChoice) async throws(FileFailure) {
        if case .pulse(let name?) = choice { try await check(name, .speaker) }
        audio?.delegate = self
        use(choice)
    }

    /// Throws where a device was named that the sound server does not have. Without a server calls go on without sound.
    func checkNames() async throws(FileFailure) {
        if case .pulse(let name?) = options.microphone { try await check(name, .microphone) }
        if case .pulse(let name?) = options.speaker { try await check(name, .speaker) }
    }

    private func check(_ name: String, _ kind: AudioDevice.Kind) async throws(FileFailure) {
        let devices: AudioDevices
        do { devices = try await SoundServer.standard.devices() } catch { return }
        guard AudioDevice.named(name, in: devices[kind]) == nil else { return }
        let list = devices[kind].map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
        throw FileFailure("there is no \(kind.rawValue) “\(name)”; there are \(list.isEmpty ? "none" : list)")
    }

    /// Nothing is told any more.
    func close() {
        audio?.delegate = nil
    }
}

extension Sound: AudioInterfaceDelegate {
    func audioInterface(
        _ audioInterface: AudioInterface, wasInterruptedBy error: SoundError, of kind: AudioDevice.Kind
    ) {
        report(error, "soundWasInterrupted", kind)
    }

    func audioInterface(_ audioInterface: AudioInterface, didOpen device: AudioDevice.ID, as kind: AudioDevice.Kind) {
        lastTrouble = nil
        tell(
            "The \(kind.rawValue) is \(device).", "soundDidOpen",
            ["kind": .text(kind.rawValue), "device": .text(device)])
    }

    func audioInterface(
        _ audioInterface: AudioInterface, didUseSubstituteFor error: SoundError, of kind: AudioDevice.Kind
    ) {
        report(error, "soundDidUseSubstitute", kind)
    }

    func audioInterface(_ audioInterface: AudioInterface, didChangeDevices devices: AudioDevices) {
        // The first list is no change that a person has to hear of.
        let words = "Microphones: \(list(devices.microphones)). Speakers: \(list(devices.speakers))."
        defer { hasDevices = true }
        tell(
            hasDevices ? words : "", "soundDidChangeDevices",
            [
                "microphones": .list(devices.microphones.map { .text($0.id) }),
                "speakers": .list(devices.speakers.map { .text($0.id) }),
            ])
    }

    private func list(_ devices: [AudioDevice]) -> String {
        devices.isEmpty ? "none" : devices.map(\.name).joined(separator: ", ")
    }

    private func report(_ error: SoundError, _ event: String, _ kind: AudioDevice.Kind) {
        // The words are told once; an event is told for each device.
        let words = error.reason == lastTrouble ? nil : error.reason
        lastTrouble = error.reason
        tell(words ?? "", event, ["kind": .text(kind.rawValue), "error": .text(error.reason)])
    }
}
