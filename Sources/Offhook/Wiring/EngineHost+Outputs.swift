internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookEngine
internal import OffhookIO
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSIP

/// Doing what the engine wants.
extension EngineHost {
    func perform(_ output: EngineOutput) {
        switch output {
        case .sendSignaling(let bytes, let target):
            trace(.sent, bytes, target)
            signaling?.send(bytes, to: target)
        case .sendKeepAlive(let bytes, let target):
            signaling?.sendSignOfLife(bytes, to: target)
        case .resolve(let query, let question):
            resolve(query, question)
        case .sendMedia(let packet, let socket, let destination):
            sendMedia(packet, from: socket, to: destination)
        case .closePorts(let ports):
            closePorts(ports)
        case .connectRelay(let relay, let server):
            relaySockets?.connect(relay, to: server)
        case .sendRelay(let relay, let bytes):
            relaySockets?.send(bytes, along: relay)
        case .closeRelay(let relay):
            relaySockets?.close(relay)
        case .incomingCall(let handle, let account, let snapshot):
            receiveCall(handle, account, snapshot)
        case .outgoingCall(let handle, let account, let snapshot):
            followTransfer(handle, account, snapshot)
        case .joined(let handle, let other):
            calls[handle]?.media.media.audioInterface.join(Call.ID(value: handle.number), Call.ID(value: other.number))
        case .news(let handle, let event, let snapshot):
            tell(event, snapshot, of: handle)
        case .finished(let token, let failure):
            waiting.removeValue(forKey: token)?.resume(returning: failure)
        case .media(let handle, let plan):
            calls[handle]?.media.apply(plan)
            armTicker()
        case .decodeVideo(let handle, _, let frame):
            calls[handle]?.media.decode(frame, at: loop.now)
        case .playAudio(let handle, let playout, let speed):
            calls[handle]?.media.play(playout, speed: speed, at: loop.now)
            giveBack(playout)
        case .encodeKeyFrame(let handle, _):
            calls[handle]?.media.encodeKeyFrame()
        case .targetVideo(let handle, _, let target):
            calls[handle]?.media.setVideoTarget(target)
        case .expectAudioLoss(let handle, let percent):
            calls[handle]?.media.setExpectedAudioLoss(percent)
        case .limitAudio(let handle, let limit):
            calls[handle]?.media.setAudioLimit(limit)
        case .finalStatistics(let handle, let figures):
            guard let call = calls[handle] else { return }
            front.keep(CallStatistics(figures, call.media, at: loop.now), of: Call.ID(value: handle.number))
        case .registration(let account, let status):
            tell(status, of: User.ID(value: account.number))
        case .credentialsNeeded(let question, let account, let realm, let isRepeated):
            askForPassword(question, User.ID(value: account.number), realm: realm, isRepeated: isRepeated)
        case .requestEvent:
            break
        case .log(let text, let handle):
            log(.info, text, call: handle.map { Call.ID(value: $0.number) })
        }
    }

    private func receiveCall(_ handle: CallHandle, _ account: AccountHandle, _ snapshot: CallSnapshot) {
        let user = User.ID(value: account.number)
        guard let settings = accounts[user] else { return }
        host(handle, isOutgoing: false, media: settings.media)
        let status = CallStatus(snapshot, isOutgoing: false)
        front.addIncomingCall(Call.ID(value: handle.number), to: user, status: status)
    }

    private func followTransfer(_ handle: CallHandle, _ account: AccountHandle, _ snapshot: CallSnapshot) {
        let user = User.ID(value: account.number)
        guard let settings = accounts[user] else { return }
        host(handle, isOutgoing: true, media: settings.media)
        let status = CallStatus(snapshot, isOutgoing: true)
        front.addOutgoingCall(Call.ID(value: handle.number), to: user, status: status)
    }

    /// Begins to care for a call's media.
    func host(_ handle: CallHandle, isOutgoing: Bool, media: MediaServices) {
        let handlers = CallMediaWiring.Handlers(
            encodedAudio: { [weak self] audio, payloadType in
                self?.submit { engine, now in
                    engine.sendAudio(
                        audio.isPause ? [] : audio.bytes, payloadType: payloadType, units: audio.units,
                        captureTime: audio.captureTime, of: handle, at: now)
                }
            },
            encodedVideo: { [weak self] frame in
                self?.submit { engine, now in
                    engine.sendVideo(
                        frame.bytes, isKeyFrame: frame.isKeyFrame, captureTime: frame.captureTime, of: handle, at: now)
                }
            },
            needsKeyFrame: { [weak self] in
                self?.submit { engine, now in engine.requestKeyFrame(of: handle, at: now) }
            },
            now: { [loop] in loop.now })
        let wiring = CallMediaWiring(
            call: Call.ID(value: handle.number), media: media, limits: configuration.videoLimits, handlers: handlers)
        calls[handle] = HostedCall(isOutgoing: isOutgoing, media: wiring)
    }

    private func tell(_ event: CallEvent, _ snapshot: CallSnapshot, of handle: CallHandle) {
        guard let call = calls[handle] else { return }
        if case .audioMuted(let isMuted) = event { call.media.uplink.setMuted(isMuted) }
        let news = CallNews(event, snapshot).map { [$0] } ?? []
        front.apply(news, to: Call.ID(value: handle.number)) { status in
            status.update(with: snapshot, isOutgoing: call.isOutgoing)
        }
        guard case .ended(let ending) = event else { return }
        log(
            .info,
            "The call \(call.isOutgoing ? "to" : "from") \(snapshot.remoteAddress) is over: \(CallEndReason(ending)).",
            call: Call.ID(value: handle.number))
        call.media.end()
        calls[handle] = nil
    }

    private func giveBack(_ playout: AudioPlayout) {
        // The packet whose forward error correction was used comes again to be played, and is given back then.
        if case .packet(let packet) = playout { engine.giveBack(packet.buffer) }
    }

    // MARK: Names

    private func resolve(_ query: ResolveQuery, _ question: ResolveQuestion) {
        if let address = query.host.address {
            let transport = query.transport ?? (query.isSecure ? .tls : .udp)
            let remote = Endpoint(address, query.port ?? transport.defaultPort)
            answer(question, query, [TransportTarget(transport: transport, remote: remote)])
            return
        }
        do throws(IOError) {
            let resolver = try nameResolver()
            let names = NameResolver.Query(
                host: query.host.text, port: query.port, transport: query.transport.map { NameResolver.Transport($0) },
                isSecure: query.isSecure)
            resolver.resolve(names) { [weak self] result in
                self?.assumeIsolated { host in host.resolved(question, query, result) }
            }
        } catch {
            resolved(question, query, .failure(error))
        }
    }

    func nameResolver() throws(IOError) -> NameResolver {
        if let resolver { return resolver }
        let new = try NameResolver(on: loop)
        resolver = new
        return new
    }

    private func resolved(
        _ question: ResolveQuestion, _ query: ResolveQuery, _ result: Result<[NameResolver.Target], IOError>
    ) {
        switch result {
        case .success(let targets):
            answer(
                question, query,
                targets.map { TransportTarget(transport: SIPTransport($0.transport), remote: $0.endpoint) })
        case .failure(let error):
            log(.warning, error.reason)
            answer(question, query, [])
        }
    }

    /// Answers when the present step is over: the engine is at work now.
    private func answer(_ question: ResolveQuestion, _ query: ResolveQuery, _ targets: [TransportTarget]) {
        if serverHosts.contains(query.host) { serverAddresses.formUnion(targets.map(\.remote.address)) }
        let routes = targets.map { target in
            var target = target
            if target.transport != .udp, target.transport != .tcp { target.domain = query.host.text }
            let local = signaling?.localAddress(toward: target.remote) ?? IPAddress(version4: 0)
            return TransportRoute(target: target, local: Endpoint(local, signaling?.ports[target.transport] ?? 0))
        }
        submit { engine, now in engine.resolved(question, routes: routes, at: now) }
    }
}

extension NameResolver.Transport {
    fileprivate init(_ transport: SIPTransport) {
        self =
            switch transport {
            case .udp: .udp
            case .tcp: .tcp
            case .tls: .tls
            case .webSocket: .webSocket
            case .secureWebSocket: .secureWebSocket
            }
    }
}

extension SIPTransport {
    fileprivate init(_ transport: NameResolver.Transport) {
        self =
            switch transport {
            case .udp: .udp
            case .tcp: .tcp
            case .tls: .tls
            case .webSocket: .webSocket
            case .secureWebSocket: .secureWebSocket
            }
    }
}
