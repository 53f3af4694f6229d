/// What the keys of `offhook phone` do.
enum PhoneKey: Hashable, Sendable {
    case call, callWithVideo, answer, answerWithVideo, deny, ignore, end
    case hold, mute, video, transfer, redirect, transferToOther, join, camera, next, list, help, quit
    case fullScreen, snapshot, shareScreen
    case tone(Character)

    /// The keys for people, in the order the help lists them.
    static let all: [(key: Character, meaning: PhoneKey, words: String)] = [
        ("c", .call, "call an address"), ("C", .callWithVideo, "call with video"),
        ("a", .answer, "answer without video"),
        ("v", .answerWithVideo, "answer with video; on a call: video on or off"),
        ("d", .deny, "deny"), ("i", .ignore, "stop the ringing"), ("x", .end, "hang up"),
        ("h", .hold, "hold, or go on"), ("m", .mute, "mute, or be heard again"),
        ("t", .transfer, "transfer to an address; while it rings: send the caller there"),
        ("T", .transferToOther, "transfer to the other call"),
        ("j", .join, "join the other call: all hear each other"), ("o", .camera, "other camera"),
        ("p", .shareScreen, "share the screen, or no longer"),
        ("f", .fullScreen, "fill the screen with the window, or no longer"),
        ("s", .snapshot, "keep the window's picture in a file"), ("n", .next, "next call; the others are held"),
        ("l", .list, "list the calls"),
        ("?", .help, "this help"), ("q", .quit, "quit"),
    ]

    /// What a key does with the chosen call in this state; nil for a key without a meaning.
    init?(_ key: Character, isRinging: Bool) {
        if "0123456789*#".contains(key) {
            self = .tone(key)
            return
        }
        guard let meaning = Self.all.first(where: { $0.key == key })?.meaning else { return nil }
        self =
            switch meaning {
            case .answerWithVideo where !isRinging: .video
            case .transfer where isRinging: .redirect
            default: meaning
            }
    }

    static var helpText: String {
        (all.map { "  \($0.key)  \($0.words)" } + ["  0-9 * #  send the key's tone"]).joined(separator: "\n")
    }
}
