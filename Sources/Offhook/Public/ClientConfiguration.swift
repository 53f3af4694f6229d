public import OffhookBasics
public import OffhookMedia

/// How SIP messages travel.
public enum SignalingTransport: String, Hashable, Sendable, CaseIterable {
    /// Datagrams.
    case udp
    /// A plain stream.
    case tcp
    /// An encrypted stream.
    case tls
    /// WebSocket (RFC 7118).
    case webSocket
    /// WebSocket over TLS.
    case secureWebSocket
}

/// The settings of a ``Client``. Every one has a default that works.
public struct ClientConfiguration: Sendable {
    /// Where to listen; nil for all interfaces.
    public var bindAddress: IPAddress?
    /// The UDP and TCP port to listen on; 0 takes a free one.
    public var port: UInt16 = 5060
    /// The ports that media may use; nil for any free one.
    public var mediaPorts: ClosedRange<UInt16>?
    /// The transports to listen on. Users with a server add theirs by themselves.
    public var transports: Set<SignalingTransport> = [.udp, .tcp]
    /// Whom to trust on TLS, and who we are there.
    public var tls = TLSConfiguration()

    /// The audio codecs, in order of preference.
    public var audioCodecs = AudioCodec.all
    /// The video codecs, in order of preference.
    public var videoCodecs = VideoCodec.all
    /// What video may cost.
    public var videoLimits = VideoLimits()
    /// Whether and how media is encrypted.
    public var mediaSecurity = SRTPPolicy.best
    /// How peers behind address translators are reached.
    public var connectivity = ConnectivityConfiguration()

    /// What happens when the far end adds video in the middle of a call.
    public var addVideoPolicy = AddVideoPolicy.ask
    /// What happens when the far end asks to transfer us.
    public var transferPolicy = TransferPolicy.follow
    /// Who may call.
    public var allowedPeers = AllowedPeers.anyone
    /// Most calls at once, so that strangers who call in masses do not use up the machine: a call with video takes about
    /// 1 MB. Who calls beyond hears busy (486).
    public var maximumCalls = 250
    /// How long things may take.
    public var timeouts = Timeouts()
    /// The interval of session timers (RFC 4028); nil does without them.
    public var sessionInterval: Duration? = .seconds(1800)
    /// What the User-Agent header says.
    public var userAgent = "Offhook"

    /// Gets what is worth a line in a log. Called on any thread; silent where nil.
    public var logHandler: (@Sendable (LogEntry) -> Void)?
    /// Gets every SIP message sent or received, credentials removed. Called on the network thread: return at once.
    public var traceHandler: (@Sendable (SignalingTrace) -> Void)?

    /// Makes the default settings.
    public init() {}
}

/// Whom to trust on TLS, and who we are there.
public struct TLSConfiguration: Sendable {
    /// A PEM file of the authorities to trust; nil for those of the system.
    public var trustRootsFile: String?
    /// A PEM file with our certificate and its chain; nil for none.
    public var certificateFile: String?
    /// A PEM file with the key of our certificate.
    public var privateKeyFile: String?
    /// Takes any certificate. Insecure: whoever is in between can listen and lie.
    public var acceptsAnyCertificateInsecurely = false

    /// Trusts the authorities of the system.
    public init() {}
}

/// How peers behind address translators are reached.
public struct ConnectivityConfiguration: Sendable {
    /// Whether ICE (RFC 8445) is used.
    public enum ICEPolicy: String, Hashable, Sendable, CaseIterable {
        /// Not at all: media goes to the address that the session description names, and back where it comes from.
        case off
        /// Fully.
        case on
        /// As the lite side, for hosts with a public address.
        case lite
        /// By TURN servers alone, so that the far end learns none of our addresses (RFC 8828 §5.2, mode 4).
        case relay
    }

    /// A TURN server and how to log in there.
    public struct RelayServer: Hashable, Sendable {
        /// As in `turn:relay.example.org:3478`, `turn:relay.example.org?transport=tcp` or `turns:relay.example.org`
        /// (RFC 7065).
        public var uri: String
        /// The name to log in with.
        public var username: String
        /// The password to log in with.
        public var password: String

        /// Makes a relay server.
        public init(uri: String, username: String, password: String) {
            self.uri = uri
            self.username = username
            self.password = password
        }
    }

    /// Whether ICE is used.
    public var ice = ICEPolicy.off
    /// STUN servers, each `host` or `host:port`.
    public var stunServers: [String] = []
    /// TURN servers.
    public var relayServers: [RelayServer] = []

    /// No ICE, and no servers.
    public init() {}
}

/// What video may cost.
public struct VideoLimits: Hashable, Sendable {
    /// Bits a second to start with.
    public var startBitrate = 800_000
    /// Bits a second to aim at, at most. A second in which the whole picture changes may take half as much again.
    public var maximumBitrate = 2_500_000
    /// The largest picture to send; larger ones are scaled down.
    public var maximumSize = VideoSize(width: 1280, height: 720)
    /// Pictures a second never to exceed.
    public var maximumFrameRate = 30

    /// 1280x720 at 30 pictures and up to 2.5 Mbit a second.
    public init() {}
}

/// What happens when the far end adds video in the middle of a call.
public enum AddVideoPolicy: Hashable, Sendable {
    /// The delegate is asked, and `acceptVideo(_:)` or `denyVideo()` answers.
    case ask
    /// It is accepted with this mode.
    case accept(VideoMode)
    /// It is refused.
    case deny
    /// It is refused at once, the delegate is asked, and `acceptVideo(_:)` makes an offer of our own.
    case refuseThenOffer
}

/// What happens when the far end asks to transfer us (RFC 3515).
public enum TransferPolicy: String, Hashable, Sendable, CaseIterable {
    /// We call whom we are sent to.
    case follow
    /// We refuse.
    case refuse
}

/// Who may call.
public enum AllowedPeers: Hashable, Sendable {
    /// Anyone who reaches the port.
    case anyone
    /// The servers of the users alone: requests from elsewhere are dropped without an answer.
    case serversOnly
    /// These addresses alone.
    case addresses(Set<IPAddress>)
}

/// How long things may take.
public struct Timeouts: Hashable, Sendable {
    /// How long the app may think about video that the far end adds; then it is denied.
    public var videoAdd: Duration = .seconds(15)
    /// How long a call may ring at the far end before we give up; nil for as long as the far end likes.
    public var noAnswer: Duration? = .seconds(180)
    /// How long a call may ring here before it is refused as unanswered; nil for as long as the caller likes.
    public var ringing: Duration? = .seconds(180)
    /// How long a failed call stays before it ends by itself.
    public var failedCallLinger: Duration = .seconds(30)
    /// After how long without a packet a receiving stream is told to be silent.
    public var mediaSilence: Duration = .seconds(5)
    /// After how long without a packet on any stream a call ends with `mediaTimeout`; nil for never.
    public var mediaLoss: Duration?

    /// The defaults.
    public init() {}
}

/// One line of a log.
public struct LogEntry: Sendable {
    /// How much it matters.
    public enum Level: Int, Hashable, Sendable, Comparable, CaseIterable {
        /// For finding faults.
        case debug
        /// Something worth knowing happened.
        case info
        /// Something is odd.
        case warning
        /// Something broke.
        case error

        /// Whether the left level matters less.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much it matters.
    public let level: Level
    /// What happened, without credentials.
    public let message: String
    /// The call it is about, if it is about one.
    public let call: Call.ID?

    /// Makes an entry.
    public init(level: Level, message: String, call: Call.ID? = nil) {
        self.level = level
        self.message = message
        self.call = call
    }
}

/// One SIP message on its way, credentials removed.
public struct SignalingTrace: Sendable {
    /// Which way a message went.
    public enum Direction: String, Hashable, Sendable {
        /// From us.
        case sent
        /// To us.
        case received
    }

    /// Which way it went.
    public let direction: Direction
    /// When, on the local monotonic clock.
    public let time: Instant
    /// How it travelled.
    public let transport: SignalingTransport
    /// The far end.
    public let remote: Endpoint
    /// The message, with keys and passwords struck out.
    public let message: String

    /// Makes an entry.
    public init(direction: Direction, time: Instant, transport: SignalingTransport, remote: Endpoint, message: String) {
        self.direction = direction
        self.time = time
        self.transport = transport
        self.remote = remote
        self.message = message
    }
}
