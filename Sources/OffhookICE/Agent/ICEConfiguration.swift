package import OffhookBasics

/// How an agent gathers, checks and keeps watch.
package struct ICEConfiguration: Sendable {
    /// STUN servers that tell our address as seen from outside.
    package var stunServers: [Endpoint] = []
    /// TURN servers reached by UDP from each host candidate's socket.
    package var turnServers: [TURNServer] = []
    /// Only relayed candidates are used and told, so that the far side never learns our addresses.
    package var relayOnly = false
    /// We only answer checks (RFC 8445 §2.5).
    package var isLite = false
    /// Ta: the least time between two new transactions of the whole agent (RFC 8445 §14.2).
    package var pacing: Duration = .milliseconds(50)
    /// The first retransmission timeout (RFC 8489 §6.2.1, RFC 8445 §14.3).
    package var initialTimeout: Duration = .milliseconds(500)
    /// Rc: how often a request is sent in all.
    package var requestCount = 7
    /// How many more repetitions come before the time between them doubles, where the path is known to work.
    package var steadyCount = 6
    /// How long a controlling agent waits for better pairs once it has a valid one.
    package var nominationPatience: Duration = .milliseconds(400)
    /// Mean time between two consent checks (RFC 7675 §5.1); each is drawn from 0.8 to 1.2 of it.
    package var consentInterval: Duration = .seconds(5)
    /// How long consent lasts without an answer (RFC 7675 §5.1).
    package var consentLifetime: Duration = .seconds(30)
    /// How long the selected pair may be silent before the stream counts as disconnected: two lost checks are no news.
    package var disconnectedAfter: Duration = .seconds(13)
    /// How long a list without a pair left to check still waits for one (RFC 8863 §4).
    package var failurePatience: Duration = .milliseconds(39_500)
    /// When `gatheringComplete` is told at the latest; what servers answer after that still becomes a candidate.
    package var gatheringTimeout: Duration = .seconds(5)
    /// Pairs of all check lists together (RFC 8445 §6.1.2.5).
    package var pairLimit = 100

    package init() {}
}
