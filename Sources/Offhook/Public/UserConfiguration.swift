/// The settings of one account. An address is all it needs.
public struct UserConfiguration: Sendable {
    /// The account's SIP address, as in `sip:alice@example.org`.
    public var address: String
    /// The name to show to the far end; nil for none.
    public var displayName: String?
    /// How to log in where a server asks.
    public var credentials: Credentials?
    /// The registrar and proxy; nil for none: calls go peer to peer.
    public var server: SignalingServer?
    /// A proxy that every request goes through first, as a SIP URI.
    public var outboundProxy: String?
    /// For how long to register at a time.
    public var registrationInterval: Duration = .seconds(600)
    /// Asks the server to keep the registration while the app is away.
    public var keepAlive = false
    /// Headers of our own for every INVITE.
    public var headers: [SIPHeader] = []

    /// Whether and how media is encrypted; nil as the client does.
    public var mediaSecurity: SRTPPolicy?
    /// The audio codecs, in order of preference; nil as the client has them.
    public var audioCodecs: [AudioCodec]?
    /// The video codecs, in order of preference; nil as the client has them.
    public var videoCodecs: [VideoCodec]?
    /// How peers are reached; nil as the client does.
    public var connectivity: ConnectivityConfiguration?
    /// What happens when the far end adds video; nil as the client does.
    public var addVideoPolicy: AddVideoPolicy?

    /// Makes the settings of an account.
    public init(
        address: String, displayName: String? = nil, credentials: Credentials? = nil, server: SignalingServer? = nil,
        outboundProxy: String? = nil
    ) {
        self.address = address
        self.displayName = displayName
        self.credentials = credentials
        self.server = server
        self.outboundProxy = outboundProxy
    }
}

/// How to log in where a server asks. It prints without the password.
public struct Credentials: Sendable, CustomStringConvertible {
    /// What a server's challenge asks for.
    public struct Challenge: Hashable, Sendable {
        /// The realm, to be shown to a person.
        public let realm: String
        /// The authentication name in use.
        public let authenticationName: String
        /// Whether the last password was wrong.
        public let isRepeated: Bool

        /// Makes a challenge.
        public init(realm: String, authenticationName: String, isRepeated: Bool) {
            self.realm = realm
            self.authenticationName = authenticationName
            self.isRepeated = isRepeated
        }
    }

    /// The name to log in with.
    public var authenticationName: String
    /// Gives the password for a challenge; nil gives up. Called on no thread in particular.
    package var password: @Sendable (Challenge) async -> String?

    /// Makes credentials of a name and a password.
    public init(authenticationName: String, password: String) {
        self.authenticationName = authenticationName
        self.password = { challenge in challenge.isRepeated ? nil : password }
    }

    /// Makes credentials whose password is asked for when it is needed; the provider may be called on any thread.
    public init(authenticationName: String, provider: @escaping @Sendable (Challenge) async -> String?) {
        self.authenticationName = authenticationName
        password = provider
    }

    /// The name alone.
    public var description: String { "Credentials(\(authenticationName))" }
}

/// A registrar and proxy, and how to reach it.
public struct SignalingServer: Hashable, Sendable {
    /// The host name or address, and the port where it is not the usual one: `sip.example.org`, `192.0.2.1:5070`.
    public var host: String
    /// How messages travel; nil finds out by the name service (RFC 3263).
    public var transport: SignalingTransport?

    /// Makes a server.
    public init(_ host: String, transport: SignalingTransport? = nil) {
        self.host = host
        self.transport = transport
    }
}

/// A header of a SIP message that this library does not interpret.
public struct SIPHeader: Hashable, Sendable {
    /// The name, as in `X-Ticket`. Names compare without regard to case on the wire.
    public var name: String
    /// The value, unfolded.
    public var value: String

    /// Makes a header.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What may be said of a call when it is made.
public struct CallOptions: Hashable, Sendable {
    /// Sends the INVITE without a session description, so that the far end offers (RFC 3264 §5, "late offer").
    public var delaysOffer = false
    /// What the Subject header says; nil for none.
    public var subject: String?
    /// Headers of our own for the INVITE.
    public var headers: [SIPHeader] = []

    /// An INVITE with an offer, and nothing more.
    public init() {}
}
