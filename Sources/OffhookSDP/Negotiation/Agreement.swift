internal import OffhookBasics

/// What both sides last agreed on, and what the rules of a session have to remember of it.
struct Agreement: Sendable {
    var media: [NegotiatedMedia] = []
    var isRemotelyHeld = false
}

struct LocalOffer: Sendable {
    var description: SessionDescription
    var wishes: MediaWishes
}

struct LocalIdentity: Sendable {
    var sessionID: UInt64
    var version: UInt64
    var address: IPAddress
}
