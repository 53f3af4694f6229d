public import OffhookMedia

/// One video line of a call, as it was when the news of it was told.
public struct VideoChannel: Identifiable, Hashable, Sendable {
    /// Names a video line for as long as its call lives, unlike any other in the process.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        package let value: UInt64

        package init(value: UInt64) {
            self.value = value
        }

        /// An identifier that nobody has yet.
        package static func next() -> ID { ID(value: ProcessCounter.next()) }

        /// As in `video-7`.
        public var description: String { "video-\(value)" }
    }

    /// Which line it is.
    public let id: ID
    /// What this side asked for.
    public var requestedDirection: MediaDirection
    /// What both sides agreed on; ``MediaDirection/undefined`` before that.
    public var negotiatedDirection: MediaDirection
    /// Whether the line is in use. A line taken away stays in the list with false.
    public var isEnabled: Bool
    /// Why the line is not in use; nil where it is.
    public var disabledReason: VideoDisabledReason?
    /// The codec agreed on; nil before that, and on a line that is not in use.
    public var codec: VideoCodec?
    /// The size of the pictures that come in; nil until the first one.
    public var receivedSize: VideoSize?
    /// Whether the line carries a presentation beside the main picture (RFC 4796 `slides`).
    public var isPresentation: Bool

    /// Makes a snapshot of a line.
    package init(
        id: ID, requestedDirection: MediaDirection = .undefined, negotiatedDirection: MediaDirection = .undefined,
        isEnabled: Bool = false, disabledReason: VideoDisabledReason? = nil, codec: VideoCodec? = nil,
        receivedSize: VideoSize? = nil, isPresentation: Bool = false
    ) {
        self.id = id
        self.requestedDirection = requestedDirection
        self.negotiatedDirection = negotiatedDirection
        self.isEnabled = isEnabled
        self.disabledReason = disabledReason
        self.codec = codec
        self.receivedSize = receivedSize
        self.isPresentation = isPresentation
    }
}

/// Why a video line is not in use. More reasons may be added.
public struct VideoDisabledReason: RawRepresentable, Hashable, Sendable {
    /// The reason's name, for logs.
    public let rawValue: String

    /// Makes a reason of its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// This side took it away.
    public static let localUser = VideoDisabledReason(rawValue: "localUser")
    /// The far end took it away, or refused it.
    public static let remoteUser = VideoDisabledReason(rawValue: "remoteUser")
    /// The two sides share no codec.
    public static let noCommonCodec = VideoDisabledReason(rawValue: "noCommonCodec")
    /// Nothing has been agreed yet.
    public static let notNegotiated = VideoDisabledReason(rawValue: "notNegotiated")
    /// The media could not be encrypted as demanded.
    public static let mediaSecurity = VideoDisabledReason(rawValue: "mediaSecurity")
    /// The call is over.
    public static let callEnded = VideoDisabledReason(rawValue: "callEnded")
}
