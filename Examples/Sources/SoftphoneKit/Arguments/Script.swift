import Offhook

/// What `--do` says: commands and when to give them.
struct Script: Hashable, Sendable {
    enum Command: Hashable, Sendable {
        case hold, unhold, mute, unmute, restartICE, end
        case video(VideoMode)
        case dtmf(String)
        case transfer(String)
        /// The far end is passed on to that of another call, by its place among those that came or were made, from 1 on.
        case transferToCall(Int)
        /// The far end of another call is taken into this one.
        case join(Int)
        case camera(CameraChoice)
        case microphone(MicrophoneChoice)
        case speaker(SpeakerChoice)
        case ignore, accept
        case deny(Call.DenyReason)
        case redirect(String)

        /// Whether it is given before the call is up, counted from its arrival.
        var isForRinging: Bool {
            switch self {
            case .ignore, .accept, .deny, .redirect: true
            case .hold, .unhold, .mute, .unmute, .restartICE, .end, .video, .dtmf, .transfer, .transferToCall, .join,
                .camera, .microphone, .speaker:
                false
            }
        }
    }

    struct Step: Hashable, Sendable {
        /// Since the call came up, or came in.
        var after: Duration
        var command: Command
    }

    /// Whatever may be given while a call is up, for people.
    static let commands =
        "hold, unhold, mute, unmute, video=MODE, dtmf=KEYS, transfer=URI, transfer-to-call=NUMBER, join=NUMBER,"
        + " camera=WHICH, microphone=WHICH, speaker=WHICH, restart-ice, end"
    /// And while it rings here, counted from its arrival.
    static let commandsForRinging = "accept, ignore, deny, deny=busy, redirect=URI"

    /// In order of time; those of the same time as written.
    private(set) var steps: [Step] = []

    init() {}

    /// Reads `2:hold,4.5:unhold,6:video=off`.
    init(parsing text: String) throws(UsageError) {
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let seconds = Double(parts[0]) else {
                throw UsageError("--do: “\(item)” is not AT:COMMAND; type for example --do \"2:hold,4:unhold\"")
            }
            guard (0...86_400).contains(seconds) else {
                throw UsageError(
                    "--do: “\(item)” is at no time of a call; type seconds from 0 to 86400 before the colon")
            }
            steps.append(Step(after: .milliseconds(Int(seconds * 1000)), command: try Self.command(String(parts[1]))))
        }
        let numbered = steps.enumerated().sorted { ($0.element.after, $0.offset) < ($1.element.after, $1.offset) }
        steps = numbered.map(\.element)
    }

    /// The steps for a call that rings, or for one that is up.
    func steps(forRinging isRinging: Bool) -> [Step] {
        steps.filter { $0.command.isForRinging == isRinging }
    }

    private static func command(_ text: String) throws(UsageError) -> Command {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let argument = parts.count == 2 ? parts[1] : nil
        switch (parts[0], argument) {
        case ("hold", nil): return .hold
        case ("unhold", nil): return .unhold
        case ("mute", nil): return .mute
        case ("unmute", nil): return .unmute
        case ("restart-ice", nil): return .restartICE
        case ("end", nil): return .end
        case ("ignore", nil): return .ignore
        case ("accept", nil): return .accept
        case ("deny", nil), ("deny", "declined"): return .deny(.declined)
        case ("deny", "busy"): return .deny(.busy)
        case ("video", let word?):
            guard let mode = VideoWords.mode(word) else {
                throw UsageError("--do: “video=\(word)” is no mode; type video=\(VideoWords.list)")
            }
            return .video(mode)
        case ("dtmf", let keys?):
            guard !keys.isEmpty, keys.allSatisfy({ DTMFTone($0) != nil }) else {
                throw UsageError("--do: “dtmf=\(keys)” has no such keys; type dtmf= and some of 0-9, *, #, A-D")
            }
            return .dtmf(keys)
        case ("transfer", let address?), ("redirect", let address?):
            let word = parts[0]
            let parts = address.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, CallTarget.isScheme(parts[0]), !parts[1].isEmpty else {
                throw UsageError(
                    "--do: “\(word)=\(address)” is no address; type \(word)=sip:name@host, or \(word)=tel:number")
            }
            return word == "redirect" ? .redirect(address) : .transfer(address)
        case ("transfer-to-call", let number?), ("join", let number?):
            guard let number = Int(number), number >= 1 else {
                throw UsageError(
                    "--do: “\(text)” names no call; type \(parts[0])=1 for the first call, 2 for the second")
            }
            return parts[0] == "join" ? .join(number) : .transferToCall(number)
        case ("camera", let word?):
            guard let choice = CameraChoice(parsing: word) else {
                throw UsageError("--do: “camera=\(word)” is no camera; type camera=front, back, \(CameraChoice.usage)")
            }
            return .camera(choice)
        case ("microphone", let word?):
            guard let choice = MicrophoneChoice(parsing: word) else {
                throw UsageError("--do: “microphone=\(word)” is none; type microphone=\(MicrophoneChoice.usage)")
            }
            return .microphone(choice)
        case ("speaker", let word?):
            guard let choice = SpeakerChoice(parsing: word), !choice.isFile else {
                throw UsageError("--do: “speaker=\(word)” is none; type speaker=pulse, pulse:NAME or none")
            }
            return .speaker(choice)
        default:
            throw UsageError(
                "--do: there is no command “\(text)”; there are \(Self.commands), and before the call is up"
                    + " \(Self.commandsForRinging)")
        }
    }
}
