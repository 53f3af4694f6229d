package import OffhookBasics
package import OffhookMedia
package import OffhookSDP
package import OffhookSIP

/// What to do when the far end adds video to a call (RFC 3264 §8.1).
package enum VideoAddPolicy: Hashable, Sendable {
    /// The app is asked; the answer waits for it.
    case ask
    case accept(VideoMode)
    case deny
    /// The line is refused at once, and if the app accepts we offer it ourselves.
    case refuseThenOffer
}

/// What an engine is made with.
package struct EngineConfiguration: Sendable {
    package var userAgent = UserAgentConfiguration()
    /// How long an app may think about added video before it counts as denied.
    package var videoAddLimit: Duration = .seconds(15)
    /// How long our own call may ring before it is given up; nil waits for the network's say.
    package var noAnswerLimit: Duration?
    /// How long a call that failed stays before it ends by itself.
    package var failedCallLinger: Duration = .seconds(30)
    /// Without a packet for so long, a receiving stream is told to have fallen silent.
    package var mediaSilence: Duration = .seconds(5)
    /// Without sound for so long the call ends; nil keeps it.
    package var mediaLoss: Duration?
    /// How long an offer or answer waits for STUN and TURN servers to tell candidates.
    package var gatheringLimit: Duration = .seconds(2)
    /// Bits a second of a video encoder: what it begins with, and the most it is told.
    package var videoStartBitrate = 800_000
    package var videoMaximumBitrate = 2_500_000
    /// Most calls at once.
    package var callLimit = 1000

    package init() {}
}

/// How an account's media finds its way (RFC 8445).
package struct ICESettings: Hashable, Sendable {
    /// A TURN server whose name has been looked up.
    package struct Relay: Hashable, Sendable {
        /// How the server is reached (RFC 8656 §3.1); between the server and the far end it is UDP in every case.
        package enum Transport: Hashable, Sendable {
            case udp
            case tcp
            /// TLS over TCP, with the name that the server's certificate must bear.
            case tls(name: String)
        }

        package var endpoint: Endpoint
        package var transport = Transport.udp
        package var username: String
        package var password: String

        package init(endpoint: Endpoint, transport: Transport = .udp, username: String, password: String) {
            self.endpoint = endpoint
            self.transport = transport
            self.username = username
            self.password = password
        }
    }

    package var isLite = false
    package var stunServers: [Endpoint] = []
    package var relayServers: [Relay] = []
    /// Only relayed addresses are told and used.
    package var isRelayOnly = false

    package init() {}
}

/// An account: who we are to the far end, and what its calls may use.
package struct EngineAccount: Sendable {
    package var handle: AccountHandle
    /// From of our requests.
    package var identity: NameAddress
    /// Where every request goes first, whatever its Request-URI says: the server or an outbound proxy.
    package var server: ResolveQuery?
    /// What Route of every request begins with: an outbound proxy.
    package var routes: [NameAddress] = []
    /// How to register; nil does not.
    package var registration: RegistrationSettings?
    package var capabilities: MediaCapabilities
    package var videoAddPolicy = VideoAddPolicy.ask
    /// Nil does no ICE.
    package var ice: ICESettings?
    /// Whether we call whom a far end transfers us to; else transfers are refused.
    package var followsTransfers = false
    /// The name to log in with where a server asks; nil gives no credentials to anybody.
    package var authenticationName: String?

    package init(handle: AccountHandle, identity: NameAddress, capabilities: MediaCapabilities) {
        self.handle = handle
        self.identity = identity
        self.capabilities = capabilities
    }
}
