package import OffhookBasics
package import OffhookMedia
package import OffhookRTP
package import OffhookSIP

/// What an app asks of a call.
package enum CallCommand: Sendable {
    case start
    case accept
    case ignore
    case deny(isBusy: Bool)
    case redirect(to: NameAddress)
    case hold
    case unhold
    case setVideoMode(VideoMode)
    case setPresentation(Bool)
    case acceptVideo(VideoMode)
    case denyVideo
    case sendDigits([TelephoneEvent])
    case muteAudio(Bool)
    case requestKeyFrame
    case restartICE
    case transfer(to: NameAddress)
    case transferTo(CallHandle)
    /// Lets the far ends of both calls hear each other.
    case join(CallHandle)
}

extension CallEngine {
    /// Takes an outgoing call that is not started yet.
    package mutating func addCall(
        _ handle: CallHandle, of account: AccountHandle, to uri: URI, delaysOffer: Bool, headers: SIPHeaders,
        at now: Instant
    ) -> CallSnapshot? {
        core.now = now
        guard let account = accounts[account] else { return nil }
        let call = CallMachine(
            outgoingTo: uri, handle: handle, account: account, delaysOffer: delaysOffer, headers: headers, core: &core)
        calls[handle] = call
        return call.snapshot
    }

    /// Carries out a command; `.finished` with its token tells how it went.
    package mutating func perform(_ command: CallCommand, on handle: CallHandle, token: CommandToken, at now: Instant) {
        core.now = now
        guard let call = calls[handle] else {
            core.output(.finished(token, CallFailure(.notAllowed, "The call is over.")))
            return
        }
        if case .transferTo(let other) = command {
            call.transfer(to: calls[other], token: token, core: &core)
        } else if case .join(let other) = command {
            call.join(calls[other], token: token, core: &core)
        } else {
            call.perform(command, token: token, core: &core)
        }
        core.touched.insert(handle)
        settle()
    }

    /// Ends a call in whatever state it is.
    package mutating func end(_ handle: CallHandle, at now: Instant) {
        core.now = now
        calls[handle]?.end(core: &core)
        core.touched.insert(handle)
        settle()
    }

    package func snapshot(of handle: CallHandle) -> CallSnapshot? {
        calls[handle]?.snapshot
    }

    // MARK: Media of the local side

    /// Sends one encoded stretch of sound of `units` RTP clock units; an empty payload only lets time pass.
    package mutating func sendAudio(
        _ payload: [UInt8], payloadType: UInt8, units: Int, captureTime: Instant? = nil, of handle: CallHandle,
        at now: Instant
    ) {
        core.now = now
        guard let call = calls[handle] else { return }
        call.media.sendAudio(
            payload, payloadType: payloadType, units: units, captureTime: captureTime, core: &core)
        core.touched.insert(handle)
        settle()
    }

    package mutating func sendVideo(
        _ frame: [UInt8], isKeyFrame: Bool, captureTime: Instant, of handle: CallHandle, at now: Instant
    ) {
        core.now = now
        guard let call = calls[handle] else { return }
        call.media.sendVideo(frame, isKeyFrame: isKeyFrame, captureTime: captureTime, core: &core)
        core.touched.insert(handle)
        settle()
    }

    /// The decoder lost its way, or somebody wants to see: the far end is asked for a key frame.
    package mutating func requestKeyFrame(of handle: CallHandle, at now: Instant) {
        core.now = now
        guard let call = calls[handle] else { return }
        call.media.requestKeyFrame(core: &core)
        core.touched.insert(handle)
        settle()
    }

    /// What the player of a call should do next; comes out as `.playAudio`.
    package mutating func playAudio(of handle: CallHandle, at now: Instant) {
        core.now = now
        guard let call = calls[handle], let next = call.media.nextAudio(core: &core) else { return }
        core.output(.playAudio(handle, next.playout, next.speed))
        core.touched.insert(handle)
        settle()
    }

    package mutating func figures(of handle: CallHandle, at now: Instant) -> CallFigures? {
        core.now = now
        return calls[handle]?.figures(at: now)
    }
}
