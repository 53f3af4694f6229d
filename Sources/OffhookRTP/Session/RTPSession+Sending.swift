package import OffhookBasics

extension RTPSession {
    /// The largest audio payload that fits a packet beside header, extensions and SRTP's tag.
    private static let largestPayload = 1800
    /// A pause longer than this is put into the timestamps.
    private static let pause = Duration.milliseconds(100)

    private func format(_ payloadType: UInt8) -> PayloadFormat? {
        sendFormats.first { $0.payloadType == payloadType }
    }

    /// The clock of the sound that goes out: that of the first real audio format.
    private var audioClockRate: Int {
        for format in sendFormats {
            switch format.codec {
            case .opus, .pcmu, .pcma, .otherAudio: return format.clockRate
            case .vp8, .telephoneEvent, .comfortNoise, .retransmission: continue
            }
        }
        return 8000
    }

    // MARK: Audio

    /// Sends one audio payload of `units` RTP clock units (960 for 20 ms of Opus, 160 for G.711).
    ///
    /// While a digit is going out the payload gives way to it, and only time advances.
    ///
    /// - Parameter captureTime: when the first sample was taken, which sender reports tell; nil where that is not known.
    package func sendAudio(
        _ payload: RawSpan, payloadType: UInt8, units: Int, captureTime: Instant? = nil, at now: Instant,
        pool: inout PacketPool,
        actions: inout [Action]
    ) {
        guard !hasEnded, let format = format(payloadType) else { return }
        let timestamp = advanceAudio(
            units: units, clockRate: format.clockRate, captureTime: captureTime, at: now)
        guard sends, !digits.isPressing, payload.byteCount > 0, payload.byteCount <= Self.largestPayload else {
            needsMarker = true
            return
        }
        let packet = sender.start(
            payloadType: payloadType, timestamp: timestamp, marker: needsMarker, at: now, pool: &pool)
        needsMarker = false
        packet.append(payload)
        sender.finish(
            packet, payloadSize: payload.byteCount, isRepeatable: retransmissionTypes[payloadType] != nil, at: now,
            pool: &pool)
        actions.append(.sendRTP(packet))
    }

    /// Lets time pass without a packet (DTX, mute); the next one bears the marker (RFC 3551 §4.1).
    package func skipAudio(units: Int, captureTime: Instant? = nil, at now: Instant) {
        _ = advanceAudio(units: units, clockRate: audioClockRate, captureTime: captureTime, at: now)
        needsMarker = true
    }

    /// The timestamp of the stretch that begins now. One follows the other by their lengths alone, so that a jittery
    /// caller makes no jittery timestamps; a real pause counts by the clock.
    private func advanceAudio(
        units: Int, clockRate: Int, captureTime: Instant?, at now: Instant
    ) -> RTPTimestamp {
        let length = Duration.nanoseconds(Int64(max(0, units)) * 1_000_000_000 / Int64(clockRate))
        if let audioEnd, now - audioEnd > Self.pause {
            let passed = (now - audioEnd).inNanoseconds / 1000
            nextAudioTimestamp = nextAudioTimestamp.advanced(by: Int(passed) * clockRate / 1_000_000)
            self.audioEnd = now
            needsMarker = true
        }
        let timestamp = nextAudioTimestamp
        let place = captureTime.map { steady($0, length: length) } ?? audioEnd ?? now
        sender.setReference(timestamp, at: place, clockRate: clockRate)
        nextAudioTimestamp = timestamp.advanced(by: units)
        audioEnd = (audioEnd ?? now) + length
        // A caller whose clock runs fast, or who caught up after a stall, must not carry that along for ever.
        if let end = audioEnd, end - now > Self.pause * 3 { audioEnd = now + length }
        return timestamp
    }

    /// When sound was taken, evened out: the times that capturers give jitter, whereas timestamps do not.
    private func steady(_ captureTime: Instant, length: Duration) -> Instant {
        var place = captureTime
        if let audioCapture {
            let difference = captureTime - audioCapture
            if difference < Self.pause, .zero - difference < Self.pause { place = audioCapture + difference / 32 }
        }
        audioCapture = place + length
        return place
    }

    // MARK: Digits

    /// Queues a key press; false where the far end did not agree to telephone events.
    package func sendDigit(
        _ event: TelephoneEvent, duration: Duration = .milliseconds(160), at now: Instant, pool: inout PacketPool,
        actions: inout [Action]
    ) -> Bool {
        guard sends, !hasEnded, eventFormat != nil else { return false }
        digits.send(event, duration: duration)
        sendDueDigits(at: now, pool: &pool, actions: &actions)
        return true
    }

    /// The event format with the clock of the sound, or the first one (RFC 4733 §2.1, RFC 7160 §3).
    private var eventFormat: PayloadFormat? {
        let rate = audioClockRate
        let formats = sendFormats.filter { $0.codec == .telephoneEvent }
        return formats.first { $0.clockRate == rate } ?? formats.first
    }

    func sendDueDigits(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        guard let format = eventFormat else {
            digits.removeAll()
            return
        }
        while let event = digits.next(at: now, clockRate: format.clockRate) {
            if event.isFirst { digitStart = digitTimestamp(at: now) }
            let packet = sender.start(
                payloadType: format.payloadType, timestamp: digitStart, marker: event.isFirst, at: now, pool: &pool)
            event.write(to: packet)
            sender.finish(packet, payloadSize: 4, isRepeatable: false, at: now, pool: &pool)
            needsMarker = true
            actions.append(.sendRTP(packet))
            if event.isLast { actions.append(.digitSent(event.event)) }
        }
    }

    /// The sound's clock, now; nothing sent before has this timestamp or a later one.
    private func digitTimestamp(at now: Instant) -> RTPTimestamp {
        let clock = sender.timestamp(at: now)
        return clock - nextAudioTimestamp > 0 ? clock : nextAudioTimestamp
    }

    // MARK: Video

    /// Cuts an encoded frame into packets and sends them.
    package func sendVideoFrame(
        _ frame: RawSpan, isKeyFrame: Bool, captureTime: Instant, temporalLayer: VP8TemporalLayer? = nil,
        at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) {
        guard sends, !hasEnded, let format = sendFormats.first(where: { $0.codec == .vp8 }),
            let plan = packetizer.plan(
                frameSize: frame.byteCount, maximumPayloadSize: min(1400, configuration.maximumPayloadSize),
                temporalLayer: temporalLayer)
        else { return }
        let timestamp = videoTimestamp(of: captureTime, clockRate: format.clockRate)
        for piece in 0..<plan.pieceCount {
            let packet = sender.start(
                payloadType: format.payloadType, timestamp: timestamp, marker: piece == plan.pieceCount - 1, at: now,
                pool: &pool)
            let headerSize = packet.count
            plan.descriptor(of: piece).write(to: packet)
            packet.append(frame.extracting(plan.range(of: piece)))
            sender.finish(packet, payloadSize: packet.count - headerSize, isRepeatable: true, at: now, pool: &pool)
            actions.append(.sendRTP(packet))
        }
        counts.sent.frames += 1
        if isKeyFrame {
            counts.sent.keyFrames += 1
            demand.keyFrameSent(at: now)
        }
    }

    private func videoTimestamp(of captureTime: Instant, clockRate: Int) -> RTPTimestamp {
        if sender.reference == nil {
            sender.setReference(RTPTimestamp(sender.clockOrigin), at: captureTime, clockRate: clockRate)
        }
        let timestamp = sender.timestamp(at: captureTime)
        // The reference moves along so that the difference stays small and exact.
        sender.setReference(timestamp, at: captureTime, clockRate: clockRate)
        return timestamp
    }

    // MARK: Repair

    func resend(_ feedback: NegativeAcknowledgement, at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        counts.sent.nacksReceived += 1
        guard feedback.missing.count <= repetition.mostPackets else {
            return demandKeyFrame(demand.request(at: now, roundTrip: roundTrip), actions: &actions)
        }
        // Asked for again while the repeat is still under way: one is enough.
        let flight = repetition.spacing ?? min(.milliseconds(200), (roundTrip ?? .milliseconds(20)) * 3 / 4)
        let spacing = max(.milliseconds(10), min(.milliseconds(800), flight))
        for sequence in feedback.missing.prefix(Self.mostRepeats) {
            // Whoever asks a second time has waited a round trip longer: now it must arrive.
            let isUrgent = sender.hasRepeated(sequence)
            let copies = repetition.count <= 1 ? repetition.count : min(4, repetition.count + (isUrgent ? 2 : 0))
            for copy in 0..<copies {
                guard
                    let packet = sender.repeated(
                        sequence, retransmissionTypes: retransmissionTypes, at: now,
                        spacing: copy == 0 ? spacing : .zero, pool: &pool)
                else { break }
                actions.append(.repeatRTP(packet))
            }
        }
    }

    // MARK: Transport-wide numbers

    /// Whether a packet may be given a number as it leaves: all but one that was out before as it is. Its header is
    /// authenticated under the nonce that it had, so it must not change (RFC 7714 §8.1, RFC 3711 §9.1).
    package func canStamp(_ packet: PacketBuffer) -> Bool {
        guard sentExtensions.transportSequenceNumber != nil, let header = try? RTPHeader(parsing: packet.bytes)
        else { return false }
        return header.ssrc != sender.ssrc || !sender.hasStamped(header.sequenceNumber)
    }

    /// Writes the transport-wide number and the time of sending into a packet that leaves now.
    package func stamp(_ packet: PacketBuffer, transportSequence number: UInt16, at now: Instant) {
        guard let header = try? RTPHeader(parsing: packet.bytes) else { return }
        if let identifier = sentExtensions.absoluteSendTime {
            let sendTime = HeaderExtensionWriter.absoluteSendTime(configuration.clock.time(at: now))
            sender.stamp(packet, header, identifier, value: sendTime, size: 3)
        }
        if let identifier = sentExtensions.transportSequenceNumber {
            sender.stamp(packet, header, identifier, value: UInt32(number), size: 2)
        }
    }

    /// For one request, so that a small packet cannot make a flood of large ones.
    private static let mostRepeats = 256
}
