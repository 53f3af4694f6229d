package import OffhookBasics

/// One media line's RTP: what it sends, what it receives, and the RTCP about both (RFC 3550, RFC 4585).
///
/// Everything is in the clear: the caller unprotects what comes and protects what goes. It belongs to one thread.
/// After each call look at `nextDeadline` again.
package final class RTPSession {
    package private(set) var configuration: Configuration
    var random: SeededRandom
    var counts = RTPStatistics()

    // What signalling decided.
    var receiveFormats = InlineArray<128, PayloadFormat?>(repeating: nil)
    var sendFormats: [PayloadFormat] = []
    /// From the type of a format to the type that repeats it.
    var retransmissionTypes: [UInt8: UInt8] = [:]
    var retransmissionSources: [SSRC] = []
    package private(set) var sends = false
    package private(set) var receives = false
    var hasEnded = false

    // What we send.
    var sender: RTPSender
    var packetizer: VP8Packetizer
    var digits = TelephoneEventSender()
    var digitStart = RTPTimestamp(0)
    var audioEnd: Instant?
    /// When the sound of the next timestamp is taken, by the capture times so far.
    var audioCapture: Instant?
    var nextAudioTimestamp: RTPTimestamp
    var needsMarker = true
    var demand = KeyFrameDemand()
    var bitrateLimit: Int?

    // What we receive.
    var source: RemoteSource?
    var selector = SourceSelector()
    let audio: AudioReceiveStream
    let video: VideoReceiveStream
    var playout = VideoPlayout()
    var freezes = FreezeMeter()
    var digitReceiver = TelephoneEventReceiver()
    var readyFrames: [ReceivedVideoFrame] = []
    /// Frames that wait for their time, or for the sound that belongs to them.
    var delayedFrames: [(frame: ReceivedVideoFrame, at: Instant)] = []
    var extraDelay = Duration.zero
    var lastVideoPoint: LipSync.Point?
    var lastAudioPoint: LipSync.Point?
    var quietSince: Instant?
    var isSilent = false
    var hasToldLoop = false

    // RTCP.
    var schedule: RTCPSchedule
    var parsed: [RTCPPacket] = []
    var intraRequestNumber: UInt8 = 0
    var lastRemoteReference: (ssrc: SSRC, middle: UInt32, arrival: Instant)?
    /// From the far end's reports, smoothed; nil before one came.
    package internal(set) var roundTrip: Duration?
    /// What ICE or another line of the call knows of the same path, for one who only receives is told no round trip.
    package var pathRoundTrip: Duration?
    /// As the newest report told it.
    package internal(set) var latestRoundTrip: Duration?
    /// Totals of the report block that loss was last counted from, and when.
    var lastCounted: (highest: UInt32, lost: Int32, at: Instant)?

    // Transport-wide feedback.
    var sentExtensions = HeaderExtensionIdentifiers()
    var receivedExtensions = HeaderExtensionIdentifiers()
    let collector = TransportFeedbackCollector()
    var sendsTransportFeedback = false
    package var repetition = RepetitionPolicy()

    /// What the far end may send, for one that has no other way to know.
    var estimator: ReceiveRateEstimator?

    package init(configuration: Configuration) {
        self.configuration = configuration
        random = SeededRandom(seed: configuration.seed)
        sender = RTPSender(
            ssrc: configuration.ssrc, retransmissionSSRC: configuration.retransmissionSSRC, clock: configuration.clock,
            random: &random)
        nextAudioTimestamp = RTPTimestamp(sender.clockOrigin)
        packetizer = VP8Packetizer(firstPictureID: UInt16(truncatingIfNeeded: random.next()))
        schedule = RTCPSchedule(reportInterval: configuration.reportInterval)
        audio = AudioReceiveStream(delayRange: configuration.jitterBufferRange)
        video = VideoReceiveStream(
            asksForRepair: configuration.usesFeedback && configuration.sendsNegativeAcknowledgements)
    }

    /// Known from the start, so that signalling can announce it.
    package var localSSRC: SSRC { sender.ssrc }

    /// The source of our RFC 4588 stream; it is used once a send format for it is set.
    package var retransmissionSSRC: SSRC { sender.retransmissionSSRC }

    /// The source that is being received.
    package var remoteSSRC: SSRC? { source?.ssrc }

    /// The number that the next packet bears in the transport-wide extension; a transport shared by several sessions
    /// sets it before each packet.
    package var transportSequenceNumber: UInt16 {
        get { sender.transportSequence }
        set { sender.transportSequence = newValue }
    }

    // MARK: What signalling decides

    /// What payload types mean in packets that come; `retransmissionSSRCs` are the sources known to be RFC 4588 streams.
    package func setReceivePayloads(_ formats: [PayloadFormat], retransmissionSSRCs: [SSRC] = []) {
        receiveFormats = .init(repeating: nil)
        for format in formats where format.payloadType < 128 && format.clockRate > 0 {
            receiveFormats[Int(format.payloadType)] = format
        }
        retransmissionSources = retransmissionSSRCs
    }

    /// What payload types mean in packets that we send, in order of preference.
    package func setSendPayloads(_ formats: [PayloadFormat]) {
        sendFormats = formats.filter { $0.payloadType < 128 && $0.clockRate > 0 }
        retransmissionTypes = [:]
        for format in sendFormats {
            if case .retransmission(let original) = format.codec { retransmissionTypes[original] = format.payloadType }
        }
    }

    /// Whether feedback may go out without a report before it (RFC 5506), as both sides have said.
    package func setReducedSizeReports(isUsed: Bool) {
        configuration.usesReducedSizeReports = isUsed
    }

    /// Sets what flows; RTCP goes on in every case and numbers go on where they stopped.
    package func setDirections(
        sends: Bool, receives: Bool, at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) {
        guard !hasEnded else { return }
        schedule.start(at: now, random: &random)
        if !sends, self.sends { digits.removeAll() }
        if sends, !self.sends { needsMarker = true }
        self.sends = sends
        guard receives != self.receives else { return }
        self.receives = receives
        quietSince = receives ? now : nil
        isSilent = false
        audio.reset(pool: &pool)
        freezes.pause()
        if !receives { delayedFrames.removeAll() }
        if configuration.kind == .video, source != nil {
            video.reset(pool: &pool)
            if receives { requestKeyFrame(at: now, pool: &pool, actions: &actions) }
        }
    }

    /// Sets the extensions of each direction.
    package func setHeaderExtensions(
        sent: HeaderExtensionIdentifiers, received: HeaderExtensionIdentifiers, mediaIdentification: String?
    ) {
        sentExtensions = sent
        receivedExtensions = received
        sender.extensions.set(sent, mediaIdentification: mediaIdentification)
    }

    /// Whether arrivals of packets with transport-wide numbers are reported (`a=rtcp-fb` `transport-cc`).
    package func setTransportFeedback(isSent: Bool) {
        sendsTransportFeedback = isSent
    }

    /// Whether the far end is told what it may send (`goog-remb`); for that its packets must bear their time of sending.
    package func setRateEstimates(areSent: Bool) {
        guard areSent, receivedExtensions.absoluteSendTime != nil else { return estimator = nil }
        if estimator == nil { estimator = ReceiveRateEstimator() }
    }

    /// The call's bandwidth for this line, in bits per second; RTCP takes at most a twentieth of it (RFC 3550 §6.2).
    package func setBandwidth(_ bitsPerSecond: Int) {
        schedule.bandwidth = Double(max(0, bitsPerSecond))
    }

    // MARK: Time

    /// When `handle(timeoutAt:)` should next be called.
    package var nextDeadline: Instant? {
        guard !hasEnded else { return nil }
        var earliest = schedule.next ?? .distantFuture
        if let deadline = digits.nextDeadline { earliest = min(earliest, deadline) }
        if configuration.kind == .video, receives, source != nil, let deadline = video.nextDeadline {
            earliest = min(earliest, deadline)
        }
        if let delayed = delayedFrames.first { earliest = min(earliest, delayed.at) }
        if let deadline = collector.nextDeadline { earliest = min(earliest, deadline) }
        if let deadline = estimator?.nextDeadline { earliest = min(earliest, deadline) }
        if receives, !isSilent, let quietSince { earliest = min(earliest, quietSince + configuration.silenceTimeout) }
        return earliest == .distantFuture ? nil : earliest
    }

    package func handle(timeoutAt now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        guard !hasEnded else { return }
        sendDueDigits(at: now, pool: &pool, actions: &actions)
        if configuration.kind == .video, receives, source != nil {
            serveVideo(at: now, pool: &pool, actions: &actions)
        }
        releaseDelayedFrames(at: now, actions: &actions)
        sendTransportFeedback(at: now, pool: &pool, actions: &actions)
        sendRateEstimate(at: now, pool: &pool, actions: &actions)
        if receives, !isSilent, let quietSince, now - quietSince >= configuration.silenceTimeout {
            isSilent = true
            actions.append(.receivingStopped)
        }
        if let next = schedule.next, now >= next { sendReport(at: now, pool: &pool, actions: &actions) }
    }

    /// Says goodbye (RFC 3550 §6.6); nothing is sent after it.
    package func end(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        guard !hasEnded else { return }
        let goodbye = RTCPPacket.goodbye(Goodbye(sources: [sender.ssrc]))
        sendCompound([goodbye], at: now, pool: &pool, actions: &actions)
        hasEnded = true
        schedule.stop()
        digits.removeAll()
        audio.reset(pool: &pool)
        video.reset(pool: &pool)
        delayedFrames.removeAll()
    }

    // MARK: Figures

    /// How a remote timestamp reads on the sender's wall clock; nil before the first sender report.
    package func captureTime(of timestamp: RTPTimestamp) -> NTPTimestamp? {
        source?.captureTime(of: timestamp)
    }

    /// When the frame or sample that was given out last was captured, and when it was given out.
    package var playoutPoint: LipSync.Point? {
        configuration.kind == .video ? lastVideoPoint : lastAudioPoint
    }

    package func statistics(at now: Instant) -> RTPStatistics {
        var result = counts
        result.roundTrip = roundTrip
        result.sent.ssrc = sender.ssrc
        result.sent.packets = sender.packets
        result.sent.payloadBytes = sender.payloadBytes
        result.sent.bytes = sender.bytes
        result.sent.retransmittedPackets = sender.retransmitted
        result.received.ssrc = source?.ssrc
        if let source {
            result.received.packetsLost += source.reception.lost
            result.received.jitter = source.jitter
        }
        switch configuration.kind {
        case .audio:
            result.received.latePackets = audio.latePackets
            result.received.duplicatePackets = audio.duplicatePackets
            result.received.concealedDuration = audio.concealed
            result.received.recoveredDuration = audio.recovered
            result.received.playedDuration = audio.played
            result.received.jitterBufferDelay = audio.delay
            result.received.jitterBufferTarget = audio.target
        case .video:
            result.received.latePackets = video.latePackets
            result.received.duplicatePackets = video.duplicatePackets
            result.received.repairedPackets = video.repairedPackets
            result.received.frames = video.frames
            result.received.keyFrames = video.keyFrames
            result.received.framesDropped = video.framesDropped
            result.received.jitterBufferDelay = playout.delay
            result.received.freezes = freezes.count
            result.received.frozenDuration = freezes.duration(at: now)
        }
        return result
    }
}
