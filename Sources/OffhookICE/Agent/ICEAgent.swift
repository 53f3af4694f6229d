package import OffhookBasics

/// One side of ICE for all data streams of a session (RFC 8445), with trickle (RFC 8838), consent (RFC 7675) and TURN.
///
/// Order of calls: `addStream`, `addLocalHost` for each socket, `gather`; `setRemote` whenever the far side's description
/// comes; `receive` for every datagram; `handle(timeoutAt:)` at `nextDeadline`. A full agent that talks to a lite one
/// becomes controlling whatever it was told.
package struct ICEAgent: Sendable {
    package private(set) var role: ICERole

    /// `seed` must come from the system's random source: credentials and transaction numbers follow from it.
    package init(
        configuration: ICEConfiguration, role: ICERole, seed: UInt64, authenticator: any MessageAuthenticator
    ) {
        self.role = role
    }

    // MARK: What is used

    /// Adds a data stream; `components` is `[1]` with rtcp-mux, `[1, 2]` without.
    package mutating func addStream(components: [UInt16] = [ICEComponentID.rtp]) -> ICEStreamID {
        ICEStreamID(0)
    }

    /// Stops everything of a stream that is used no more; its sockets may be closed.
    package mutating func removeStream(_ stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]) {}

    /// Names a UDP socket of the caller's and its local address. One socket serves one component.
    package mutating func addLocalHost(
        _ endpoint: Endpoint, socket: SocketID, component: ICEComponentID, at now: Instant, actions: inout [ICEAction]
    ) {}

    /// Names a connection to a TURN server over TCP or TLS, to allocate by. Its bytes come to `receiveStream`.
    package mutating func addTURNStream(
        _ server: TURNServer, localEndpoint: Endpoint, socket: SocketID, component: ICEComponentID, at now: Instant,
        actions: inout [ICEAction]
    ) {}

    /// Asks the servers, once all sockets have been added; `gatheringComplete` follows.
    package mutating func gather(at now: Instant, actions: inout [ICEAction]) {}

    /// The sockets given are gone (an interface went down): their candidates, pairs and allocations go too.
    package mutating func networkChanged(
        lost sockets: Set<SocketID>, at now: Instant, actions: inout [ICEAction]
    ) {}

    // MARK: What is said to the far side, and by it

    package func localCredentials(of stream: ICEStreamID) -> ICECredentials? { nil }

    /// Those gathered so far, most preferred first.
    package func localCandidates(of stream: ICEStreamID) -> [ICECandidate] { [] }

    package var isGatheringComplete: Bool { false }

    /// Takes the far side's description. Credentials other than those known restart the stream (RFC 8445 §9).
    package mutating func setRemote(
        _ description: ICERemoteDescription, for stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]
    ) {}

    /// A candidate that trickled in.
    package mutating func addRemoteCandidate(
        _ candidate: ICECandidate, for stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]
    ) {}

    /// No more candidates will trickle in.
    package mutating func endRemoteCandidates(
        for stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]
    ) {}

    /// Restarts a stream from our side: new local credentials; media goes on by the old pair meanwhile.
    package mutating func restart(_ stream: ICEStreamID, at now: Instant, actions: inout [ICEAction]) {}

    // MARK: What comes and goes

    /// Shows a datagram to the agent.
    package mutating func receive(
        _ datagram: RawSpan, on socket: SocketID, from source: Endpoint, at now: Instant, actions: inout [ICEAction]
    ) -> ICEReceipt { .notSTUN }

    /// Bytes of a TURN server's connection, cut anyhow.
    package mutating func receiveStream(
        _ bytes: RawSpan, on socket: SocketID, at now: Instant, actions: inout [ICEAction]
    ) {}

    /// When `handle(timeoutAt:)` should next be called, if ever.
    package var nextDeadline: Instant? { nil }

    package mutating func handle(timeoutAt now: Instant, actions: inout [ICEAction]) {}

    /// How media goes out now: by the selected pair, during a restart by the former one, before nomination by the best
    /// valid one. Nil where nothing may be sent.
    package func route(for component: ICEComponentID) -> ICERoute? { nil }

    /// Sends media by whatever route there is; false where there is none.
    package mutating func sendMedia(
        _ payload: RawSpan, for component: ICEComponentID, at now: Instant, actions: inout [ICEAction]
    ) -> Bool { false }

    /// Gives back TURN allocations and stops.
    package mutating func close(at now: Instant, actions: inout [ICEAction]) {}
}
