internal import OffhookEngine
internal import OffhookMedia

// What the engine tells, in the words of the public types.

extension CallError {
    init(_ failure: CallFailure) {
        let code: Code
        switch failure.kind {
        case .notAllowed:
            self = .notAllowed(.invalidState, failure.reason)
            return
        case .notSupported:
            self = .notAllowed(.notSupported, failure.reason)
            return
        case .invalidArgument: code = .invalidArgument
        case .cancelled: code = .cancelled
        case .portUnavailable: code = .portUnavailable
        case .unreachable: code = .unreachable
        case .timedOut: code = .timedOut
        case .busy: code = .busy
        case .declined: code = .declined
        case .notFound: code = .notFound
        case .noCommonCodec: code = .noCommonCodec
        case .invalidSessionDescription: code = .invalidSessionDescription
        case .mediaSecurityFailed: code = .mediaSecurityFailed
        case .authenticationFailed: code = .authenticationFailed
        case .registrationFailed: code = .registrationFailed
        case .videoDenied: code = .videoDenied
        case .transferFailed: code = .transferFailed
        case .mediaTimeout: code = .mediaTimeout
        case .signalingLost: code = .signalingLost
        case .refused: code = .refused
        case .protocolViolation: code = .protocolViolation
        }
        self.init(code, failure.reason, sipStatus: failure.sipStatus, retryAfter: failure.retryAfter)
    }
}

extension Registration {
    init(_ status: RegistrationStatus) {
        let state: State =
            switch status.state {
            case .unregistered: .unregistered
            case .registering: .registering
            case .registered: .registered
            case .unregistering: .unregistering
            case .failed: .failed
            }
        self.init(
            state: state, retryAfter: status.retryAfter, interval: status.interval,
            error: status.failure.map { CallError($0) })
    }
}

extension CallEndReason {
    init(_ ending: CallEnding) {
        let cause: Cause =
            switch ending.cause {
            case .endedHere: .ended(by: .local)
            case .endedThere: .ended(by: .remote)
            case .cancelled: .cancelled
            case .declined: .declined
            case .busy: .busy
            case .noAnswer: .noAnswer
            case .answeredElsewhere: .answeredElsewhere
            case .declinedElsewhere: .declinedElsewhere
            case .transferred: .transferred
            case .replaced: .replaced
            case .mediaTimeout: .mediaTimeout
            case .signalingLost: .signalingLost
            case .failed(let failure): .failed(CallError(failure))
            }
        self.init(cause, sipCode: ending.sipStatus, text: ending.text)
    }
}

extension CallState {
    init(_ phase: CallPhase) {
        self =
            switch phase {
            case .idle: .idle
            case .initiating: .initiating
            case .remoteAlerting: .remoteAlerting
            case .alerting: .alerting
            case .established: .established
            case .holding: .holding
            case .held: .held
            case .unholding: .unholding
            case .videoUpdating: .videoUpdating
            case .transferring: .transferring
            case .beingTransferred: .beingTransferred
            case .ignored: .ignored
            case .failed: .failed
            case .ending: .ending
            case .ended: .ended
            }
    }
}

extension VideoChannel {
    init(_ channel: ChannelSnapshot) {
        self.init(
            id: ID(value: channel.handle.number), requestedDirection: channel.requested,
            negotiatedDirection: channel.negotiated, isEnabled: channel.isEnabled,
            disabledReason: channel.disabledReason.map { VideoDisabledReason($0) },
            codec: channel.codecName.map { VideoCodec(rawValue: $0.lowercased()) },
            isPresentation: channel.isPresentation)
    }
}

extension VideoDisabledReason {
    fileprivate init(_ reason: ChannelSnapshot.DisabledReason) {
        self =
            switch reason {
            case .localUser: .localUser
            case .remoteUser: .remoteUser
            case .noCommonCodec: .noCommonCodec
            case .notNegotiated: .notNegotiated
            case .mediaSecurity: .mediaSecurity
            case .callEnded: .callEnded
            }
    }
}

extension CallStatus {
    init(_ snapshot: CallSnapshot, isOutgoing: Bool) {
        self.init()
        update(with: snapshot, isOutgoing: isOutgoing)
    }

    /// Takes over all that the engine tells.
    mutating func update(with snapshot: CallSnapshot, isOutgoing: Bool) {
        state = CallState(snapshot.phase)
        remoteAddress = snapshot.remoteAddress
        remoteDisplayName = snapshot.remoteDisplayName
        remoteNumber = Self.number(in: snapshot.remoteAddress)
        subject = snapshot.subject
        isHeld = snapshot.isHeld
        isRemotelyHeld = snapshot.isRemotelyHeld
        isAudioMuted = snapshot.isAudioMuted
        isSecure = snapshot.isSecure
        replacedCall = snapshot.replacedCall.map { Call.ID(value: $0.number) }
        callToJoin = snapshot.callToJoin.map { Call.ID(value: $0.number) }
        headers = snapshot.headers.map { SIPHeader($0.name, $0.value) }
        incomingVideoStatus = snapshot.incomingVideoStatus
        videoMode = snapshot.videoMode
        isPresenting = snapshot.isPresenting
        allowedVideoDirection = snapshot.allowedVideoDirection
        videoChannels = snapshot.channels.map { VideoChannel($0) }
        capabilities = CallCapabilities(snapshot, isOutgoing: isOutgoing)
    }

    /// The user part of an address where it is a telephone number (RFC 3966 §3).
    private static func number(in address: String) -> String? {
        let rest = address.split(separator: ":", maxSplits: 1).last ?? ""
        let user = rest.prefix { $0 != "@" && $0 != ";" }
        let digits = user.first == "+" ? user.dropFirst() : user
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || "-.()".contains($0)) }),
            digits.contains(where: \.isNumber)
        else { return nil }
        return String(user)
    }
}

extension CallCapabilities {
    /// What the state of a call allows.
    init(_ snapshot: CallSnapshot, isOutgoing: Bool) {
        self.init()
        if snapshot.phase != .ended { self[.end] = .allowed }
        switch snapshot.phase {
        case .idle:
            self[.start] = .allowed
            allowVideoModes(snapshot)
        case .alerting, .ignored:
            for name in [Name.accept, .deny, .redirect] { self[name] = .allowed }
            if snapshot.phase == .alerting { self[.ignore] = .allowed }
            allowVideoModes(snapshot)
        case .established, .held, .transferring, .beingTransferred, .holding, .unholding, .videoUpdating:
            let isBusy = snapshot.phase != .established && snapshot.phase != .held
            for name in [Name.muteAudio, .silenceSpeaker] {
                self[name] = snapshot.hasAudio ? .allowed : .denied(.callHasNoAudio)
            }
            self[.sendDTMF] = .allowed
            // A change waits its turn while another is under way, so that it is allowed all the same.
            self[snapshot.isHeld ? .unhold : .hold] = .allowed
            allowVideoModes(snapshot)
            self[.transfer] = isBusy ? .denied(.operationInProgress) : .allowed
            self[.restartICE] = snapshot.usesICE ? .allowed : .denied(.notSupported)
            self[.join] = snapshot.hasAudio ? .allowed : .denied(.callHasNoAudio)
            self[.sendKeyFrameRequest] = snapshot.hasVideo ? .allowed : .denied(.callHasNoVideo)
            if snapshot.isVideoAddPending {
                self[.acceptVideo] = .allowed
                self[.denyVideo] = .allowed
            }
        case .initiating, .remoteAlerting, .failed, .ending, .ended:
            break
        }
    }

    private mutating func allowVideoModes(_ snapshot: CallSnapshot) {
        for mode in VideoMode.allCases { self[mode] = .allowed }
    }
}

extension CallNews {
    /// The news that tells a delegate of an event; nil where only the status changed.
    init?(_ event: CallEvent, _ snapshot: CallSnapshot) {
        switch event {
        case .started: self = .didStart
        case .remoteAlerting(let hasEarlyMedia): self = .didBeginRemoteAlerting(hasEarlyMedia: hasEarlyMedia)
        case .queued: self = .didQueue
        case .redirected: self = .didRedirect
        case .established: self = .didEstablish
        case .held: self = .didHold
        case .unheld: self = .didUnhold
        case .heldRemotely: self = .didHoldRemotely
        case .unheldRemotely: self = .didUnholdRemotely
        case .channelsUpdated: self = .didUpdateVideoChannels(snapshot.channels.map { VideoChannel($0) })
        case .videoAddRequested(let direction): self = .didReceiveVideoAddRequest(direction)
        case .videoAddAccepted(let direction): self = .didAcceptVideoAddRequest(direction)
        case .videoAddDenied: self = .didDenyVideoAddRequest
        case .videoAddTimedOut: self = .didTimeoutVideoAddRequest
        case .videoAddWithdrawn: self = .didWithdrawVideoAddRequest
        case .allowedVideoDirectionChanged: self = .didChangeAllowedVideoDirection(snapshot.allowedVideoDirection)
        case .remoteAddressChanged:
            self = .didChangeRemoteAddress(snapshot.remoteAddress, displayName: snapshot.remoteDisplayName)
        case .audioMuted(let isMuted): self = .didMuteAudio(isMuted)
        case .digit(let key):
            guard let tone = DTMFTone(key) else { return nil }
            self = .didReceiveDTMF(tone)
        case .ignored: self = .didIgnore
        case .denied: self = .didDeny
        case .transferRequested(let address): self = .didReceiveTransferRequest(to: address)
        case .transferProgressed(let status, let isFinal):
            self = .didProgressTransfer(TransferProgress(sipStatus: status, isFinal: isFinal))
        case .mediaFlowChanged(let isVideo, let flows):
            let channel = isVideo ? snapshot.channels.first.map { VideoChannel.ID(value: $0.handle.number) } : nil
            self = .didChangeMediaFlow(MediaFlow(medium: isVideo ? .video : .audio, channel: channel, isFlowing: flows))
        case .signalingLost: self = .didLoseSignaling
        case .signalingRecovered: self = .didRecoverSignaling
        case .failed(let failure): self = .didFail(CallError(failure))
        case .ended(let ending): self = .didEnd(CallEndReason(ending))
        case .mediaSecured, .mediaSecurityFailed, .changed: return nil
        }
    }
}
