package import OffhookBasics

extension RTPSession {
    /// Reads a compound or reduced-size packet; what is malformed is passed over from the fault on.
    package func receiveRTCP(_ packet: RawSpan, at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        guard !hasEnded else { return }
        parsed.removeAll(keepingCapacity: true)
        do {
            try RTCPPacket.parse(packet, into: &parsed)
        } catch {
            counts.received.malformedReports += 1
        }
        schedule.note(size: packet.byteCount)
        let packets = parsed
        for packet in packets { handle(packet, at: now, pool: &pool, actions: &actions) }
    }

    private func handle(_ packet: RTCPPacket, at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        switch packet {
        case .senderReport(let report):
            if report.ssrc == source?.ssrc {
                source?.report = (report.timestamp, report.time)
                source?.reception.handle(senderReportAt: report.time, at: now)
            }
            handle(report.blocks, at: now, actions: &actions)
        case .receiverReport(let report): handle(report.blocks, at: now, actions: &actions)
        case .goodbye(let goodbye):
            if let source, goodbye.sources.contains(source.ssrc) {
                selector.forgetCurrent()
                actions.append(.remoteGoodbye)
            }
        case .extendedReport(let report): handle(report, at: now)
        case .negativeAcknowledgement(let feedback):
            if isAboutUs(feedback.media) { resend(feedback, at: now, pool: &pool, actions: &actions) }
        case .pictureLossIndication(let feedback):
            guard isAboutUs(feedback.media) else { return }
            counts.sent.pictureLossIndicationsReceived += 1
            demandKeyFrame(demand.request(at: now, roundTrip: roundTrip), actions: &actions)
        case .fullIntraRequest(let request):
            for entry in request.entries where isAboutUs(entry.media) {
                counts.sent.fullIntraRequestsReceived += 1
                let isNew = demand.intraRequest(
                    entry.sequenceNumber, from: request.sender, at: now, roundTrip: roundTrip)
                demandKeyFrame(isNew, actions: &actions)
            }
        case .temporaryMaximumBitrateRequest(let request):
            guard let entry = request.entries.first(where: { isAboutUs($0.media) }) else { return }
            limit(entry.bitsPerSecond, actions: &actions)
            answer(entry, at: now, pool: &pool, actions: &actions)
        case .receiverEstimatedMaximumBitrate(let estimate):
            guard estimate.sources.isEmpty || estimate.sources.contains(where: isAboutUs) else { return }
            limit(estimate.bitsPerSecond, actions: &actions)
        case .transportFeedback(let feedback): actions.append(.transportFeedback(feedback))
        case .sourceDescription, .applicationDefined, .temporaryMaximumBitrateNotification, .other: break
        }
    }

    /// Some senders of feedback leave the media source at 0.
    private func isAboutUs(_ media: SSRC) -> Bool {
        media == sender.ssrc || media.rawValue == 0 || media == sender.retransmissionSSRC
    }

    func demandKeyFrame(_ isNeeded: Bool, actions: inout [Action]) {
        if isNeeded, configuration.kind == .video, sends { actions.append(.keyFrameRequested) }
    }

    private func limit(_ bitsPerSecond: Int, actions: inout [Action]) {
        guard bitsPerSecond != bitrateLimit else { return }
        bitrateLimit = bitsPerSecond
        actions.append(.bitrateLimit(bitsPerSecond))
    }

    /// RFC 5104 §3.5.4.2: the notification tells the limit that is in force, and who set it.
    private func answer(
        _ entry: TemporaryMaximumBitrate.Entry, at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) {
        var owned = entry
        owned.media = source?.ssrc ?? entry.media
        let notification = TemporaryMaximumBitrate(sender: sender.ssrc, entries: [owned])
        sendFeedback([.temporaryMaximumBitrateNotification(notification)], at: now, pool: &pool, actions: &actions)
    }

    // MARK: Round trip

    /// RFC 3550 §6.4.1.
    private func handle(_ blocks: [ReportBlock], at now: Instant, actions: inout [Action]) {
        guard let block = blocks.first(where: { $0.ssrc == sender.ssrc }) else { return }
        counts.sent.remoteFractionLost = Double(block.fractionLost) / 256
        counts.sent.remotePacketsLost = Int(block.cumulativeLost)
        if let clockRate = sender.reference?.clockRate {
            counts.sent.remoteJitter = .nanoseconds(Int64(block.jitter) * 1_000_000_000 / Int64(clockRate))
        }
        if block.lastSenderReport != 0 {
            noteRoundTrip(since: block.lastSenderReport, held: block.delaySinceLastSenderReport, at: now)
        }
        countLoss(block, at: now, actions: &actions)
    }

    /// Counts by the totals rather than by the fraction, which stands for a very short time where feedback is frequent.
    private func countLoss(_ block: ReportBlock, at now: Instant, actions: inout [Action]) {
        let current = (highest: block.extendedHighestSequenceNumber, lost: block.cumulativeLost, at: now)
        guard let last = lastCounted else {
            lastCounted = current
            return
        }
        let total = Int(Int32(bitPattern: current.highest &- last.highest))
        guard total >= 0, total < 0x1_0000 else {
            lastCounted = current
            return
        }
        guard now - last.at >= .milliseconds(500), total > 0 else { return }
        lastCounted = current
        let lost = min(total, max(0, Int(current.lost) - Int(last.lost)))
        actions.append(.lossReported(lost: lost, of: total))
    }

    private func noteRoundTrip(since sent: UInt32, held: UInt32, at now: Instant) {
        let passed = configuration.clock.time(at: now).middle &- sent &- held
        // Clocks of two machines that count the hold time differently can make it a little negative: then it is nothing.
        let units = max(0, Int64(Int32(bitPattern: passed)))
        guard units < 65536 * 30 else { return }
        let measured = Duration.nanoseconds(units * 1_000_000_000 / 65536)
        latestRoundTrip = measured
        roundTrip = roundTrip.map { $0 + (measured - $0) / 4 } ?? measured
    }

    /// RFC 3611 §4.4 and §4.5.
    private func handle(_ report: ExtendedReport, at now: Instant) {
        if let time = report.receiverReferenceTime { lastRemoteReference = (report.ssrc, time.middle, now) }
        for last in report.lastReports where last.ssrc == sender.ssrc && last.lastReceiverReport != 0 {
            noteRoundTrip(since: last.lastReceiverReport, held: last.delaySinceLastReceiverReport, at: now)
        }
    }

    // MARK: Reports out

    /// The regular compound packet.
    func sendReport(at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        let size = sendCompound([], at: now, pool: &pool, actions: &actions)
        schedule.sent(size: size, at: now, random: &random)
    }

    /// Early feedback: two members need not hold it back (RFC 4585 §3.5.2).
    func sendFeedback(_ feedback: [RTCPPacket], at now: Instant, pool: inout PacketPool, actions: inout [Action]) {
        guard configuration.usesFeedback else { return }
        guard configuration.usesReducedSizeReports else {
            sendCompound(feedback, at: now, pool: &pool, actions: &actions)
            return
        }
        let buffer = pool.take()
        for packet in feedback { packet.write(to: buffer) }
        schedule.note(size: buffer.count)
        actions.append(.sendRTCP(buffer))
    }

    /// SR or RR, SDES, then what is wanted (RFC 3550 §6.1, RFC 4585 §3.1). The result is its size.
    @discardableResult
    func sendCompound(
        _ more: [RTCPPacket], at now: Instant, pool: inout PacketPool, actions: inout [Action]
    ) -> Int {
        let buffer = pool.take()
        var blocks: [ReportBlock] = []
        if let ssrc = source?.ssrc, let block = source?.reception.makeBlock(ssrc: ssrc, at: now) {
            blocks.append(block)
        }
        // A sender is who has sent since the report before the last one (§6.4).
        let isSender = sender.lastSent.map { now - $0 < configuration.reportInterval * 2 } ?? false
        let report: RTCPPacket =
            isSender
            ? .senderReport(sender.makeReport(blocks: blocks, at: now))
            : .receiverReport(ReceiverReport(ssrc: sender.ssrc, blocks: blocks))
        report.write(to: buffer)
        let name = SourceDescription(ssrc: sender.ssrc, canonicalName: configuration.canonicalName)
        RTCPPacket.sourceDescription(name).write(to: buffer)
        if let extended = extendedReport(isSender: isSender, at: now) {
            RTCPPacket.extendedReport(extended).write(to: buffer)
        }
        for packet in more { packet.write(to: buffer) }
        schedule.note(size: buffer.count)
        let size = buffer.count
        actions.append(.sendRTCP(buffer))
        return size
    }

    /// Answers the far end's reference time, and gives ours where we send nothing that could measure the round trip.
    private func extendedReport(isSender: Bool, at now: Instant) -> ExtendedReport? {
        var report = ExtendedReport(ssrc: sender.ssrc)
        if let last = lastRemoteReference {
            let held = UInt32(clamping: (now - last.arrival).inNanoseconds / 1000 &* 65536 / 1_000_000)
            report.lastReports = [
                .init(ssrc: last.ssrc, lastReceiverReport: last.middle, delaySinceLastReceiverReport: held)
            ]
        }
        if !isSender, configuration.usesExtendedReports {
            report.receiverReferenceTime = configuration.clock.time(at: now)
        }
        return report.receiverReferenceTime == nil && report.lastReports.isEmpty ? nil : report
    }
}
