package import OffhookBasics

extension RTPSession {
    /// Takes a packet whole: it is kept or given back to the pool.
    package func receiveRTP(
        _ packet: PacketBuffer, at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) {
        guard !hasEnded, let header = try? RTPHeader(parsing: packet.bytes),
            let format = receiveFormats[Int(header.payloadType)]
        else {
            pool.give(packet)
            return
        }
        if header.ssrc == sender.ssrc {
            guard admitOwnSource(header, at: now, pool: &pool, actions: &actions) else {
                pool.give(packet)
                return
            }
        }
        if sendsTransportFeedback { noteArrival(packet, header, at: now) }
        if case .retransmission(let original) = format.codec {
            unwrap(packet, header, original: original, at: now, pool: &pool, actions: &actions)
            return
        }
        switch selector.receive(header.ssrc, header.sequenceNumber, at: now) {
        case .stray:
            pool.give(packet)
            return
        case .switched: take(header, format, pool: &pool, actions: &actions)
        case .current: break
        }
        count(packet, header, at: now, actions: &actions)
        if estimator != nil {
            estimate(packet, header, at: now)
            if estimator?.hasFallen == true { sendRateEstimate(at: now, pool: &pool, actions: &actions) }
        }
        guard let number = number(header, format, at: now, pool: &pool), receives else {
            pool.give(packet)
            return
        }
        deliver(packet, header, number: number, format, at: now, pool: &pool, actions: &actions)
    }

    private func noteArrival(_ packet: PacketBuffer, _ header: RTPHeader, at now: Instant) {
        guard let identifier = receivedExtensions.transportSequenceNumber,
            let place = header.extensionElement(identifier, in: packet.bytes), place.count >= 2
        else { return }
        let number = UInt16(packet[place.lowerBound]) << 8 | UInt16(packet[place.lowerBound + 1])
        collector.note(number, at: now)
    }

    /// Packets of the stream itself alone tell of the path: repeats come at times of their own.
    private func estimate(_ packet: PacketBuffer, _ header: RTPHeader, at now: Instant) {
        guard estimator != nil, let identifier = receivedExtensions.absoluteSendTime,
            let place = header.extensionElement(identifier, in: packet.bytes), place.count >= 3
        else { return }
        var sendTime: UInt32 = 0
        for offset in place.prefix(3) { sendTime = sendTime << 8 | UInt32(packet[offset]) }
        // UDP, IPv4 and the tag of SRTP count on the way as well.
        estimator?.note(
            size: packet.count + 38, sendTime: sendTime, roundTrip: roundTrip, at: now)
    }

    func sendRateEstimate(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        guard let source, let rate = estimator?.takeEstimate(at: now) else { return }
        let estimate = ReceiverEstimatedMaximumBitrate(
            sender: sender.ssrc, bitsPerSecond: rate, sources: [source.ssrc])
        sendFeedback([.receiverEstimatedMaximumBitrate(estimate)], at: now, pool: &pool, actions: &actions)
    }

    func sendTransportFeedback(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        guard let deadline = collector.nextDeadline, now >= deadline else { return }
        var reports: [RTCPPacket] = []
        collector.takeReports(sender: sender.ssrc, media: source?.ssrc ?? SSRC(0), at: now, into: &reports)
        for report in reports { sendFeedback([report], at: now, pool: &pool, actions: &actions) }
    }

    /// A packet with our own SSRC: our own come back (a loop, or an echo service), or somebody else's (RFC 3550 §8.2).
    private func admitOwnSource(
        _ header: RTPHeader, at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) -> Bool {
        guard !sender.isOwn(header) else {
            if !hasToldLoop {
                hasToldLoop = true
                actions.append(.loopDetected)
            }
            return configuration.playsLoopedMedia
        }
        let goodbye = RTCPPacket.goodbye(Goodbye(sources: [sender.ssrc]))
        sendCompound([goodbye], at: now, pool: &pool, actions: &actions)
        sender.takeNewSource(random: &random, pool: &pool)
        actions.append(.localSourceChanged(sender.ssrc))
        return true
    }

    private func take(_ header: RTPHeader, _ format: PayloadFormat, pool: inout PacketPool, actions: inout [Action]) {
        if let source { counts.received.packetsLost += source.reception.lost }
        source = RemoteSource(ssrc: header.ssrc, first: header.sequenceNumber, clockRate: format.clockRate)
        audio.reset(pool: &pool)
        video.reset(pool: &pool)
        playout = VideoPlayout()
        estimator?.reset()
        actions.append(.remoteSourceChanged(header.ssrc))
    }

    private func count(_ packet: PacketBuffer, _ header: RTPHeader, at now: Instant, actions: inout [Action]) {
        counts.received.packets += 1
        counts.received.payloadBytes += header.payloadRange.count
        counts.received.bytes += packet.count
        quietSince = now
        if isSilent {
            isSilent = false
            actions.append(.receivingResumed)
        }
    }

    /// The packet's extended number; nil where it is out of place.
    private func number(
        _ header: RTPHeader, _ format: PayloadFormat, at now: Instant, pool: inout PacketPool
    ) -> Int? {
        guard let verdict = source?.reception.update(header.sequenceNumber) else { return nil }
        let number: Int
        switch verdict {
        case .dropped: return nil
        case .accepted(let accepted): number = accepted
        case .restarted(let restarted):
            audio.reset(pool: &pool)
            video.reset(pool: &pool)
            number = restarted
        }
        if format.codec != .telephoneEvent, format.codec != .comfortNoise {
            counts.received.payloadType = header.payloadType
            if source?.clockRate != format.clockRate {
                source?.clockRate = format.clockRate
                source?.report = nil
                source?.reception.forgetTransit()
            }
            source?.reception.updateJitter(timestamp: header.timestamp, clockRate: format.clockRate, at: now)
        }
        return number
    }

    /// RFC 4588 §4: the payload begins with the number that the packet had.
    private func unwrap(
        _ packet: PacketBuffer, _ header: RTPHeader, original payloadType: UInt8, at now: Instant,
        pool: inout PacketPool, actions: inout [Action]
    ) {
        defer { pool.give(packet) }
        guard receives, let source, let format = receiveFormats[Int(payloadType)], header.payloadRange.count > 2,
            retransmissionSources.isEmpty || retransmissionSources.contains(header.ssrc)
        else { return }
        let payload = header.payloadRange
        let number = UInt16(packet[payload.lowerBound]) << 8 | UInt16(packet[payload.lowerBound + 1])
        var restored = RTPHeader(
            marker: header.marker, payloadType: payloadType, sequenceNumber: SequenceNumber(number),
            timestamp: header.timestamp, ssrc: source.ssrc)
        let buffer = pool.take()
        restored.write(to: buffer)
        buffer.append(packet.bytes.extracting(payload.lowerBound + 2..<payload.upperBound))
        guard let parsed = try? RTPHeader(parsing: buffer.bytes) else {
            pool.give(buffer)
            return
        }
        restored = parsed
        counts.received.bytes += packet.count
        let highest = source.reception.extendedHighest
        let extended = highest + (restored.sequenceNumber - SequenceNumber(UInt16(truncatingIfNeeded: highest)))
        // A repeat is never ahead of the stream.
        guard extended <= highest else {
            pool.give(buffer)
            return
        }
        let repaired = video.repairedPackets
        deliver(buffer, restored, number: extended, format, at: now, pool: &pool, actions: &actions)
        // One that came twice counts once.
        if video.repairedPackets > repaired { counts.received.payloadBytes += restored.payloadRange.count }
    }

    private func deliver(
        _ packet: PacketBuffer, _ header: RTPHeader, number: Int, _ format: PayloadFormat, at now: Instant,
        pool: inout PacketPool, actions: inout [Action]
    ) {
        switch (configuration.kind, format.codec) {
        case (.audio, .telephoneEvent):
            let payload = packet.bytes.extracting(header.payloadRange)
            if let event = digitReceiver.receive(payload, ssrc: header.ssrc, timestamp: header.timestamp) {
                actions.append(.digit(event))
            }
            audio.skip(number: number)
            pool.give(packet)
        case (.audio, .comfortNoise):
            audio.skip(number: number, startsPause: true)
            pool.give(packet)
        case (.audio, .opus), (.audio, .pcmu), (.audio, .pcma), (.audio, .otherAudio):
            guard !header.payloadRange.isEmpty else {
                audio.skip(number: number)
                pool.give(packet)
                return
            }
            audio.insert(packet, header: header, number: number, format: format, at: now, pool: &pool)
        case (.video, .vp8):
            video.insert(packet, header: header, number: number, at: now, pool: &pool, frames: &readyFrames)
            serveVideo(at: now, pool: &pool, actions: &actions)
        case (.audio, .vp8), (.audio, .retransmission), (.video, _):
            pool.give(packet)
        }
    }

    // MARK: Video

    /// Gives out the frames that are ready, and asks for what is missing.
    func serveVideo(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        video.roundTrip = roundTrip
        video.pathRoundTrip = pathRoundTrip
        let due = video.handle(timeoutAt: now, pool: &pool, frames: &readyFrames)
        for index in readyFrames.indices {
            readyFrames[index].captureTime = source?.captureTime(of: readyFrames[index].timestamp)
            give(readyFrames[index], at: now, actions: &actions)
        }
        readyFrames.removeAll(keepingCapacity: true)
        var feedback: [RTCPPacket] = []
        if !due.isEmpty, let source {
            feedback.append(
                .negativeAcknowledgement(
                    NegativeAcknowledgement(sender: sender.ssrc, media: source.ssrc, missing: due)))
            counts.received.nacksSent += 1
            counts.received.packetsNacked += due.count
        }
        if video.requester.takeRequest(at: now), let request = keyFrameRequest() { feedback.append(request) }
        if !feedback.isEmpty { sendFeedback(feedback, at: now, pool: &pool, actions: &actions) }
    }

    private func give(_ frame: ReceivedVideoFrame, at now: Instant, actions: inout [Action]) {
        let due = playout.time(of: frame.timestamp, wholeAt: now) + extraDelay
        guard due > now || !delayedFrames.isEmpty else {
            play(frame, at: now, actions: &actions)
            return
        }
        let earliest = max(due, delayedFrames.last?.at ?? now)
        delayedFrames.append((frame, earliest))
    }

    func releaseDelayedFrames(at now: Instant, actions: inout [Action]) {
        while let first = delayedFrames.first, first.at <= now || delayedFrames.count > 64 {
            delayedFrames.removeFirst()
            play(first.frame, at: now, actions: &actions)
        }
    }

    private func play(_ frame: ReceivedVideoFrame, at now: Instant, actions: inout [Action]) {
        freezes.frame(at: now)
        if let capture = frame.captureTime { lastVideoPoint = LipSync.Point(capture: capture, playout: now) }
        actions.append(.videoFrame(frame))
    }

    /// Asks the far end for a key frame, unless one was asked for a moment ago.
    package func requestKeyFrame(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        guard configuration.kind == .video, receives, !hasEnded else { return }
        video.requester.need()
        if source != nil { serveVideo(at: now, pool: &pool, actions: &actions) }
    }

    private func keyFrameRequest() -> RTCPPacket? {
        guard let source, configuration.usesFeedback else { return nil }
        if configuration.sendsPictureLossIndications {
            counts.received.pictureLossIndicationsSent += 1
            return .pictureLossIndication(PictureLossIndication(sender: sender.ssrc, media: source.ssrc))
        }
        guard configuration.sendsFullIntraRequests else { return nil }
        counts.received.fullIntraRequestsSent += 1
        intraRequestNumber &+= 1
        let entry = FullIntraRequest.Entry(media: source.ssrc, sequenceNumber: intraRequestNumber)
        return .fullIntraRequest(FullIntraRequest(sender: sender.ssrc, entries: [entry]))
    }

    // MARK: Audio

    /// What to play next, and how fast; called each time the player runs low on decoded sound, that is once per 10 or
    /// 20 ms on average. Whoever gets a packet gives its buffer back to the pool.
    package func nextAudio(at now: Instant, pool: inout PacketPool) -> (playout: AudioPlayout, speed: PlayoutSpeed) {
        guard configuration.kind == .audio, receives, !hasEnded else { return (.silence(.milliseconds(10)), .normal) }
        var next = audio.next(at: now, pool: &pool)
        if case .packet(var packet) = next.playout, let capture = source?.captureTime(of: packet.timestamp) {
            lastAudioPoint = LipSync.Point(capture: capture, playout: now)
            packet.captureTime = capture
            next.playout = .packet(packet)
        }
        return next
    }

    /// Delay that lip sync wants on top of what this line needs by itself.
    package func setExtraDelay(_ delay: Duration) {
        extraDelay = max(.zero, delay)
        audio.extraDelay = extraDelay
    }
}
