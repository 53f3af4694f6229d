import Foundation
import Offhook

/// One option of the command line.
struct OptionDescription: Sendable {
    enum Action: Sendable {
        case flag(@Sendable (inout Options) -> Void)
        /// Reads a value; a nil `false` return means that the value is not what `usage` says.
        case value(@Sendable (inout Options, String) throws(UsageError) -> Bool)
    }

    let name: String
    /// What the value may be, for people.
    let usage: String
    let help: String
    let action: Action

    static func flag(
        _ name: String, _ help: String, _ set: @escaping @Sendable (inout Options) -> Void
    ) -> OptionDescription {
        OptionDescription(name: name, usage: "", help: help, action: .flag(set))
    }

    static func value(
        _ name: String, _ usage: String, _ help: String,
        _ read: @escaping @Sendable (inout Options, String) throws(UsageError) -> Bool
    ) -> OptionDescription {
        OptionDescription(name: name, usage: usage, help: help, action: .value(read))
    }

    /// An option that takes any text.
    static func text(
        _ name: String, _ usage: String, _ help: String, _ path: any WritableKeyPath<Options, String?> & Sendable
    ) -> OptionDescription {
        .value(name, usage, help) { options, text in
            options[keyPath: path] = text
            return !text.isEmpty
        }
    }
}

extension OptionDescription {
    /// An option that chooses a device or file.
    static func choice<Choice>(
        _ name: String, _ usage: String, _ help: String, _ path: any WritableKeyPath<Options, Choice> & Sendable,
        _ parse: @escaping @Sendable (String) -> Choice?
    ) -> OptionDescription {
        .value(name, usage, help) { options, text in
            guard let choice = parse(text) else { return false }
            options[keyPath: path] = choice
            return true
        }
    }

    /// An option that takes some of these, by their names, best first.
    static func list<Item: Sendable>(
        _ name: String, of all: [Item], named word: @escaping @Sendable (Item) -> String,
        _ path: any WritableKeyPath<Options, [Item]?> & Sendable
    ) -> OptionDescription {
        let words = all.map(word).joined(separator: ",")
        return .value(name, "LIST", all.count > 1 ? "of \(words), best first" : "of \(words)") {
            (options, text) throws(UsageError) in
            let items = text.split(separator: ",").map { item in all.first { word($0) == item.lowercased() } }
            guard !items.isEmpty, !items.contains(where: { $0 == nil }) else {
                throw UsageError("type \(name) and some of \(words), not “\(text)”")
            }
            options[keyPath: path] = items.compactMap(\.self)
            return true
        }
    }

    /// An option that switches a step of sound processing.
    static func processing(
        _ name: String, _ help: String, _ path: any WritableKeyPath<Options, AudioProcessing> & Sendable
    ) -> OptionDescription {
        .value(name, "auto|on|off", help) { options, text in
            guard let choice = text == "auto" ? .automatic : AudioProcessing(rawValue: text), text != "automatic" else {
                return false
            }
            options[keyPath: path] = choice
            return true
        }
    }
}

/// Every option there is, in the order the help lists them.
enum OptionTable {
    static let all: [OptionDescription] = accountOptions + networkOptions + mediaOptions + callOptions + outputOptions

    static let accountOptions: [OptionDescription] = [
        .text("--account", "sip:user@domain", "own address", \.account),
        .text("--display-name", "NAME", "own name, for the far end to show", \.displayName),
        .text("--auth-user", "NAME", "name to log in with", \.authenticationName),
        .text("--password-file", "FILE", "file whose first line is the password", \.passwordFile),
        .text("--password-env", "VAR", "environment variable that holds the password", \.passwordVariable),
        .text("--server", "HOST[:PORT]", "registrar and proxy (none: peer to peer)", \.server),
        .value("--transport", "udp|tcp|tls|ws|wss", "how to reach it") { options, text in
            let transports: [String: SignalingTransport] = [
                "udp": .udp, "tcp": .tcp, "tls": .tls, "ws": .webSocket, "wss": .secureWebSocket,
            ]
            options.transport = transports[text]
            return options.transport != nil
        },
        .text("--outbound-proxy", "URI", "where every request goes first", \.outboundProxy),
        .flag("--register", "register with the server") { $0.registers = true },
        .value("--expires", "SECONDS", "how long to register at a time (600)") {
            (options, text) throws(UsageError) in
            options.expires = .seconds(try number(text, 1...86_400, "--expires SECONDS"))
            return true
        },
    ]

    static let networkOptions: [OptionDescription] = [
        .value("--bind", "ADDR[:PORT]", "where to listen (all interfaces, 5060)") { options, text in
            if let endpoint = Endpoint(parsing: text) {
                (options.bindAddress, options.port) = (endpoint.address, endpoint.port)
            } else if let address = IPAddress(parsing: text) {
                options.bindAddress = address
            } else if text.hasPrefix(":"), let port = UInt16(text.dropFirst()) {
                options.port = port
            } else {
                return false
            }
            return true
        },
        .value("--media-ports", "LO-HI", "ports for media (any)") { options, text in
            let ports = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
            guard ports.count == 2, let low = ports[0], let high = ports[1], low > 0, low <= high else { return false }
            options.mediaPorts = low...high
            return true
        },
        .text("--tls-ca", "FILE", "certificates to trust, in PEM", \.trustRootsFile),
        .flag("--tls-insecure", "take any certificate") { $0.acceptsAnyCertificate = true },
        .text("--tls-cert", "FILE", "own certificate and its chain, in PEM; takes calls by TLS too", \.certificateFile),
        .text("--tls-key", "FILE", "the key of that certificate, in PEM", \.privateKeyFile),
        .value("--accept-from", "anyone|server|ADDR[,…]", "whom to listen to; others get silence (anyone)") {
            options, text in
            switch text {
            case "anyone": options.allowedPeers = .anyone
            case "server": options.allowedPeers = .serversOnly
            default:
                let addresses = text.split(separator: ",").map { IPAddress(parsing: String($0)) }
                guard !addresses.isEmpty, !addresses.contains(nil) else { return false }
                options.allowedPeers = .addresses(Set(addresses.compactMap(\.self)))
            }
            return true
        },
        .value("--srtp", "off|sdes|dtls|best", "media encryption (best)") { options, text in
            options.security = SRTPPolicy(rawValue: text)
            return options.security != nil
        },
        .value("--ice", "off|on|lite|relay", "ICE (off)") { options, text in
            options.ice = ConnectivityConfiguration.ICEPolicy(rawValue: text)
            return options.ice != nil
        },
        .value("--stun", "HOST:PORT", "a STUN server; may be given several times") {
            (options, text) throws(UsageError) in
            guard isServer(text) else {
                throw UsageError("type --stun HOST or --stun HOST:PORT with a port from 1 to 65535, not “\(text)”")
            }
            options.stunServers.append(text)
            return true
        },
        .value("--turn", "URI", "a TURN server, which --auth-user logs in to; may be given several times") {
            options, text in
            options.relayServers.append(text)
            return text.hasPrefix("turn:") || text.hasPrefix("turns:")
        },
    ]

    static let mediaOptions: [OptionDescription] = [
        .value("--video", "\(VideoWords.list)|auto", "video mode; auto as the incoming call advises (off)") {
            options, text in
            switch text {
            case "off": options.video = .off
            case "auto": options.video = .automatic
            default:
                guard let mode = VideoWords.mode(text) else { return false }
                options.video = .mode(mode)
            }
            return true
        },
        .list("--audio-codecs", of: AudioCodec.all, named: \.rawValue, \.audioCodecs),
        .list("--video-codecs", of: VideoCodec.all, named: \.rawValue, \.videoCodecs),
        .choice("--camera", CameraChoice.usage, "what to send (pattern)", \.camera, CameraChoice.init(parsing:)),
        .choice(
            "--microphone", MicrophoneChoice.usage, "what to send (tone)", \.microphone, MicrophoneChoice.init(parsing:)
        ),
        .choice(
            "--display", DisplayChoice.usage, "where received video goes (none)", \.display,
            DisplayChoice.init(parsing:)),
        .choice(
            "--speaker", SpeakerChoice.usage, "where received sound goes (none)", \.speaker,
            SpeakerChoice.init(parsing:)),
        .processing("--echo-cancellation", "takes the speaker out of the microphone (auto)", \.echoCancellation),
        .processing("--noise-suppression", "softens fans and hum (auto)", \.noiseSuppression),
        .processing("--gain-control", "brings voices to a usual loudness (off)", \.gainControl),
        .value("--record", "FILE.webm", "keep pictures and sound of both sides") { options, text in
            options.record = text
            return text.hasSuffix(".webm") && text != ".webm"
        },
        .value("--bitrate", "KBPS", "video to start with (800)") { (options, text) throws(UsageError) in
            options.bitrate = try number(text, 30...50_000, "--bitrate KBPS") * 1000
            return true
        },
        .value("--max-bitrate", "KBPS", "video aims at no more (2500)") { (options, text) throws(UsageError) in
            options.maximumBitrate = try number(text, 30...50_000, "--max-bitrate KBPS") * 1000
            return true
        },
    ]

    static let callOptions: [OptionDescription] = [
        .flag("--delayed-offer", "send the INVITE without SDP") { $0.delaysOffer = true },
        .value("--duration", "SECONDS", "hang up so long after the call is up") {
            (options, text) throws(UsageError) in
            guard let seconds = Double(text), (0...86_400).contains(seconds) else {
                throw UsageError("type --duration SECONDS from 0 to 86400, not “\(text)”")
            }
            options.duration = .milliseconds(Int(seconds * 1000))
            return true
        },
        .value("--calls", "N", "exit after so many calls") { (options, text) throws(UsageError) in
            options.calls = try number(text, 1...100_000, "--calls N")
            return true
        },
        .value("--do", "AT:COMMAND[,…]", "commands, seconds after the call is up; listed below") {
            (options, text) throws(UsageError) in
            options.script = try Script(parsing: text)
            return true
        },
        .value("--on-add-video", AddVideoChoice.usage, "when the far end adds video (ask)") { options, text in
            guard let choice = AddVideoChoice(parsing: text) else { return false }
            options.addVideo = choice
            return true
        },
        .value("--on-transfer", "follow or refuse", "when the far end asks to call somebody else (follow)") {
            options, text in
            guard let policy = TransferPolicy(rawValue: text) else { return false }
            options.transferPolicy = policy
            return true
        },
    ]

    /// A whole number of this range.
    private static func number(
        _ text: String, _ range: ClosedRange<Int>, _ what: String
    ) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("type \(what) from \(range.lowerBound) to \(range.upperBound), not “\(text)”")
        }
        return number
    }

    /// Whether this is a host, or a host and a port.
    private static func isServer(_ text: String) -> Bool {
        if IPAddress(parsing: text) != nil { return true }
        if let endpoint = Endpoint(parsing: text) { return endpoint.port > 0 }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let isHost = parts[0].first != nil && parts[0].allSatisfy { $0.isLetter || $0.isNumber || "-._".contains($0) }
        return isHost && (parts.count == 1 || parts.count == 2 && UInt16(parts[1]).map { $0 > 0 } == true)
    }

    static let outputOptions: [OptionDescription] = [
        .value("--events", "json", "one JSON object a line instead of words") { options, text in
            options.writesEvents = true
            return text == "json"
        },
        .text("--stats", "FILE", "a sample of figures each second, as JSON lines", \.statisticsFile),
        .text("--trace", "FILE", "all SIP messages, credentials removed", \.traceFile),
    ]
}
