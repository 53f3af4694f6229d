internal import OffhookBasics

/// What a user agent offers, demands and endures.
package struct UserAgentConfiguration: Sendable {
    package var timers = TransactionTimers()
    /// The value of User-Agent and Server; nil sends none.
    package var product: String?
    /// The user part of our Contact.
    package var contactUser: String? = "offhook"
    /// Ports on which others reach us, for Via and Contact; a transport that is missing here uses its local port.
    package var listeningPorts: [SIPTransport: UInt16] = [:]

    /// Whether reliable provisional responses are offered and used (RFC 3262).
    package var reliableProvisionals = ReliableProvisionals.whenRequired
    package var sessionTimer = SessionTimerConfiguration()
    /// Methods outside a dialog that are handed up, beside INVITE and OPTIONS, which the user agent answers itself.
    package var acceptedRequests: Set<SIPMethod> = []
    /// Event packages listed in Allow-Events.
    package var eventPackages: [String] = ["refer"]
    /// Body types a request may have; multipart is looked into.
    package var acceptedBodies: [String] = [
        "application/sdp", "application/dtmf-relay", "application/media_control+xml",
        "application/trickle-ice-sdpfrag",
    ]
    /// INFO packages that are taken, for Recv-Info (RFC 6086 §4.2); INFO without a package is taken beside them.
    package var infoPackages: [String] = ["trickle-ice"]
    /// Whether a 3xx to an INVITE is followed.
    package var followsRedirects = true
    package var redirectLimit = 5

    /// How long the upper layer may hold back what an ACK or PRACK must carry, and credentials.
    package var decisionLimit: Duration = .seconds(30)
    /// How long an UPDATE with an offer may wait for its answer (RFC 3311 §5.2 asks for a prompt one).
    package var updateDecisionLimit: Duration = .seconds(2)
    /// How long an INVITE that rings is answered, if nobody says anything; nil waits for ever.
    package var ringingLimit: Duration? = .seconds(180)

    /// The longest request that goes over UDP unless nothing else works; nil never looks (RFC 3261 §18.1.1).
    package var datagramLimit: Int? = 1300
    /// Most sessions at once that others began; more are answered 486.
    package var incomingSessionLimit = 1024
    /// Most open server transactions; new ones beyond are answered 503.
    package var serverTransactionLimit = 16384

    package init() {}

    /// What Allow lists.
    package var allowedMethods: [SIPMethod] {
        let own: [SIPMethod] = [.invite, .ack, .cancel, .bye, .options, .info, .update, .prack, .refer, .notify]
        return own + acceptedRequests.subtracting(own).sorted { $0.name < $1.name }
    }

    /// What Supported lists.
    package var supportedOptions: [String] {
        var options = ["join", "norefersub", "replaces"]
        // RFC 8840 §10.3.
        if infoPackages.contains("trickle-ice") { options.append("trickle-ice") }
        if reliableProvisionals != .never { options.insert("100rel", at: 0) }
        if sessionTimer.isEnabled { options.append("timer") }
        return options
    }

    package enum ReliableProvisionals: Sendable {
        /// Not offered; an INVITE that demands them is refused.
        case never
        /// Used where the caller demands them, and offered to callees.
        case whenRequired
        /// Used wherever the caller can, and offered to callees.
        case whenSupported
    }
}

/// The session timer's wishes (RFC 4028).
package struct SessionTimerConfiguration: Hashable, Sendable {
    package var isEnabled: Bool
    /// Seconds we ask for.
    package var interval: UInt32
    /// The fewest seconds we endure; never under 90.
    package var minimum: UInt32

    package init(isEnabled: Bool = true, interval: UInt32 = 1800, minimum: UInt32 = 90) {
        self.isEnabled = isEnabled
        self.minimum = max(minimum, 90)
        self.interval = max(interval, self.minimum)
    }
}
