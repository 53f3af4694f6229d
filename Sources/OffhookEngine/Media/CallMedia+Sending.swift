internal import OffhookBasics
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSDP

/// What goes: sound at once, pictures when congestion control lets them.
extension CallMedia {
    // MARK: What goes

    func sendAudio(
        _ payload: [UInt8], payloadType: UInt8, units: Int, captureTime: Instant?, core: inout EngineCore
    ) {
        guard let audio, plan.audio?.sends == true, plan.audio?.sendFormat?.payloadType == payloadType else { return }
        if payload.isEmpty {
            audio.session.skipAudio(units: units, captureTime: captureTime, at: core.now)
            return
        }
        audio.session.sendAudio(
            payload.span.bytes, payloadType: payloadType, units: units, captureTime: captureTime, at: core.now,
            pool: &core.pool, actions: &actions)
        perform(audio, core: &core)
    }

    func sendVideo(_ frame: [UInt8], isKeyFrame: Bool, captureTime: Instant, core: inout EngineCore) {
        guard let video, plan.video?.sends == true else { return }
        video.session.sendVideoFrame(
            frame.span.bytes, isKeyFrame: isKeyFrame, captureTime: captureTime, at: core.now, pool: &core.pool,
            actions: &actions)
        perform(video, core: &core)
    }

    /// Sends a key press as RFC 4733 events; false where the far end does not take them.
    func sendDigit(_ event: TelephoneEvent, core: inout EngineCore) -> Bool {
        guard let audio, audio.negotiated?.sendTelephoneEvent != nil else { return false }
        let isTaken = audio.session.sendDigit(event, at: core.now, pool: &core.pool, actions: &actions)
        perform(audio, core: &core)
        return isTaken
    }

    func requestKeyFrame(core: inout EngineCore) {
        guard let video, video.negotiated?.direction.receives == true else { return }
        video.session.requestKeyFrame(at: core.now, pool: &core.pool, actions: &actions)
        perform(video, core: &core)
    }

    /// What the player should do for its next 10 or 20 ms.
    func nextAudio(core: inout EngineCore) -> (playout: AudioPlayout, speed: PlayoutSpeed)? {
        guard let audio, receivesAudio else { return nil }
        return audio.session.nextAudio(at: core.now, pool: &core.pool)
    }

    // MARK: Congestion control

    func controlVideo(_ plan: MediaPlan, core: inout EngineCore) {
        guard let video = plan.video, video.sends else { return }
        let configuration = core.configuration
        let controller =
            videoSending
            ?? SendController(start: configuration.videoStartBitrate, maximum: configuration.videoMaximumBitrate)
        videoSending = controller
        controller.setMaximum(
            min(configuration.videoMaximumBitrate, video.bandwidth ?? .max), at: core.now)
    }

    /// Sound leaves at once, pictures when their turn comes.
    func pace(_ packet: PacketBuffer, _ line: MediaLine, isRepeat: Bool, core: inout EngineCore) {
        if line.kind == .video, let videoSending {
            videoSending.send(packet, isRepeat: isRepeat)
        } else {
            send(packet, line.transport, isControl: false, core: &core)
        }
    }

    /// Sends what is due, and tells the encoder what has changed.
    func sendPacedVideo(core: inout EngineCore) {
        guard let video, let videoSending else { return }
        while let packet = videoSending.nextPacket(from: video.session, at: core.now) {
            send(packet, video.transport, isControl: false, core: &core)
        }
        video.session.repetition = videoSending.repetition(at: core.now)
        guard let target = videoSending.takeTarget() else { return }
        core.output(.targetVideo(call, channel, target))
        if audioShare.update(videoRate: target.bitsPerSecond, at: core.now) {
            core.output(.limitAudio(call, audioShare.limit))
        }
    }

    func noteLoss(_ lost: Int, of total: Int, on line: MediaLine, core: inout EngineCore) {
        switch line.kind {
        case .video:
            videoSending?.handle(lost: lost, of: total, roundTrip: line.session.latestRoundTrip, at: core.now)
        case .audio:
            if let percent = audioLoss.note(lost, of: total) { core.output(.expectAudioLoss(call, percent)) }
        }
    }
}
