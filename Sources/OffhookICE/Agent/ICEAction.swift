package import OffhookBasics

/// Who decides which pair is used (RFC 8445 §6.1.1).
package enum ICERole: Hashable, Sendable {
    case controlling
    case controlled

    package var opposite: ICERole {
        self == .controlling ? .controlled : .controlling
    }
}

/// What a caller should do, or know, after an agent was told something.
package enum ICEAction: Hashable, Sendable {
    /// Send these bytes. On a stream socket `to` is the server the connection leads to, and says nothing new.
    case send([UInt8], from: SocketID, to: Endpoint)
    /// A local candidate to tell the far side of.
    case gathered(ICECandidate, ICEStreamID)
    /// No more local candidates will be found, unless sockets are added or the network changes.
    case gatheringComplete
    /// The pair that media uses from now on, nominated and agreed by both sides. May change during a session.
    case selected(ICESelectedPair, ICEComponentID)
    /// Every component of the stream has a selected pair that works; told again after `disconnected`.
    case connected(ICEStreamID)
    /// The selected pair of a component has not answered for some seconds; it may still recover.
    case disconnected(ICEStreamID)
    /// No pair of some component works, and none is left to try.
    case failed(ICEStreamID)
    /// The far side no longer consents (RFC 7675): nothing may be sent, and `route(for:)` is nil.
    case consentLost(ICEComponentID)
    case roleChanged(ICERole)
    /// The far side restarted a stream (RFC 8445 §9): the answer must bear the new `localCredentials(of:)`.
    case restarted(ICEStreamID)
    /// The far side's media, taken out of a TURN server's stream connection.
    case relayedMedia([UInt8], ICEComponentID)
}

/// A nominated pair of candidates.
package struct ICESelectedPair: Hashable, Sendable {
    package var local: ICECandidate
    package var remote: ICECandidate
    package var route: ICERoute
}

/// How media of a component goes out.
package enum ICERoute: Hashable, Sendable {
    case direct(SocketID, to: Endpoint)
    /// By a TURN server: hand the payload to `sendMedia(_:for:at:actions:)`, which wraps it.
    case relayed(SocketID, server: Endpoint, peer: Endpoint)
}

/// What became of a datagram that an agent was shown.
package enum ICEReceipt: Hashable, Sendable {
    /// It was STUN or TURN of ours, and is dealt with.
    case handled
    /// It is no STUN: media that came straight from the far side, or anything else the caller knows.
    case notSTUN
    /// A TURN server brought it: the far side's media lies at these offsets of the datagram.
    case relayedMedia(Range<Int>, ICEComponentID)
}
