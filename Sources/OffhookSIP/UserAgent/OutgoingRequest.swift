internal import OffhookBasics

/// A request of ours on its way: the targets it may go to, the transaction it is in, and what it waits for.
struct OutgoingRequest: Sendable {
    enum Phase: Sendable {
        /// A target is being looked for.
        case resolving(ResolveToken)
        /// A transaction of ours waits for the final response.
        case active
        /// The latest response was this challenge.
        case challenged(SIPResponse)
        /// The final response went up; the transaction still absorbs repeats.
        case finished
    }

    let id: RequestID
    /// Without Via, and without Contact unless the upper layer made one.
    var request: SIPRequest
    var phase: Phase
    /// The route of the transaction.
    var route: TransportRoute?
    /// Where to try next (RFC 3263 §4.3).
    var candidates: [Candidate] = []
    var transaction: ClientTransactionID?
    var hasResponse = false
    var challengeCount = 0
    /// Set once the INVITE is to be ended.
    var cancelReasons: [SIPReason]?
    var isCancelSent = false
    /// When waiting for names, credentials or the end of a cancelled INVITE ends.
    var deadline: Instant?

    /// A route, and whether it was chosen by the size of the request alone (RFC 3261 §18.1.1).
    struct Candidate: Sendable {
        let route: TransportRoute
        var isSizeChecked = false
    }
}

/// One session with what the user agent knows about the way to its far end.
struct SessionRecord: Sendable {
    var session: InviteSession
    /// Where all requests of the session go, whatever their Request-URI says.
    var fixedRoute: TransportRoute?
    /// Where the first INVITE goes, best first, whatever its Request-URI says; what follows finds its own way.
    var firstRoutes: [TransportRoute] = []
    /// What Contact says in place of where we can be reached: a GRUU, an address that a translator gave us.
    var contact: NameAddress?
    /// How the latest message came or went.
    var lastRoute: TransportRoute?
    var openRequests: Set<RequestID> = []
}
