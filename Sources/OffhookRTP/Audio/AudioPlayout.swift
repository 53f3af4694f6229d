package import OffhookBasics

/// What an audio decoder should do for the next stretch of playing time.
package enum AudioPlayout {
    /// Decode this payload.
    case packet(AudioPacket)
    /// The packet to play is lost, but the one after it is here: decode its in-band forward error correction for the
    /// lost stretch (Opus). The same packet follows as `.packet` next.
    case forwardErrorCorrection(AudioPacket)
    /// Make up a stretch that fits what was played last.
    case conceal(Duration)
    /// Nothing is being said: no stream, or a pause of its sender (DTX).
    case silence(Duration)

    /// How much playing time this stands for, in the stream's own speed.
    package var duration: Duration {
        switch self {
        case .packet(let packet), .forwardErrorCorrection(let packet): packet.duration
        case .conceal(let duration), .silence(let duration): duration
        }
    }
}

/// One audio payload in the packet that brought it; whoever gets it gives the buffer back to the pool.
package struct AudioPacket {
    package var buffer: PacketBuffer
    /// Where in the buffer the payload lies.
    package var payloadRange: Range<Int>
    package var payloadType: UInt8
    package var timestamp: RTPTimestamp
    package var marker: Bool
    /// How much time the payload plays.
    package var duration: Duration
    package var receiveTime: Instant
    /// When it was captured by the sender's wall clock, once a sender report told.
    package var captureTime: NTPTimestamp?

    package var payload: RawSpan {
        @_lifetime(borrow self)
        get { _overrideLifetime(buffer.bytes.extracting(payloadRange), borrowing: self) }
    }
}

/// How the player should bend time so that the jitter buffer's delay reaches its target without a gap.
package enum PlayoutSpeed: Hashable, Sendable {
    case normal
    /// Play this stretch a little faster: the buffer holds more than needed.
    case accelerate
    /// Play this stretch a little slower: the buffer holds less than needed.
    case expand
}
