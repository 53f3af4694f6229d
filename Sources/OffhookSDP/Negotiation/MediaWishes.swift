package import OffhookBasics
package import OffhookMedia

/// The two kinds of stream a session has at most one each of.
package enum StreamKind: String, Hashable, Sendable, CaseIterable {
    case audio
    case video
}

/// What the local side brings to one stream: where it receives, and keys.
///
/// The same value may be handed in again and again; what has been agreed stays in force whatever newer keys are here.
package struct LocalStream: Hashable, Sendable {
    /// Where RTP is received, by preference; an answer uses the first of the family that the offer uses.
    package var addresses: [IPAddress]
    package var port: UInt16
    /// Where RTCP is received; nil for the port after RTP's.
    package var rtcpPort: UInt16?
    /// Fresh master key and salt for each SDES suite that may be used, as many bytes as ``SDESSuite/inlineLength``.
    package var keys: [SDESSuite: [UInt8]]
    /// Our ICE as it shall stand in the description; nil for none. Left out of answers to offers without ICE.
    package var ice: ICEDescription?
    /// Our fingerprints. Without them DTLS is not done. `setup` is left to the negotiation unless it is set.
    package var dtls: DTLSDescription?
    /// Our source, for `a=ssrc`; nil leaves the line out.
    package var ssrc: UInt32?
    /// The source of our repeats, where they have a stream of their own (RFC 4588 §8.3).
    package var retransmissionSSRC: UInt32?
    package var cname: String?
    /// Lines to add as they are, for what this module does not know.
    package var attributes: [SDPAttribute]

    package init(
        address: IPAddress, port: UInt16, rtcpPort: UInt16? = nil, keys: [SDESSuite: [UInt8]] = [:],
        ice: ICEDescription? = nil, dtls: DTLSDescription? = nil, ssrc: UInt32? = nil,
        retransmissionSSRC: UInt32? = nil, cname: String? = nil,
        attributes: [SDPAttribute] = []
    ) {
        addresses = [address]
        self.port = port
        self.rtcpPort = rtcpPort
        self.keys = keys
        self.ice = ice
        self.dtls = dtls
        self.ssrc = ssrc
        self.retransmissionSSRC = retransmissionSSRC
        self.cname = cname
        self.attributes = attributes
    }
}

/// What the local side wants of the session when it makes an offer or an answer.
package struct MediaWishes: Hashable, Sendable {
    /// nil where no audio can be had: audio lines are refused.
    package var audio: LocalStream?
    /// nil where no video can be had: video lines are refused, whatever the mode.
    package var video: LocalStream?
    package var audioDirection: MediaDirection
    /// nil until somebody set one, which is like `disabled`.
    package var videoMode: VideoMode?
    package var allowedVideoDirection: MediaDirection
    /// Whether the local side holds the call: nothing is received on any stream.
    package var isHolding: Bool

    package init(
        audio: LocalStream?, video: LocalStream? = nil, audioDirection: MediaDirection = .sendReceive,
        videoMode: VideoMode? = nil, allowedVideoDirection: MediaDirection = .sendReceive, isHolding: Bool = false
    ) {
        self.audio = audio
        self.video = video
        self.audioDirection = audioDirection
        self.videoMode = videoMode
        self.allowedVideoDirection = allowedVideoDirection
        self.isHolding = isHolding
    }

    /// The stream of this kind, where it is wanted at all.
    func stream(_ kind: StreamKind) -> LocalStream? {
        switch kind {
        case .audio: audio
        case .video: videoMode?.direction == nil ? nil : video
        }
    }

    /// The transport of this kind's stream, which lines of the other kind may use, too.
    func transport(_ kind: StreamKind) -> LocalStream? { kind == .audio ? audio : video }

    /// The direction asked for before hold is looked at; nil where the stream is not wanted.
    func requestedDirection(_ kind: StreamKind) -> MediaDirection? {
        switch kind {
        case .audio:
            return audio == nil ? nil : audioDirection
        case .video:
            guard video != nil, let asked = videoMode?.direction else { return nil }
            return asked.intersection(allowedVideoDirection)
        }
    }

    /// The direction asked for, less what our hold forbids: while we hold we receive nothing.
    func direction(_ kind: StreamKind) -> MediaDirection? {
        requestedDirection(kind).map { isHolding ? $0.intersection(.sendOnly) : $0 }
    }
}
