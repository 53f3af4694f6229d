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
    private var videoSending: SendController?
    private var audioLoss = AudioLoss()
    private var audioShare = AudioShare()
    private var bundleSources = BundleSources()
    private var lipSync = LipSync()
    private var nextLipSync: Instant?
    private var heldFrames: [(due: Instant, frame: ReceivedVideoFrame)] = []
    private var actions: [RTPSession.Action] = []
    private var plan = MediaPlan()
    /// News for the call, to be taken after each input.
    private(set) var events: [CallEvent] = []
    private(set) var endsForSilenceAt: Instant?

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

    private var lines: [MediaLine] { [audio, video].compactMap(\.self) }

    /// What a description says of our end of a line, which is made on first use; nil where no sockets are to be had.
    func localStream(_ kind: StreamKind, address: IPAddress, core: inout EngineCore) -> LocalStream? {
        guard let line = line(kind, core: &core) else { return nil }
        connectivity?.add(line.ownTransport.ports, address: address, core: &core)
        return line.localStream(address: address, ice: connectivity?.description(of: line.ownTransport.ports))
    }

    /// Takes over what was agreed for all lines and tells the codecs.
    func apply(_ media: [NegotiatedMedia], isHolding: Bool, core: inout EngineCore) throws(SRTPError) {
        for line in lines {
            let agreed = media.first { $0.kind == line.kind && $0.isEnabled }
            var bundle: MediaTransport?
            if let agreed, agreed.transportIndex != agreed.index {
                let tagged = media.first { $0.index == agreed.transportIndex }?.kind
                bundle = lines.first { $0.kind == tagged && $0 !== line }?.ownTransport
            }
            if let agreed, let connectivity {
                if bundle != nil {
                    connectivity.remove(line.ownTransport.ports, core: &core)
                } else {
                    connectivity.agree(
                        agreed.remoteICE, on: line.ownTransport.ports, isMultiplexed: agreed.hasRTCPMux, core: &core)
                }
            }
            try line.apply(agreed, bundle: bundle, isSilent: isHolding, core: &core, actions: &actions)
            perform(line, core: &core)
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

    /// Whether sound is to be played: the edge then asks for it every 20 ms.
    var receivesAudio: Bool { plan.audio?.receives == true }

    var isSecure: Bool {
        let active = lines.filter { $0.negotiated?.isEnabled == true }
        return !active.isEmpty && active.allSatisfy(\.isSecure)
    }

    // MARK: Packets

    func receive(_ packet: PacketBuffer, on socket: MediaSocketID, from source: Endpoint, core: inout EngineCore) {
        let users = lines.filter { $0.uses(socket) }
        let receipt =
            users.isEmpty ? .handled : connectivity?.receive(packet, on: socket, from: source, core: &core)
        switch receipt ?? .packet(isRelayed: false) {
        case .handled:
            core.pool.give(packet)
            sendWaiting(core: &core)
        case .packet(let isRelayed):
            deliver(packet, to: users, on: socket, from: source, isRelayed: isRelayed, core: &core)
        }
    }

    /// Gives a packet that is none of ICE's to the line that it is for.
    private func deliver(
        _ packet: PacketBuffer, to users: [MediaLine], on socket: MediaSocketID, from source: Endpoint,
        isRelayed: Bool, core: inout EngineCore
    ) {
        guard let first = users.first else { return core.pool.give(packet) }
        let owns = first.ownTransport.ports.rtp == socket || first.ownTransport.ports.rtcp == socket
        let transport = owns ? first.ownTransport : first.transport
        // A relay lets through whom we have permitted, which is candidates alone (RFC 8656 §9).
        let arrival = transport.receive(
            packet, on: socket, from: source,
            isVouchedFor: isRelayed || connectivity?.knowsPort(of: source, on: socket) == true, at: core.now)
        switch arrival {
        case .rtp(let packet):
            let line = users.count > 1 ? line(of: packet, among: users) ?? first : first
            line.session.receiveRTP(packet, at: core.now, pool: &core.pool, actions: &actions)
            perform(line, core: &core)
        case .rtcp(let packet):
            // In a bundle each session finds what is its own by the sources.
            for line in users {
                line.session.receiveRTCP(packet.bytes, at: core.now, pool: &core.pool, actions: &actions)
                perform(line, core: &core)
            }
            core.pool.give(packet)
        case .ignored(let packet):
            core.pool.give(packet)
            perform(first, core: &core)
        }
    }

    private func line(of packet: PacketBuffer, among users: [MediaLine]) -> MediaLine? {
        guard let header = try? RTPHeader(parsing: packet.bytes) else { return nil }
        let kind = bundleSources.line(
            of: header.ssrc, named: users.first { $0.isIdentified(by: header, in: packet) }?.kind,
            fitting: users.filter { $0.receives(payloadType: header.payloadType) }.map(\.kind))
        return users.first { $0.kind == kind }
    }

    // MARK: Connections to TURN servers

    func relayConnected(_ relay: RelayConnectionID, local: Endpoint, core: inout EngineCore) {
        connectivity?.relayConnected(relay, local: local, core: &core)
    }

    func relayReceived(_ relay: RelayConnectionID, _ bytes: [UInt8], core: inout EngineCore) {
        guard let connectivity else { return }
        connectivity.relayReceived(relay, bytes, core: &core)
        sendWaiting(core: &core)
        for media in connectivity.takeRelayedMedia() {
            let users = lines.filter { $0.uses(media.socket) }
            deliver(media.packet, to: users, on: media.socket, from: media.source, isRelayed: true, core: &core)
        }
    }

    func relayClosed(_ relay: RelayConnectionID, core: inout EngineCore) {
        connectivity?.relayClosed(relay, core: &core)
    }

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

    private func updateLipSync(core: inout EngineCore) {
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

    // MARK: What the sessions want

    private func perform(_ line: MediaLine, core: inout EngineCore) {
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

    // MARK: Congestion control

    private func controlVideo(_ plan: MediaPlan, core: inout EngineCore) {
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
    private func pace(_ packet: PacketBuffer, _ line: MediaLine, isRepeat: Bool, core: inout EngineCore) {
        if line.kind == .video, let videoSending {
            videoSending.send(packet, isRepeat: isRepeat)
        } else {
            send(packet, line.transport, isControl: false, core: &core)
        }
    }

    /// Sends what is due, and tells the encoder what has changed.
    private func sendPacedVideo(core: inout EngineCore) {
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

    private func noteLoss(_ lost: Int, of total: Int, on line: MediaLine, core: inout EngineCore) {
        switch line.kind {
        case .video:
            videoSending?.handle(lost: lost, of: total, roundTrip: line.session.latestRoundTrip, at: core.now)
        case .audio:
            if let percent = audioLoss.note(lost, of: total) { core.output(.expectAudioLoss(call, percent)) }
        }
    }

    private func perform(_ outcome: MediaTransport.Outcome, _ line: MediaLine, core: inout EngineCore) {
        switch outcome {
        case .send(let bytes, let isControl):
            sendHandshake(bytes, line.transport, isControl: isControl, core: &core)
        case .secured:
            events.append(.mediaSecured)
            // What was encoded before the keys were there went nowhere.
            if line.kind == .video, plan.video?.sends == true { core.output(.encodeKeyFrame(call, channel)) }
        case .securityFailed(.timedOut) where line.kind == .video:
            // No picture flows, in the clear least of all; the sound goes on.
            core.output(.log("no keys for video: the far end does not answer the handshake", call))
        case .securityFailed(let error):
            events.append(.mediaSecurityFailed("\(error)"))
        }
    }

    private func sendHandshake(
        _ bytes: [UInt8], _ transport: MediaTransport, isControl: Bool, core: inout EngineCore
    ) {
        guard bytes.count <= PacketBuffer.capacity else { return }
        if let connectivity, connectivity.governs(transport.ports), connectivity.remote(of: transport.ports) == nil {
            return transport.keep(bytes, isControl: isControl)
        }
        let packet = core.pool.take()
        packet.assign(bytes)
        forward(packet, transport, isControl: isControl, core: &core)
    }

    /// Sends what of the handshakes has waited for a way, now that there may be one.
    func sendWaiting(core: inout EngineCore) {
        for line in lines where line.transport === line.ownTransport {
            line.transport.pathFound(roundTrip: connectivity?.roundTrip(of: line.transport.ports), at: core.now)
            guard line.transport.hasWaiting, connectivity?.remote(of: line.transport.ports) != nil else { continue }
            for datagram in line.transport.takeWaiting() {
                sendHandshake(datagram.bytes, line.transport, isControl: datagram.isControl, core: &core)
            }
        }
    }

    private func send(
        _ packet: PacketBuffer, _ transport: MediaTransport, isControl: Bool, core: inout EngineCore
    ) {
        guard transport.protect(packet, isControl: isControl) else { return core.pool.give(packet) }
        forward(packet, transport, isControl: isControl, core: &core)
    }

    /// Sends a packet as it is: by the way ICE found, or to where signalling said.
    private func forward(
        _ packet: PacketBuffer, _ transport: MediaTransport, isControl: Bool, core: inout EngineCore
    ) {
        if let connectivity, connectivity.governs(transport.ports) {
            let isControl = isControl && !transport.isMultiplexed
            guard connectivity.send(packet, transport.ports, isControl: isControl, core: &core) else {
                return core.pool.give(packet)
            }
        } else if let way = transport.way(isControl: isControl) {
            core.output(.sendMedia(packet, from: way.socket, to: way.destination))
        } else {
            core.pool.give(packet)
        }
    }

    /// Pictures that lip sync wants later wait here; the others go to their decoder at once.
    private func deliver(_ frame: ReceivedVideoFrame, core: inout EngineCore) {
        guard plan.video?.receives == true else { return }
        if lipSync.videoDelay > .zero || !heldFrames.isEmpty {
            heldFrames.append((core.now + lipSync.videoDelay, frame))
        } else {
            core.output(.decodeVideo(call, channel, frame))
        }
    }
}

extension MediaPlan.Audio {
    fileprivate init(_ media: NegotiatedMedia, isSilent: Bool, suiteName: String?) {
        sends = media.direction.sends && !isSilent
        receives = media.direction.receives
        sendFormat = media.sendCodecs.lazy.compactMap(MediaPlan.Format.init).first
        receiveFormats = media.acceptedCodecs.compactMap(MediaPlan.Format.init)
        // What we send is 20 ms a packet; a peer that asks for longer ones gets them in multiples of that.
        packetTime = min(max(media.packetTime ?? 20, 10), media.maximumPacketTime ?? 60, 60)
        self.suiteName = suiteName
    }
}

extension MediaPlan.Video {
    fileprivate init(_ media: NegotiatedMedia, channel: ChannelHandle, isSilent: Bool, suiteName: String?) {
        self.channel = channel
        sends = media.direction.sends && !isSilent
        receives = media.direction.receives
        sendFormat = media.sendCodecs.lazy.compactMap(MediaPlan.Format.init).first
        bandwidth = media.bandwidth.payloadBitsPerSecond(packetsPerSecond: 200)
        self.suiteName = suiteName
    }
}

extension MediaPlan.Format {
    fileprivate init?(_ codec: NegotiatedCodec) {
        switch codec.name.lowercased() {
        case "opus":
            self.init(codec: .opus, payloadType: codec.payloadType)
            usesForwardErrorCorrection = codec.parameters.flag("useinbandfec")
            usesDiscontinuousTransmission = codec.parameters.flag("usedtx")
            maximumBitrate = codec.parameters.number("maxaveragebitrate")
        case "pcmu": self.init(codec: .pcmu, payloadType: codec.payloadType)
        case "pcma": self.init(codec: .pcma, payloadType: codec.payloadType)
        case "vp8":
            self.init(codec: .vp8, payloadType: codec.payloadType)
            maximumFrameRate = codec.parameters.number("max-fr")
            maximumFrameSize = codec.parameters.number("max-fs")
        default: return nil
        }
    }
}
