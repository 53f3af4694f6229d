public import OffhookMedia

/// What can be done with a call now: a snapshot, one capability for each command and for each target video mode.
public struct CallCapabilities: Hashable, Sendable {
    /// The name of one capability of a call.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name as the source writes it, as in `hold` or `setVideoMode.sendReceive`.
        public let rawValue: String

        /// Makes a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// `start()`
        public static let start = Name(rawValue: "start")
        /// `accept()`
        public static let accept = Name(rawValue: "accept")
        /// `ignore()`
        public static let ignore = Name(rawValue: "ignore")
        /// `deny(_:)`
        public static let deny = Name(rawValue: "deny")
        /// `redirect(to:)`
        public static let redirect = Name(rawValue: "redirect")
        /// `end()`
        public static let end = Name(rawValue: "end")
        /// `hold()`
        public static let hold = Name(rawValue: "hold")
        /// `unhold()`
        public static let unhold = Name(rawValue: "unhold")
        /// `muteAudio(_:)`
        public static let muteAudio = Name(rawValue: "muteAudio")
        /// `silenceSpeaker(_:)`
        public static let silenceSpeaker = Name(rawValue: "silenceSpeaker")
        /// `sendDTMF(_:)`
        public static let sendDTMF = Name(rawValue: "sendDTMF")
        /// `acceptVideo(_:)`
        public static let acceptVideo = Name(rawValue: "acceptVideo")
        /// `denyVideo()`
        public static let denyVideo = Name(rawValue: "denyVideo")
        /// `transfer(to:)`
        public static let transfer = Name(rawValue: "transfer")
        /// `join(_:)`
        public static let join = Name(rawValue: "join")
        /// `sendKeyFrameRequest()`
        public static let sendKeyFrameRequest = Name(rawValue: "sendKeyFrameRequest")
        /// `restartICE()`
        public static let restartICE = Name(rawValue: "restartICE")

        /// `setVideoMode(_:)` with this mode
        public static func setVideoMode(_ mode: VideoMode) -> Name {
            Name(rawValue: "setVideoMode." + mode.rawValue)
        }

        /// Every name there is.
        public static let all: [Name] =
            [
                .start, .accept, .ignore, .deny, .redirect, .end, .hold, .unhold, .muteAudio, .silenceSpeaker,
                .sendDTMF, .acceptVideo, .denyVideo, .transfer, .join, .sendKeyFrameRequest, .restartICE,
            ] + VideoMode.allCases.map { .setVideoMode($0) }
    }

    // Absent means denied for `invalidState`, so that a call without news allows nothing.
    private var capabilities: [Name: Capability] = [:]

    /// Nothing is allowed.
    public init() {}

    /// The capability of this name.
    public subscript(name: Name) -> Capability {
        get { capabilities[name] ?? .denied(.invalidState) }
        set { capabilities[name] = newValue }
    }

    /// Whether `setVideoMode(_:)` may be called with this mode.
    public subscript(mode: VideoMode) -> Capability {
        get { self[.setVideoMode(mode)] }
        set { self[.setVideoMode(mode)] = newValue }
    }

    /// The names whose capabilities differ.
    public func changes(from earlier: CallCapabilities) -> Set<Name> {
        Set(Name.all.filter { self[$0] != earlier[$0] })
    }

    /// Throws where the capability of this name denies it.
    package func require(_ name: Name) throws(CallError) {
        guard let reason = self[name].denialReason else { return }
        throw .notAllowed(reason, "\(name.rawValue) is not allowed now: \(reason.rawValue)")
    }
}
