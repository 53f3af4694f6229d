internal import OffhookBasics
internal import OffhookEngine
internal import OffhookIO
internal import OffhookMedia
internal import OffhookRTP
internal import OffhookSDP
internal import OffhookSIP

/// The commands of the app.
extension EngineHost: CallBackend {
    func shutdown() async {
        guard !isShutDown else { return }
        let begin = loop.now
        // Side by side: a silent registrar is waited for once, however many accounts there are.
        await withTaskGroup(of: Void.self) { group in
            for user in accounts.keys { group.addTask { await self.stopUser(user) } }
        }
        await answersToRequests(until: begin + Self.farewell)
        guard !isShutDown else { return }
        close()
        guard ownsLoop else { return }
        let loop = loop
        // The loop waits for its thread to end, so that another thread must ask for it.
        await Task.detached { loop.shutdown() }.value
    }

    /// How long a far end may take to answer the BYE of a call that a shutdown ends; a registrar may take twice as long.
    private static let farewell = Duration.seconds(2)

    // MARK: Calls

    nonisolated func addCall(
        _ call: Call.ID, of user: User.ID, to address: String, options: CallOptions
    ) throws(CallError) -> CallStatus {
        guard var uri = URI(parsing: address), uri.sip != nil || uri.telephoneNumber != nil else {
            throw CallError(.invalidArgument, "“\(address)” is no address to call: write it as sip:name@host.")
        }
        // The fields that an address asks for are no part of the Request-URI (RFC 3261 §19.1.1, table 1), and who wrote the
        // address may not choose what we say (§19.1.5).
        if var sip = uri.sip, !sip.headers.isEmpty {
            sip.headers = []
            uri = .sip(sip)
        }
        var headers = SIPHeaders()
        if let subject = options.subject { headers.append("Subject", subject) }
        for header in options.headers {
            guard !SIPHeaderName(header.name).isStandard, !header.name.isEmpty,
                !header.name.contains(where: { $0 == ":" || $0.isWhitespace }),
                !header.value.contains(where: \.isNewline)
            else {
                throw CallError(
                    .invalidArgument,
                    "The header “\(header.name)” cannot be set: give it a name of your own, as X-Ticket.")
            }
            headers.append(SIPHeaderName(header.name), header.value)
        }
        let delaysOffer = options.delaysOffer
        let handle = CallHandle(number: call.value)
        loop.submit { [self, headers, uri] in
            assumeIsolated { host in
                guard let account = host.accounts[user] else { return }
                host.host(handle, isOutgoing: true, media: account.media)
                host.step { engine in
                    _ = engine.addCall(
                        handle, of: AccountHandle(number: user.value), to: uri, delaysOffer: delaysOffer,
                        headers: headers,
                        at: host.loop.now)
                }
            }
        }
        var snapshot = CallSnapshot()
        snapshot.remoteAddress = address
        return CallStatus(snapshot, isOutgoing: true)
    }

    nonisolated func end(_ call: Call.ID) {
        let handle = CallHandle(number: call.value)
        submit { engine, now in engine.end(handle, at: now) }
    }

    private func perform(_ command: CallCommand, on call: Call.ID) async -> CommandOutcome {
        let token = nextToken()
        let handle = CallHandle(number: call.value)
        let now = loop.now
        let failure = await withCheckedContinuation { continuation in
            waiting[token] = continuation
            step { $0.perform(command, on: handle, token: token, at: now) }
        }
        return failure.map { .failure(CallError($0)) } ?? .success(())
    }

    /// The same for a command that names an address.
    private func perform(_ address: String, on call: Call.ID, _ command: (NameAddress) -> CallCommand) async
        -> CommandOutcome
    {
        guard let uri = URI(parsing: address) else {
            return .failure(CallError(.invalidArgument, "“\(address)” is no address: write it as sip:name@host."))
        }
        return await perform(command(NameAddress(uri: uri)), on: call)
    }

    func start(_ call: Call.ID) async -> CommandOutcome {
        do throws(CallError) { try open() } catch { return .failure(error) }
        return await perform(.start, on: call)
    }

    func accept(_ call: Call.ID) async -> CommandOutcome { await perform(.accept, on: call) }
    func ignore(_ call: Call.ID) async -> CommandOutcome { await perform(.ignore, on: call) }

    func deny(_ call: Call.ID, reason: Call.DenyReason) async -> CommandOutcome {
        await perform(.deny(isBusy: reason == .busy), on: call)
    }

    func redirect(_ call: Call.ID, to address: String) async -> CommandOutcome {
        await perform(address, on: call) { .redirect(to: $0) }
    }

    func hold(_ call: Call.ID) async -> CommandOutcome { await perform(.hold, on: call) }
    func unhold(_ call: Call.ID) async -> CommandOutcome { await perform(.unhold, on: call) }

    func muteAudio(_ call: Call.ID, _ isMuted: Bool) async -> CommandOutcome {
        await perform(.muteAudio(isMuted), on: call)
    }

    func silenceSpeaker(_ call: Call.ID, _ isSilenced: Bool) async -> CommandOutcome {
        calls[CallHandle(number: call.value)]?.media.downlink.setSilenced(isSilenced)
        front.apply([], to: call) { $0.isSpeakerSilenced = isSilenced }
        return .success(())
    }

    func sendDTMF(_ call: Call.ID, _ tones: [DTMFTone]) async -> CommandOutcome {
        await perform(.sendDigits(tones.map { TelephoneEvent(code: $0.eventCode) }), on: call)
    }

    func setVideoMode(_ call: Call.ID, _ mode: VideoMode) async -> CommandOutcome {
        await perform(.setVideoMode(mode), on: call)
    }

    func setPresentation(_ call: Call.ID, _ isPresenting: Bool) async -> CommandOutcome {
        await perform(.setPresentation(isPresenting), on: call)
    }

    func acceptVideo(_ call: Call.ID, _ mode: VideoMode) async -> CommandOutcome {
        await perform(.acceptVideo(mode), on: call)
    }

    func denyVideo(_ call: Call.ID) async -> CommandOutcome { await perform(.denyVideo, on: call) }

    func transfer(_ call: Call.ID, to address: String) async -> CommandOutcome {
        await perform(address, on: call) { .transfer(to: $0) }
    }

    func transfer(_ call: Call.ID, to other: Call.ID) async -> CommandOutcome {
        await perform(.transferTo(CallHandle(number: other.value)), on: call)
    }

    func join(_ call: Call.ID, _ other: Call.ID) async -> CommandOutcome {
        guard let media = calls[CallHandle(number: call.value)]?.media.media,
            let otherMedia = calls[CallHandle(number: other.value)]?.media.media, call != other
        else { return .failure(.notAllowed(.invalidState, "A call is joined with another that is up.")) }
        guard media === otherMedia else {
            return .failure(.notAllowed(.notSupported, "Calls of different accounts cannot be joined."))
        }
        return await perform(.join(CallHandle(number: other.value)), on: call)
    }

    func sendKeyFrameRequest(_ call: Call.ID) async -> CommandOutcome {
        await perform(.requestKeyFrame, on: call)
    }

    func restartICE(_ call: Call.ID) async -> CommandOutcome { await perform(.restartICE, on: call) }

    func startRecording(_ call: Call.ID, to recorder: CallRecorder) async -> CommandOutcome {
        guard let media = calls[CallHandle(number: call.value)]?.media else {
            return .failure(.notAllowed(.invalidState, "The call is over, so that there is nothing to record."))
        }
        guard media.recording.begin(recorder) else {
            return .failure(
                .notAllowed(
                    .operationInProgress,
                    "The call is being recorded already, or the recorder had a call before: make a recorder for each."))
        }
        return .success(())
    }

    func stopRecording(_ call: Call.ID) async -> CallRecorder? {
        calls[CallHandle(number: call.value)]?.media.recording.end()
    }

    func statistics(of call: Call.ID) async -> CallStatistics? {
        let handle = CallHandle(number: call.value)
        let now = loop.now
        guard let hosted = calls[handle], let figures = engine.figures(of: handle, at: now) else { return nil }
        return CallStatistics(figures, hosted.media, at: now)
    }
}

extension VideoAddPolicy {
    init(_ policy: AddVideoPolicy) {
        self =
            switch policy {
            case .ask: .ask
            case .accept(let mode): .accept(mode)
            case .deny: .deny
            case .refuseThenOffer: .refuseThenOffer
            }
    }
}

extension MediaCapabilities {
    /// What an account's calls may use, out of the account's settings and the client's.
    init(_ client: ClientConfiguration, _ user: UserConfiguration) throws(CallError) {
        self.init()
        audio = []
        for codec in user.audioCodecs ?? client.audioCodecs {
            switch codec {
            case .opus: audio.append(.opus)
            case .pcmu: audio.append(.pcmu)
            case .pcma: audio.append(.pcma)
            default:
                throw CallError(
                    .invalidArgument, "There is no audio codec “\(codec.rawValue)”; there are opus, pcmu and pcma.")
            }
        }
        video = []
        for codec in user.videoCodecs ?? client.videoCodecs {
            guard codec == .vp8 else {
                throw CallError(.invalidArgument, "There is no video codec “\(codec.rawValue)”; there is vp8.")
            }
            video.append(.vp8)
        }
        guard !audio.isEmpty else { throw CallError(.invalidArgument, "Calls need an audio codec: name at least one.") }
        security =
            switch user.mediaSecurity ?? client.mediaSecurity {
            case .off: .off
            case .sdes: .sdes
            case .dtls: .dtls
            case .best: .bestEffort
            }
        canUseKeyIdentifiers = true
        hasDTLS = true
        hasReducedSizeRTCP = true
        videoFeedback = [
            .nack, .pictureLoss, .fullIntra, .temporaryMaximumBitrate, .estimatedMaximumBitrate, .transportWide,
        ]
        hasRetransmission = true
        videoExtensions = [
            HeaderExtensionIdentifiers.absoluteSendTimeURI, HeaderExtensionIdentifiers.transportSequenceNumberURI,
        ]
        videoBandwidth = client.videoLimits.maximumBitrate
        prefersOwnCodecOrder = true
    }
}
