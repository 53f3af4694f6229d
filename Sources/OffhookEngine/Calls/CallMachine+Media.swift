internal import OffhookBasics
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSDP
internal import OffhookSIP

/// What packets bring to a call, and what it tells of them.
extension CallMachine {
    func receiveMedia(
        _ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint, core: inout EngineCore
    ) {
        media.receive(packet, on: socket, from: source, core: &core)
        tellMediaEvents(core: &core)
    }

    func tellMediaEvents(core: inout EngineCore) {
        for news in media.connectivity?.takeNews() ?? [] { handle(news, core: &core) }
        for event in media.takeEvents() where snapshot.phase != .failed {
            switch event {
            case .mediaSecured:
                snapshot.isSecure = media.isSecure
                tell(.changed, core: &core)
            case .mediaSecurityFailed(let reason):
                let failure = CallFailure(.mediaSecurityFailed, "The media could not be encrypted: \(reason).")
                fail(failure, core: &core)
                if let session { core.userAgent.end(session, at: core.now, actions: &core.actions) }
            default:
                tell(event, core: &core)
            }
        }
    }

    private func handle(_ news: CallConnectivity.News, core: inout EngineCore) {
        switch news {
        case .gathered:
            if afterGathering != nil { gathered(core: &core) }
            tellCandidates(core: &core)
        case .candidateFound: tellCandidates(core: &core)
        case .connected:
            if hadConnectivity { tell(.mediaFlowChanged(isVideo: false, flows: true), core: &core) }
            hadConnectivity = true
        case .lost where hadConnectivity:
            tell(.mediaFlowChanged(isVideo: false, flows: false), core: &core)
        case .lost:
            guard snapshot.phase != .failed, let session else { return }
            let reason = "No way for the media was found between the two ends: a TURN server would relay it."
            fail(CallFailure(.mediaTimeout, reason), core: &core)
            core.userAgent.end(session, at: core.now, actions: &core.actions)
        }
    }

    /// What this side wants of the session now; nil where no sockets are to be had.
    func wishes(mode: VideoMode?, core: inout EngineCore) -> MediaWishes? {
        guard let localAddress, let audio = media.localStream(.audio, address: localAddress, core: &core) else {
            return nil
        }
        var video: LocalStream?
        if media.video != nil || mode?.direction != nil {
            guard let stream = media.localStream(.video, address: localAddress, core: &core) else { return nil }
            video = stream
            // RFC 4796 §5.
            if snapshot.isPresenting { video?.attributes.append(SDPAttribute("content", "slides")) }
        }
        return MediaWishes(
            audio: audio, video: video, videoMode: mode, allowedVideoDirection: snapshot.allowedVideoDirection,
            isHolding: snapshot.isHeld)
    }

    func figures(at now: Instant) -> CallFigures {
        var figures = CallFigures()
        figures.audio = media.audio.map { CallFigures.Line($0, media.connectivity, at: now) }
        figures.video = media.video.map { CallFigures.Line($0, media.connectivity, at: now) }
        figures.localAddress = localAddress
        if let startedAt, let answeredAt { figures.setupDuration = answeredAt - startedAt }
        figures.establishedAt = answeredAt
        figures.transport = transport
        return figures
    }
}

extension CallFigures.Line {
    fileprivate init(_ line: MediaLine, _ connectivity: CallConnectivity?, at now: Instant) {
        statistics = line.session.statistics(at: now)
        sendCodecName = line.negotiated?.sendCodecs.first?.name
        receiveCodecName =
            line.negotiated?.receiveCodecs.first { $0.payloadType == statistics.received.payloadType }?.name
            ?? line.negotiated?.receiveCodecs.first?.name
        suiteName = line.transport.suiteName
        localPort = line.transport.ports.rtpPort
        let way = connectivity?.remote(of: line.transport.ports)
        remote = way?.endpoint ?? line.transport.remoteEndpoint
        isRelayed = way?.isRelayed ?? false
    }
}
