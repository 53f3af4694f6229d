public import OffhookBasics
public import OffhookMedia

/// What has happened to a call's media so far. A snapshot; all counts are since the call began.
public struct CallStatistics: Sendable {
    /// Sound.
    public var audio = MediaStatistics()
    /// Pictures.
    public var video = MediaStatistics()
    /// From the INVITE to the answer; nil before that.
    public var setupDuration: Duration?
    /// How long the call has been up, or was.
    public var establishedDuration: Duration = .zero
    /// How SIP travels.
    public var signalingTransport: SignalingTransport?

    /// Nothing has happened.
    public init() {}

    /// The worse of what audio and video have, of the streams that flow.
    public var quality: QualityLevel {
        let levels = [audio.sent, audio.received, video.sent, video.received].map(\.quality)
        return levels.filter { $0 != .unknown }.min() ?? .unknown
    }
}

/// One kind of media, each way.
public struct MediaStatistics: Sendable {
    /// What we send.
    public var sent = StreamStatistics()
    /// What we receive.
    public var received = StreamStatistics()

    /// Nothing has happened.
    public init() {}
}

/// One stream in one direction.
public struct StreamStatistics: Sendable {
    /// The codec's SDP name, in lower case; nil while there is none.
    public var codec: String?
    /// Samples a second of sound; 0 for pictures.
    public var sampleRate = 0
    /// The size of the newest picture; nil for sound and before the first.
    public var size: VideoSize?
    /// Pictures a second, over the last second.
    public var frameRate = 0.0
    /// Pictures a second aimed at; 0 where nothing is.
    public var targetFrameRate = 0.0
    /// Bits a second of payload, over the last second.
    public var bitrate = 0
    /// Bits a second aimed at; 0 where nothing is.
    public var targetBitrate = 0

    /// RTP packets.
    public var packets: UInt64 = 0
    /// Bytes of RTP payload.
    public var bytes: UInt64 = 0
    /// Packets that never arrived: counted here for what we receive, told by the far end for what we send.
    public var packetsLost: Int64 = 0
    /// Packets sent again, or asked for again and arrived.
    public var packetsRepaired: UInt64 = 0
    /// The share of packets lost lately, 0 to 1.
    public var lossFraction = 0.0
    /// How unevenly packets arrive (RFC 3550 §6.4.1).
    public var jitter: Duration = .zero
    /// From us to the far end and back; nil until a report tells.
    public var roundTrip: Duration?
    /// How long what is received waits to be played.
    public var jitterBufferDelay: Duration = .zero

    /// Pictures encoded or decoded, or frames of sound.
    public var frames: UInt64 = 0
    /// Pictures dropped on purpose: too many, or too late.
    public var framesDropped: UInt64 = 0
    /// How long the picture has stood still when it should not have.
    public var frozenDuration: Duration = .zero
    /// How often it has stood still.
    public var freezes: UInt64 = 0
    /// Pictures that need no other.
    public var keyFrames: UInt64 = 0
    /// Picture loss indications (RFC 4585): sent for what we receive, got for what we send.
    public var pictureLossIndications: UInt64 = 0
    /// Full intra requests (RFC 5104): likewise.
    public var fullIntraRequests: UInt64 = 0
    /// Requests for packets lost (RFC 4585 NACK): likewise.
    public var negativeAcknowledgements: UInt64 = 0
    /// Samples of sound that were made up for ones that did not come.
    public var concealedSamples: UInt64 = 0
    /// Samples of sound in all.
    public var samples: UInt64 = 0

    /// The cipher suite, as in `AEAD_AES_128_GCM`; nil while media is not encrypted.
    public var encryptionSuite: String?
    /// Where packets go and come from.
    public var transport = TransportStatistics()
    /// What the network does to it, for a person.
    public var quality = QualityLevel.unknown

    /// Nothing has happened.
    public init() {}
}

/// Where packets go and come from.
public struct TransportStatistics: Hashable, Sendable {
    /// Our end; nil while there is none.
    public var local: Endpoint?
    /// The far end; nil while there is none.
    public var remote: Endpoint?
    /// Whether a TURN server is in between.
    public var isRelayed = false

    /// No path.
    public init() {}
}

/// What the network does to a stream, as far as a person feels it: packets lost and their round trip.
///
/// How many pictures come is not part of it, since a shared screen that stands still sends one a second and a camera in the
/// dark a few: ``StreamStatistics/frameRate`` and ``StreamStatistics/frozenDuration`` tell.
public enum QualityLevel: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// Nobody can tell yet, or nothing flows.
    case unknown
    /// Hardly of use.
    case bad
    /// Faults are heard or seen all the time.
    case poor
    /// Faults are heard or seen now and then.
    case fair
    /// As it should be.
    case good

    /// Whether the left level is the worse one.
    public static func < (left: QualityLevel, right: QualityLevel) -> Bool { left.rawValue < right.rawValue }
}
