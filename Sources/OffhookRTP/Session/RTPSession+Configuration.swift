package import OffhookBasics

extension RTPSession {
    package enum Kind: Hashable, Sendable {
        case audio
        case video
    }

    /// What a session knows from its first moment on; what signalling may change later has a method of its own.
    package struct Configuration: Sendable {
        package var kind: Kind
        /// The canonical name, the same for all sessions of a call so that the far end can play them in time
        /// (RFC 3550 §6.5.1, RFC 7022).
        package var canonicalName: String
        /// All random numbers of the session follow from it: SSRC, first sequence number, timestamp base, intervals.
        package var seed: UInt64
        /// The wall clock for sender reports; one clock for all sessions of a call.
        package var clock: NTPClock
        /// Our SSRC where signalling announced one; otherwise it is rolled.
        package var ssrc: SSRC?
        /// The SSRC of our RFC 4588 stream where signalling announced one.
        package var retransmissionSSRC: SSRC?
        /// The most bytes of payload a video packet carries, before SRTP's tag.
        package var maximumPayloadSize = 1160
        /// The longest time between regular compound reports (RFC 3550 §6.2); half of it before the first.
        package var reportInterval: Duration
        /// Whether the far end agreed to an AVPF profile or to feedback by `a=rtcp-fb`: early and immediate feedback
        /// (RFC 4585 §3.5), reduced-size packets only where `usesReducedSizeReports`.
        package var usesFeedback = true
        package var usesReducedSizeReports = false
        /// NACK, PLI, FIR, as `a=rtcp-fb` lists them for what we receive.
        package var sendsNegativeAcknowledgements = true
        package var sendsPictureLossIndications = true
        package var sendsFullIntraRequests = true
        /// Whether the far end reads RFC 3611 reference times, so that a side that only receives learns the round trip.
        package var usesExtendedReports = false
        /// Whether our own packets are played when they come back, as an echo service sends them; else they are dropped
        /// (RFC 3550 §8.2). Either way a loop is told once.
        package var playsLoopedMedia = true
        /// Without a packet for so long while receiving, `receivingStopped` is told.
        package var silenceTimeout: Duration = .seconds(10)
        /// The shortest and longest delay of the audio jitter buffer.
        package var jitterBufferRange: ClosedRange<Duration> = .milliseconds(20)...(.milliseconds(400))

        package init(kind: Kind, canonicalName: String, seed: UInt64, clock: NTPClock) {
            self.kind = kind
            self.canonicalName = canonicalName
            self.seed = seed
            self.clock = clock
            reportInterval = kind == .video ? .seconds(1) : .seconds(5)
        }
    }

    /// What the caller should do next, in order.
    package enum Action {
        /// A whole RTP packet in the clear: protect it, send it, give the buffer back to the pool.
        case sendRTP(PacketBuffer)
        /// A packet that went out before, once more: likewise, and before those that are new.
        case repeatRTP(PacketBuffer)
        /// A whole RTCP packet in the clear: likewise.
        case sendRTCP(PacketBuffer)
        /// A frame that can be decoded now, in decoding order.
        case videoFrame(ReceivedVideoFrame)
        /// The far end cannot go on without a key frame: make the encoder's next frame one. Told once per burst of requests.
        case keyFrameRequested
        /// The far end asks to stay below a rate in bits per second, all our media together (TMMBR, REMB).
        case bitrateLimit(Int)
        /// One key press of the far end (RFC 4733), told once, when it is first heard of.
        case digit(TelephoneEvent)
        /// A digit of ours is out, its three end packets included.
        case digitSent(TelephoneEvent)
        /// No packet came for the silence timeout though we receive.
        case receivingStopped
        /// Packets come again.
        case receivingResumed
        /// A new source is being received, after the first packets or a change.
        case remoteSourceChanged(SSRC)
        /// The source that we receive said goodbye (RFC 3550 §6.6).
        case remoteGoodbye
        /// Another participant uses our SSRC; ours is a new one from here on (RFC 3550 §8.2).
        case localSourceChanged(SSRC)
        /// Our own packets come back to us; they are not taken for a collision (RFC 3550 §8.2).
        case loopDetected
        /// Arrival times of packets that bore our transport-wide sequence numbers.
        case transportFeedback(TransportFeedback)
        /// So many of the packets that we sent since the last such report were lost (RFC 3550 §6.4.1).
        case lossReported(lost: Int, of: Int)
    }
}
