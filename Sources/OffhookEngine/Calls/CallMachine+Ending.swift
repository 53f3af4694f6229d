internal import OffhookBasics
internal import OffhookSIP

/// How calls end and fail.
extension CallMachine {
    func handleEnd(_ end: SessionEnd, core: inout EngineCore) {
        if snapshot.phase == .failed { return }
        if end.cause == .refused, let status = end.response?.status, invitesSecured(after: status, core: &core) {
            return
        }
        let ending =
            intendedEnding
            ?? CallEnding(
                end, phase: snapshot.phase, isOutgoing: isOutgoing, wasAnswered: answeredAt != nil,
                transportFailure: core.transportFailure)
        switch ending.cause {
        case .failed(let failure) where snapshot.phase != .ending:
            fail(failure, core: &core)
        default:
            finish(ending, core: &core)
        }
    }

    /// The call broke: it stays for the app to look at, until the app or the clock ends it.
    func fail(_ failure: CallFailure, core: inout EngineCore) {
        guard snapshot.phase != .failed, !isOver else { return }
        snapshot.lastFailure = failure
        snapshot.phase = .failed
        videoRequest = nil
        snapshot.isVideoAddPending = false
        noAnswerAt = nil
        lingerUntil = core.now + core.configuration.failedCallLinger
        reportTransfer(status: failure.sipStatus ?? 500, core: &core)
        failOpenCommands(failure, core: &core)
        tell(.failed(failure), core: &core)
    }

    func failForPorts(core: inout EngineCore) {
        let failure = CallFailure(.portUnavailable, "No media ports are free: widen the range of media ports.")
        if let session {
            core.userAgent.reject(session, status: 500, at: core.now, actions: &core.actions)
        }
        fail(failure, core: &core)
    }
}

extension CallEnding {
    fileprivate init(
        _ end: SessionEnd, phase: CallPhase, isOutgoing: Bool, wasAnswered: Bool, transportFailure: String?
    ) {
        let reason = end.reasons.first { $0.protocolName.uppercased() == "SIP" }
        let text = reason?.text ?? end.reasons.first?.text
        switch end.cause {
        case .local:
            self.init(wasAnswered ? .endedHere : isOutgoing ? .cancelled : .declined, text: text)
        case .remote:
            self.init(phase == .beingTransferred ? .transferred : .endedThere, text: text)
        case .cancelled:
            let cause: Cause =
                switch reason?.cause {
                case 200: .answeredElsewhere
                case 603, 486: .declinedElsewhere
                default: .cancelled
                }
            self.init(cause, sipStatus: reason?.cause ?? 487, text: text)
        case .refused:
            self.init(refusal: end.response, text: text)
        case .timedOut:
            let failure = CallFailure(.timedOut, "Nobody answered within the time SIP gives a request.", sipStatus: 408)
            self.init(
                phase == .remoteAlerting || !isOutgoing ? .noAnswer : .failed(failure), sipStatus: 408, text: text)
        case .transportFailed:
            let reason =
                transportFailure
                ?? "The far end cannot be reached: nothing listens at its address, or there is no route."
            self.init(.failed(CallFailure(.unreachable, reason, sipStatus: 503)), sipStatus: 503)
        case .unresolved:
            let reason = "The far end's address has no host that can be found: check the name."
            self.init(.failed(CallFailure(.unreachable, reason, sipStatus: 503)), sipStatus: 503)
        case .dialogLost, .sessionExpired:
            self.init(.signalingLost, sipStatus: end.status ?? 408, text: text)
        case .acknowledgementMissing:
            let failure = CallFailure(.timedOut, "The call was answered, but the far end never acknowledged it.")
            self.init(.failed(failure), text: text)
        case .provisionalUnacknowledged:
            let failure = CallFailure(.timedOut, "The far end never acknowledged that we ring.", sipStatus: 504)
            self.init(.failed(failure), sipStatus: 504)
        case .answerMissing:
            let failure = CallFailure(.protocolViolation, "The far end gave no answer to the session description.")
            self.init(.failed(failure), text: text)
        case .replaced:
            self.init(.replaced)
        }
    }

    private init(refusal response: SIPResponse?, text: String?) {
        let status = response?.status ?? 500
        let words = response?.headers[first: "Warning"].map { " (\($0))" } ?? ""
        let told = "\(status) \(response?.reason ?? "")\(words)"
        let cause: Cause =
            switch status {
            case 486, 600: .busy
            case 603, 607, 608: .declined
            case 480, 408, 487: .noAnswer
            case 404, 410, 484, 604:
                .failed(CallFailure(.notFound, "The far end knows no such address: \(told).", sipStatus: status))
            case 401, 403, 407:
                .failed(
                    CallFailure(
                        .authenticationFailed, "The call needs credentials that fit: \(told).", sipStatus: status))
            case 488, 606, 415:
                .failed(
                    CallFailure(.noCommonCodec, "The far end cannot take what we offer: \(told).", sipStatus: status))
            case 503, 502:
                .failed(
                    CallFailure(.unreachable, "The far end or its server is not available: \(told).", sipStatus: status)
                )
            default:
                .failed(CallFailure(.refused, "The far end refused the call: \(told).", sipStatus: status))
            }
        self.init(cause, sipStatus: status, text: text ?? response?.reason)
    }

    /// What a command that was still waiting is told.
    var failure: CallFailure {
        switch cause {
        case .failed(let failure): failure
        case .busy: CallFailure(.busy, "The far end is busy.", sipStatus: sipStatus)
        case .declined, .declinedElsewhere:
            CallFailure(.declined, "The far end declined the call.", sipStatus: sipStatus)
        case .noAnswer: CallFailure(.timedOut, "Nobody answered the call.", sipStatus: sipStatus)
        case .mediaTimeout: CallFailure(.mediaTimeout, "No media came.")
        case .signalingLost: CallFailure(.signalingLost, "The far end does not answer any more.", sipStatus: sipStatus)
        case .endedHere, .endedThere, .cancelled, .answeredElsewhere, .transferred, .replaced:
            CallFailure(.cancelled, "The call ended.", sipStatus: sipStatus)
        }
    }
}
