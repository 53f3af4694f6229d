package import OffhookBasics

/// One media line's RTP: what it sends, what it receives, and the RTCP about both (RFC 3550, RFC 4585).
///
/// Everything is in the clear: the caller unprotects what comes and protects what goes. It belongs to one thread.
/// After each call look at `nextDeadline` again.
package final class RTPSession {
    package let configuration: Configuration
    package private(set) var localSSRC: SSRC
    package private(set) var remoteSSRC: SSRC?

    package init(configuration: Configuration) {
        self.configuration = configuration
        localSSRC = SSRC(0)
    }

    /// The first SSRC of ours is known from the start, so that signalling can announce it.
    package var retransmissionSSRC: SSRC? { nil }

    // MARK: What signalling decides

    /// What payload types mean in packets that come; `retransmissionSSRCs` are the sources known to be RFC 4588 streams.
    package func setReceivePayloads(_ formats: [PayloadFormat], retransmissionSSRCs: [SSRC] = []) {}

    /// What payload types mean in packets that we send, in order of preference.
    package func setSendPayloads(_ formats: [PayloadFormat]) {}

    /// Sets what flows; RTCP goes on in every case and numbers go on where they stopped.
    package func setDirections(
        sends: Bool, receives: Bool, at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) {}

    package func setHeaderExtensions(_ identifiers: HeaderExtensionIdentifiers, mediaIdentification: String?) {}

    /// The call's bandwidth for this line, in bits per second; RTCP takes at most a twentieth of it (RFC 3550 §6.2).
    package func setBandwidth(_ bitsPerSecond: Int) {}

    // MARK: What the network brings

    /// Takes a packet whole: it is kept or given back to the pool.
    package func receiveRTP(
        _ packet: PacketBuffer, at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) {}

    package func receiveRTCP(_ packet: RawSpan, at now: Instant, pool: inout PacketPool, actions: inout [Action]) {}

    // MARK: What we send

    /// Sends one audio payload of `units` RTP clock units (960 for 20 ms of Opus, 160 for G.711).
    ///
    /// While a digit is going out the payload gives way to it, and only time advances.
    package func sendAudio(
        _ payload: RawSpan, payloadType: UInt8, units: Int, at now: Instant, pool: inout PacketPool,
        actions: inout [Action]
    ) {}

    /// Lets time pass without a packet (DTX, mute); the next one bears the marker (RFC 3551 §4.1).
    package func skipAudio(units: Int, at now: Instant) {}

    /// Cuts an encoded frame into packets and sends them.
    package func sendVideoFrame(
        _ frame: RawSpan, isKeyFrame: Bool, captureTime: Instant, temporalLayer: VP8TemporalLayer? = nil,
        at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) {}

    /// Queues a key press; false where the far end did not agree to telephone events.
    package func sendDigit(
        _ event: TelephoneEvent, duration: Duration = .milliseconds(160), at now: Instant, pool: inout PacketPool,
        actions: inout [Action]
    ) -> Bool { false }

    /// Asks the far end for a key frame, unless one was asked for a moment ago.
    package func requestKeyFrame(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {}

    /// Says goodbye (RFC 3550 §6.6); nothing is sent after it.
    package func end(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {}

    // MARK: Time

    /// When `handle(timeoutAt:)` should next be called.
    package var nextDeadline: Instant? { nil }

    package func handle(timeoutAt now: Instant, pool: inout PacketPool, actions: inout [Action]) {}

    // MARK: What is played

    /// What to play next, and how fast; called each time the player runs low on decoded sound, that is once per 10 or
    /// 20 ms on average.
    package func nextAudio(at now: Instant, pool: inout PacketPool) -> (playout: AudioPlayout, speed: PlayoutSpeed) {
        (.silence(.milliseconds(20)), .normal)
    }

    /// Delay that lip sync wants on top of what this line needs by itself.
    package func setExtraDelay(_ delay: Duration) {}

    /// How a remote timestamp reads on the sender's wall clock; nil before the first sender report.
    package func captureTime(of timestamp: RTPTimestamp) -> NTPTimestamp? { nil }

    /// When the frame or sample that was given out last was captured, and when it was given out.
    package var playoutPoint: LipSync.Point? { nil }

    package func statistics(at now: Instant) -> RTPStatistics { RTPStatistics() }
}
