package import OffhookBasics

/// The offer/answer state of one session, seen from one side (RFC 3264).
///
/// A value: a copy made before a fork or an attempt is a state to go back to. Who offers first does not matter, so
/// late offers in either role are nothing special: the side that offers calls `makeOffer` and `receiveAnswer`, the
/// other `receiveOffer` and `makeAnswer`.
///
/// Rules that hold for the whole session:
/// - A line keeps its place; lines are zeroed and used again, never removed.
/// - What was sent last decides the version in `o=`: one more when the content differs, the same otherwise.
/// - Payload type numbers hold per direction: we send with the numbers of the peer's newest description and receive
///   with those of ours. An answer repeats the offer's numbers; our own offers never give a number that we have used
///   to another codec.
/// - A hold is undone only by the side that made it.
package struct OfferAnswer: Sendable {
    package var capabilities: MediaCapabilities

    /// What is agreed, one for each m-line in order; empty before the first exchange is complete.
    package var media: [NegotiatedMedia] { agreement.media }

    /// The open offer of ours, if any.
    package var localOffer: SessionDescription? {
        if case .localOffer(let open) = state { open.description } else { nil }
    }

    /// The peer's open offer, if any.
    package var remoteOffer: SessionDescription? {
        if case .remoteOffer(let description) = state { description } else { nil }
    }

    /// Whether the peer has misunderstood the bundle that we offered: it wants an offer without one, and gets no other from then on.
    package internal(set) var wantsOfferWithoutBundle = false

    /// Whether the peer holds the call.
    package var isRemotelyHeld: Bool { agreement.isRemotelyHeld }

    enum State: Sendable {
        /// Nothing is open; the last offer of ours is kept for an answer that is told again with more in it.
        case stable(lastOffer: LocalOffer?)
        case localOffer(LocalOffer)
        case remoteOffer(SessionDescription)
    }

    var state: State = .stable(lastOffer: nil)
    var agreement = Agreement()
    var identity: LocalIdentity
    /// The numbers we have given, by line; a refused offer has given them too.
    var numbers: [PayloadNumbers] = []
    var extensionNumbers = HeaderExtensionNumbers()
    var names = LineNames()

    /// - Parameters:
    ///   - sessionID: the number in `o=`, unlike that of any other session of this user; also the first version.
    ///   - address: the address in `o=`.
    package init(capabilities: MediaCapabilities, sessionID: UInt64, address: IPAddress) {
        self.capabilities = capabilities
        // RFC 3264 §5: the version must fit 63 bits after all its increments.
        let number = sessionID >> 2
        identity = LocalIdentity(sessionID: number, version: number, address: address)
    }

    /// The streams agreed on of this kind that are in use.
    package func media(_ kind: StreamKind) -> NegotiatedMedia? {
        agreement.media.first { $0.kind == kind && $0.isEnabled }
    }

    /// Takes back the open offer of either side, as after a refused re-INVITE: what was agreed before holds on (RFC 3261 §14.1).
    package mutating func rollback() {
        state = .stable(lastOffer: nil)
    }
}
