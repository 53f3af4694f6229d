/// What a session has counted so far.
package struct RTPStatistics: Hashable, Sendable {
    package struct Sent: Hashable, Sendable {
        package var ssrc = SSRC(0)
        package var packets = 0
        /// Payload bytes, without headers and padding.
        package var payloadBytes = 0
        /// Bytes of whole RTP packets before SRTP, repeats included.
        package var bytes = 0
        package var retransmittedPackets = 0
        package var frames = 0
        package var keyFrames = 0
        package var nacksReceived = 0
        package var pictureLossIndicationsReceived = 0
        package var fullIntraRequestsReceived = 0
        /// As the far end's last report block tells; nil before one came.
        package var remoteFractionLost: Double?
        package var remotePacketsLost: Int?
        package var remoteJitter: Duration?
    }

    package struct Received: Hashable, Sendable {
        package var ssrc: SSRC?
        package var payloadType: UInt8?
        package var packets = 0
        package var payloadBytes = 0
        package var bytes = 0
        /// By RFC 3550 §6.4.1: expected minus received, so repairs and duplicates count as received.
        package var packetsLost = 0
        package var duplicatePackets = 0
        /// Came after their moment was over.
        package var latePackets = 0
        package var repairedPackets = 0
        package var jitter: Duration = .zero
        package var nacksSent = 0
        package var packetsNacked = 0
        package var pictureLossIndicationsSent = 0
        package var fullIntraRequestsSent = 0
        /// RTCP packets that could not be read to their end.
        package var malformedReports = 0
        /// Time from a packet's arrival to its playing, smoothed.
        package var jitterBufferDelay: Duration = .zero
        package var jitterBufferTarget: Duration = .zero

        /// Audio: playing time made up, recovered by forward error correction, and of all.
        package var concealedDuration: Duration = .zero
        package var recoveredDuration: Duration = .zero
        package var playedDuration: Duration = .zero

        /// Video: frames given out to the decoder, and those that could not be.
        package var frames = 0
        package var keyFrames = 0
        package var framesDropped = 0
        /// Freezes as a viewer sees them: no new picture for more than max(3 × average, average + 150 ms).
        package var freezes = 0
        package var frozenDuration: Duration = .zero
    }

    package var sent = Sent()
    package var received = Received()
    /// From the far end's reports, or from RFC 3611 where we only receive; nil before one came.
    package var roundTrip: Duration?
}
