internal import OffhookBasics
internal import OffhookCrypto
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSDP

/// All media of one call: at most one audio and one video line, kept in time with each other.
final class CallMedia {
    let call: CallHandle
    let channel: ChannelHandle
    private let canonicalName: String
    private let suites: [SDESSuite]
    private(set) var audio: MediaLine?
    private(set) var video: MediaLine?
    /// ICE; nil where the account does none.
    private(set) var connectivity: CallConnectivity?
    /// Congestion control of the video that we send; made when we first send some.
    var videoSending: SendController?
    var audioLoss = AudioLoss()
    var audioShare = AudioShare()
    var bundleSources = BundleSources()
    var lipSync = LipSync()
    var nextLipSync: Instant?
    var heldFrames: [(due: Instant, frame: ReceivedVideoFrame)] = []
    var actions: [RTPSession.Action] = []
    var plan = MediaPlan()
    /// News for the call, to be taken after each input.
    var events: [CallEvent] = []
    var endsForSilenceAt: Instant?

    init(call: CallHandle, account: EngineAccount, isOfferer: Bool, core: inout EngineCore) {
        self.call = call
        connectivity = account.ice.map {
            CallConnectivity(call: call, settings: $0, isOfferer: isOfferer, seed: core.random.next())
        }
        suites = account.capabilities.cryptoSuites
        channel = ChannelHandle(number: core.nextNumber())
        canonicalName = core.random.token(length: 16)
        actions.reserveCapacity(64)
    }

    /// The line of a kind, with sockets, made on first use; nil where no sockets are to be had.
    func line(_ kind: StreamKind, core: inout EngineCore) -> MediaLine? {
        if let line = kind == .audio ? audio : video { return line }
        guard let ports = core.takePorts() else { return nil }
        let line = MediaLine(kind: kind, ports: ports, canonicalName: canonicalName, suites: suites, core: &core)
        if kind == .audio { audio = line } else { video = line }
        core.claim(ports, for: call)
        return line
    }

    var lines: [MediaLine] { [audio, video].compactMap(\.self) }

    /// What a description says of our end of a line, which is made on first use; nil where no sockets are to be had.
    func localStream(_ kind: StreamKind, address: IPAddress, core: inout EngineCore) -> LocalStream? {
        guard let line = line(kind, core: &core) else { return nil }
        connectivity?.add(line.ownTransport.ports, address: address, core: &core)
        return line.localStream(address: address, ice: connectivity?.description(of: line.ownTransport.ports))
    }

    /// Looks at an offer before it is answered; `offered` is its ICE by the transport of ours.
    func prepareAnswer(to offered: [StreamKind: ICEDescription], core: inout EngineCore) {
        for line in lines {
            guard let ice = offered[line.kind] else { continue }
            connectivity?.prepareAnswer(to: ice, on: line.ownTransport.ports, core: &core)
        }
    }

    /// Takes over what was agreed for all lines and tells the codecs.
    func apply(_ media: [NegotiatedMedia], isHolding: Bool, core: inout EngineCore) throws(SRTPError) {
        let agreed = lines.map { line in media.first { $0.kind == line.kind && $0.isEnabled } }
        var signalled: [MediaTransport] = []
        for (line, agreed) in zip(lines, agreed) {
            let transport = agreed.map { transportInUse(by: $0, line) } ?? line.transport
            // What the lines of a bundle say of their transport is the same.
            if let agreed, !signalled.contains(where: { $0 === transport }) {
                connectivity?.agree(
                    agreed.remoteICE, on: transport.ports, isMultiplexed: agreed.hasRTCPMux, core: &core)
                try line.signal(agreed, on: transport, at: core.now)
                signalled.append(transport)
            }
            line.apply(
                agreed, on: transport, isBundled: media.isBundled(agreed), isSilent: isHolding, core: &core,
                actions: &actions)
            perform(line, core: &core)
        }
        for (line, agreed) in zip(lines, agreed) where !signalled.contains(where: { $0 === line.ownTransport }) {
            line.ownTransport.abandon()
            if agreed != nil { connectivity?.remove(line.ownTransport.ports, core: &core) }
        }
        var plan = MediaPlan()
        if let audio, let agreed = audio.negotiated, agreed.isEnabled {
            plan.audio = MediaPlan.Audio(agreed, isSilent: isHolding, suiteName: audio.transport.suiteName)
        }
        if let video, let agreed = video.negotiated, agreed.isEnabled {
            plan.video = MediaPlan.Video(
                agreed, channel: channel, isSilent: isHolding, suiteName: video.transport.suiteName)
        }
        guard plan != self.plan else { return }
        controlVideo(plan, core: &core)
        let startsReceivingVideo = plan.video?.receives == true && self.plan.video?.receives != true
        self.plan = plan
        core.output(.media(call, plan))
        // What was shown before a hold is no reference for what comes after it.
        if startsReceivingVideo { requestKeyFrame(core: &core) }
    }

    /// The transport that a line uses: in a bundle it may be another line's, which need not be in use itself.
    private func transportInUse(by media: NegotiatedMedia, _ line: MediaLine) -> MediaTransport {
        (media.transportKind == .audio ? audio : video)?.ownTransport ?? line.ownTransport
    }

    /// The transports in use, each once.
    var transports: [MediaTransport] {
        lines.map(\.transport).reduce(into: []) { all, next in
            if !all.contains(where: { $0 === next }) { all.append(next) }
        }
    }

    /// Whether sound is to be played: the edge then asks for it every 20 ms.
    var receivesAudio: Bool { plan.audio?.receives == true }

    var isSecure: Bool {
        let active = lines.filter { $0.negotiated?.isEnabled == true }
        return !active.isEmpty && active.allSatisfy(\.isSecure)
    }

    /// Says goodbye on every line and gives the sockets back.
    func end(core: inout EngineCore) {
        for line in lines {
            line.session.end(at: core.now, pool: &core.pool, actions: &actions)
            perform(line, core: &core)
            line.transport.close()
            perform(line, core: &core)
            core.release(line.ownTransport.ports)
        }
        connectivity?.close(core: &core)
        videoSending?.removeAll(pool: &core.pool)
        heldFrames = []
    }

    // MARK: Time

    var nextDeadline: Instant? {
        var deadline = nextLipSync
        for candidate in [
            audio?.session.nextDeadline, video?.session.nextDeadline, heldFrames.first?.due, endsForSilenceAt,
            videoSending?.nextDeadline, audio?.transport.nextDeadline, video?.transport.nextDeadline,
            connectivity?.nextDeadline,
        ] {
            if let candidate { deadline = min(deadline ?? candidate, candidate) }
        }
        return deadline
    }

    func handleTimeout(core: inout EngineCore) {
        connectivity?.handleTimeout(core: &core)
        sendWaiting(core: &core)
        for line in lines {
            if let deadline = line.transport.nextDeadline, deadline <= core.now {
                line.transport.handle(timeoutAt: core.now)
                perform(line, core: &core)
            }
            if let deadline = line.session.nextDeadline, deadline <= core.now {
                line.session.handle(timeoutAt: core.now, pool: &core.pool, actions: &actions)
                perform(line, core: &core)
            }
        }
        if let deadline = videoSending?.nextDeadline, deadline <= core.now {
            videoSending?.handle(timeoutAt: core.now)
            sendPacedVideo(core: &core)
        }
        while let first = heldFrames.first, first.due <= core.now {
            heldFrames.removeFirst()
            core.output(.decodeVideo(call, channel, first.frame))
        }
        if let next = nextLipSync, next <= core.now { updateLipSync(core: &core) }
    }

    func updateLipSync(core: inout EngineCore) {
        nextLipSync = core.now + .milliseconds(500)
        guard let audio, let video, let sound = audio.session.playoutPoint, let picture = video.session.playoutPoint,
            lipSync.update(audio: sound, video: picture)
        else { return }
        audio.session.setExtraDelay(lipSync.audioDelay)
        video.session.setExtraDelay(lipSync.videoDelay)
    }

    func takeEvents() -> [CallEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }
}

extension [NegotiatedMedia] {
    /// Whether another line shares this one's transport.
    fileprivate func isBundled(_ media: NegotiatedMedia?) -> Bool {
        guard let media else { return false }
        return contains { $0.isEnabled && $0.index != media.index && $0.transportKind == media.transportKind }
    }
}
