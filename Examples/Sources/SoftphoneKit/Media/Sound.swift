import Offhook

/// Where a program's calls get their sound from and play it: devices, files, tones.
@MainActor final class Sound {
    private let options: Options
    private let microphone: any AudioCapturer
    /// The sound server's speaker, which all calls share; nil where sound goes elsewhere.
    private let speaker: PulseSpeaker?
    /// Told in words, and as an event with its members.
    var tell: (_ words: String, _ event: String, _ members: KeyValuePairs<String, JSONValue>) -> Void = { _, _, _ in }

    /// Opens files, and no device yet.
    init(options: Options) throws(FileFailure) {
        self.options = options
        microphone = try Self.capturer(for: options.microphone)
        if case .pulse(let name) = options.speaker { speaker = PulseSpeaker(device: name) } else { speaker = nil }
    }

    private static func capturer(for choice: MicrophoneChoice) throws(FileFailure) -> any AudioCapturer {
        switch choice {
        case .tone(let frequency): return ToneCapturer(frequency: frequency)
        case .silence: return SilenceCapturer()
        case .file(let path):
            do { return try WAVCapturer(path: path) } catch { throw FileFailure(error.reason) }
        case .pulse(let name): return PulseMicrophone(device: name)
        }
    }

    /// Gives an account's calls their microphone and speaker.
    func connect(to audio: AudioInterface) {
        (microphone as? PulseMicrophone)?.delegate = self
        speaker?.delegate = self
        audio.setMicrophone(microphone)
        if let speaker { audio.setSpeaker(speaker) }
    }

    /// Throws where a device was named that the sound server does not have. Without a server calls go on without sound.
    func checkNames() async throws(FileFailure) {
        var names: [(AudioDevice.Kind, String)] = []
        if case .pulse(let name?) = options.microphone { names.append((.microphone, name)) }
        if case .pulse(let name?) = options.speaker { names.append((.speaker, name)) }
        guard !names.isEmpty else { return }
        let devices: AudioDevices
        do { devices = try await SoundServer.standard.devices() } catch { return }
        for (kind, name) in names where AudioDevice.named(name, in: devices[kind]) == nil {
            let list = devices[kind].map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
            throw FileFailure("there is no \(kind.rawValue) “\(name)”; there are \(list.isEmpty ? "none" : list)")
        }
    }

    /// Nothing is told any more.
    func close() {
        (microphone as? PulseMicrophone)?.delegate = nil
        speaker?.delegate = nil
    }
}

extension Sound: SoundDeviceDelegate {
    func soundDevice(_ device: SoundDevice, wasInterruptedBy error: SoundError) {
        tell("\(error)", "soundDeviceWasInterrupted", ["kind": device.word, "error": .text(error.reason)])
    }

    func soundDevice(_ device: SoundDevice, didOpen id: AudioDevice.ID) {
        tell("The \(device.kind.rawValue) is \(id).", "soundDeviceDidOpen", ["kind": device.word, "device": .text(id)])
    }

    func soundDevice(_ device: SoundDevice, didUseSubstituteFor error: SoundError) {
        tell("\(error)", "soundDeviceDidUseSubstitute", ["kind": device.word, "error": .text(error.reason)])
    }
}

extension SoundDevice {
    fileprivate var word: JSONValue { .text(kind.rawValue) }
}
