import Offhook

/// Makes what `--microphone` asks for.
enum Microphone {
    static func capturer(for choice: MicrophoneChoice) throws(FileFailure) -> any AudioCapturer {
        switch choice {
        case .tone(let frequency): return ToneCapturer(frequency: frequency)
        case .silence: return SilenceCapturer()
        case .file(let path):
            do { return try WAVCapturer(path: path) } catch { throw FileFailure(error.reason) }
        case .pulse:
            throw FileFailure("this build has no PulseAudio microphone; type --microphone tone, silence or FILE.wav")
        }
    }
}
