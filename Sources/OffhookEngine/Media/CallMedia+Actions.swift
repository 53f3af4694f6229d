internal import OffhookBasics
internal import OffhookRTP
internal import OffhookSDP

/// What the sessions of the lines want done.
extension CallMedia {
    // MARK: What the sessions want

    func perform(_ line: MediaLine, core: inout EngineCore) {
        // Appending while walking happens only through `requestKeyFrame`, which is not called from here.
        for action in actions {
            switch action {
            case .sendRTP(let packet):
                pace(packet, line, isRepeat: false, core: &core)
            case .repeatRTP(let packet):
                pace(packet, line, isRepeat: true, core: &core)
            case .sendRTCP(let packet):
                send(packet, line.transport, isControl: true, core: &core)
            case .videoFrame(let frame):
                deliver(frame, core: &core)
            case .keyFrameRequested:
                core.output(.encodeKeyFrame(call, channel))
            case .bitrateLimit(let bitsPerSecond):
                if line.kind == .video { videoSending?.setRemoteLimit(bitsPerSecond, at: core.now) }
            case .transportFeedback(let feedback):
                if line.kind == .video {
                    videoSending?.handle(feedback, roundTrip: line.session.roundTrip, at: core.now)
                }
            case .lossReported(let lost, let total):
                noteLoss(lost, of: total, on: line, core: &core)
            case .digit(let event):
                if let key = event.key { events.append(.digit(key)) }
            case .receivingStopped:
                events.append(.mediaFlowChanged(isVideo: line.kind == .video, flows: false))
                if line.kind == .audio { endsForSilenceAt = core.configuration.mediaLoss.map { core.now + $0 } }
            case .receivingResumed:
                events.append(.mediaFlowChanged(isVideo: line.kind == .video, flows: true))
                if line.kind == .audio { endsForSilenceAt = nil }
            case .loopDetected:
                core.output(.log("our own packets come back on the \(line.kind.rawValue) line", call))
            case .digitSent, .remoteSourceChanged, .remoteGoodbye, .localSourceChanged:
                break
            }
        }
        actions.removeAll(keepingCapacity: true)
        if line.kind == .video { sendPacedVideo(core: &core) }
        for outcome in line.transport.takeOutcomes() { perform(outcome, line, core: &core) }
        if nextLipSync == nil, audio != nil, video != nil { nextLipSync = core.now + .milliseconds(500) }
    }

    /// Pictures that lip sync wants later wait here; the others go to their decoder at once.
    func deliver(_ frame: ReceivedVideoFrame, core: inout EngineCore) {
        guard plan.video?.receives == true else { return }
        if lipSync.videoDelay > .zero || !heldFrames.isEmpty {
            heldFrames.append((core.now + lipSync.videoDelay, frame))
        } else {
            core.output(.decodeVideo(call, channel, frame))
        }
    }
}
