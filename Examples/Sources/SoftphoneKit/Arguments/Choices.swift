import Offhook

/// What `--video` asks for.
enum VideoChoice: Hashable, Sendable {
    case off
    /// As the incoming status advises.
    case automatic
    case mode(VideoMode)
}

/// The words of the command line for video modes.
enum VideoWords {
    static let modes: [(word: String, mode: VideoMode)] = [
        ("off", .disabled), ("sendrecv", .sendReceive), ("sendonly", .sendOnly), ("recvonly", .receiveOnly),
        ("inactive", .inactive),
    ]

    static func mode(_ word: some StringProtocol) -> VideoMode? {
        modes.first { $0.word == word }?.mode
    }

    static let list = modes.map(\.word).joined(separator: "|")
}

/// What `--camera` sends.
enum CameraChoice: Hashable, Sendable {
    /// A picture's size and rate; nil leaves it to the source.
    struct Format: Hashable, Sendable {
        var size: VideoSize
        var frameRate: Double

        init(size: VideoSize, frameRate: Double) {
            self.size = size
            self.frameRate = frameRate
        }

        /// Reads `1280x720` or `1280x720@30`.
        init?(parsing text: some StringProtocol) {
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { return nil }
            let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
            guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
            guard (16...7680).contains(width), (16...4320).contains(height) else { return nil }
            guard parts.count == 2 else {
                self.init(size: VideoSize(width: width, height: height), frameRate: 30)
                return
            }
            guard let rate = Double(parts[1]), rate >= 1, rate <= 120 else { return nil }
            self.init(size: VideoSize(width: width, height: height), frameRate: rate)
        }
    }

    enum Device: Hashable, Sendable {
        case position(CameraPosition)
        /// A node, as in `/dev/video0`, or a part of the camera's name.
        case named(String)
    }

    case none
    case pattern(Format?)
    case v4l2(Device, Format?)
    /// What is on the screen, and no larger than the format's size.
    case screen(Format?)
    case file(String)

    static let usage =
        "pattern[:WxH@FPS], v4l2[:DEVICE|front|back][:WxH@FPS], screen[:WxH@FPS], FILE.y4m, FILE.ivf or none"

    /// Reads the option's value.
    init?(parsing text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch parts[0] {
        case "none" where parts.count == 1: self = .none
        case "front" where parts.count == 1: self = .v4l2(.position(.front), nil)
        case "back" where parts.count == 1: self = .v4l2(.position(.back), nil)
        case "pattern" where parts.count == 1: self = .pattern(nil)
        case "pattern" where parts.count == 2:
            guard let format = Format(parsing: parts[1]) else { return nil }
            self = .pattern(format)
        case "screen" where parts.count == 1: self = .screen(nil)
        case "screen" where parts.count == 2:
            guard let format = Format(parsing: parts[1]) else { return nil }
            self = .screen(format)
        case "v4l2":
            var rest = Array(parts.dropFirst())
            var format: Format?
            if let last = rest.last, let found = Format(parsing: last) {
                format = found
                rest.removeLast()
            }
            switch rest.joined(separator: ":") {
            case "", "front": self = .v4l2(.position(.front), format)
            case "back": self = .v4l2(.position(.back), format)
            case let name: self = .v4l2(.named(name), format)
            }
        default:
            guard text.hasSuffix(".y4m") || text.hasSuffix(".ivf") else { return nil }
            self = .file(text)
        }
    }
}

/// `pulse` or `pulse:NAME`: a device of the sound server.
private struct PulseWord {
    /// A device's id or a part of its name; nil for the system's default.
    let name: String?

    init?(parsing text: String) {
        guard text == "pulse" || text.hasPrefix("pulse:") && text.count > 6 else { return nil }
        name = text == "pulse" ? nil : String(text.dropFirst(6))
    }

    static let usage = "pulse[:NAME]"
}

/// What `--microphone` sends.
enum MicrophoneChoice: Hashable, Sendable {
    case tone(Double)
    case silence
    case pulse(String?)
    case file(String)

    static let usage = "tone[:HZ], silence, \(PulseWord.usage) or FILE.wav"

    /// Reads the option's value.
    init?(parsing text: String) {
        if text == "silence" {
            self = .silence
        } else if text == "tone" {
            self = .tone(440)
        } else if text.hasPrefix("tone:") {
            guard let frequency = Double(text.dropFirst(5)), frequency >= 20, frequency <= 20_000 else { return nil }
            self = .tone(frequency)
        } else if let device = PulseWord(parsing: text) {
            self = .pulse(device.name)
        } else if text.hasSuffix(".wav") {
            self = .file(text)
        } else {
            return nil
        }
    }
}

/// Where `--display` puts received pictures.
enum DisplayChoice: Hashable, Sendable {
    case none
    case window
    case terminal
    /// The coded pictures as they came.
    case codedFile(String)
    /// Y4M or PNG.
    case file(String)

    static let usage = "none, window, terminal, FILE.ivf, FILE.y4m or FILE.png"

    /// Reads the option's value.
    init?(parsing text: String) {
        switch text {
        case "none": self = .none
        case "window": self = .window
        case "terminal": self = .terminal
        case _ where text.hasSuffix(".ivf"): self = .codedFile(text)
        case _ where text.hasSuffix(".y4m") || text.hasSuffix(".png"): self = .file(text)
        default: return nil
        }
    }
}

/// Where `--speaker` puts received sound.
enum SpeakerChoice: Hashable, Sendable {
    case none
    case pulse(String?)
    case file(String)

    static let usage = "none, \(PulseWord.usage) or FILE.wav"

    var isFile: Bool {
        if case .file = self { true } else { false }
    }

    /// Reads the option's value.
    init?(parsing text: String) {
        if text == "none" {
            self = .none
        } else if let device = PulseWord(parsing: text) {
            self = .pulse(device.name)
        } else if text.hasSuffix(".wav") {
            self = .file(text)
        } else {
            return nil
        }
    }
}

/// What `--on-add-video` does with a request in the middle of a call.
enum AddVideoChoice: Hashable, Sendable {
    /// A person is asked, where there is a terminal; elsewhere as `ignore`.
    case ask
    case accept(VideoMode)
    case deny
    /// The request runs out.
    case ignore

    static let usage = "ask, accept=MODE, deny or ignore"

    /// Reads the option's value.
    init?(parsing text: String) {
        switch text {
        case "ask": self = .ask
        case "deny": self = .deny
        case "ignore": self = .ignore
        case _ where text.hasPrefix("accept="):
            guard let mode = VideoWords.mode(text.dropFirst(7)), mode != .disabled else { return nil }
            self = .accept(mode)
        default: return nil
        }
    }
}
