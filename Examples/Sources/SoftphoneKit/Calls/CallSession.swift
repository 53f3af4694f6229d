import Offhook

/// One call of the program, from its start or arrival to its summary.
@MainActor final class CallSession {
    let call: Call
    let station: Station
    private let outputs: CallOutputs
    private let begin = Instant.now
    private(set) var establishedAt: Instant?
    private var endedAt: Instant?
    private var attempt: Task<Void, Never>?
    /// Whether standard error has a sentence on what went wrong with the call.
    private var hasComplained = false
    private var statistics = CallStatistics()
    private var timers: [Task<Void, any Error>] = []

    init(call: Call, station: Station) throws(FileFailure) {
        self.call = call
        self.station = station
        outputs = try station.makeOutputs()
        if let sound = outputs.sound {
            station.user.mediaServices.audioInterface.setSpeaker(sound, for: call)
        }
        call.delegate = self
        guard let recorder = outputs.recorder else { return }
        Task { await record(to: recorder) }
    }

    // MARK: Beginning

    /// Calls the far end.
    func place() {
        if case .mode(let mode) = station.options.video { place(mode) } else { place(nil) }
    }

    /// Calls the far end with this video mode; nil leaves it unset.
    func place(_ mode: VideoMode?) {
        attempt = Task { await start(mode) }
    }

    private func start(_ mode: VideoMode?) async {
        do throws(CallError) {
            if let mode { try await call.setVideoMode(mode) }
            try await call.setPresentation(station.camera.isScreen)
            try await call.start()
        } catch {
            abandon(error)
        }
    }

    private func record(to recorder: CallRecorder) async {
        do throws(CallError) { try await call.startRecording(to: recorder) } catch {
            report(failure: error, of: "record")
        }
    }

    /// Takes the call, unless the script does something else with it.
    func answer() {
        let steps = station.options.script.steps(forRinging: true)
        guard steps.isEmpty else {
            run(steps, since: .now)
            return
        }
        attempt = Task { await accept(modeForAnswer) }
    }

    /// Takes the call with this video mode; nil leaves it unset.
    func accept(_ mode: VideoMode?) async {
        do throws(CallError) {
            if let mode { try await call.setVideoMode(mode) }
            try await call.setPresentation(station.camera.isScreen)
            try await call.accept()
        } catch {
            abandon(error)
        }
    }

    private var modeForAnswer: VideoMode? {
        switch station.options.video {
        case .off: return call.incomingVideoStatus == .supported ? .disabled : nil
        case .mode(let mode): return mode
        case .automatic:
            switch call.incomingVideoStatus {
            case .supported: return station.camera.hasPictures ? .sendReceive : .receiveOnly
            case .indefinite: return .receiveOnly
            case .off: return nil
            }
        }
    }

    /// The call did not come about. Where the delegate has not been told, the call is still there.
    private func abandon(_ error: CallError) {
        if call.lastError == nil, call.endReason == nil {
            hasComplained = true
            report(failure: error, of: "call")
        }
        call.end()
    }

    // MARK: While it is up

    private func establish() {
        establishedAt = .now
        run(station.options.script.steps(forRinging: false), since: .now)
        if let duration = station.options.duration {
            timers.append(
                Task {
                    try await Task.sleep(for: duration)
                    call.end()
                })
        }
        timers.append(
            Task {
                var number = 0
                while true {
                    try await Task.sleep(for: .seconds(1))
                    number += 1
                    await sample(number)
                }
            })
    }

    private func sample(_ number: Int) async {
        let statistics = await call.statistics()
        guard endedAt == nil else { return }
        station.keep(
            .object([
                "time": JSONValue(seconds: .now - begin), "call": .text(call.id.description),
                "state": .text(call.state.rawValue), "quality": .text("\(statistics.quality)"),
                "audio": .object([
                    "sent": JSONValue(statistics.audio.sent), "received": JSONValue(statistics.audio.received),
                ]),
                "video": .object([
                    "sent": JSONValue(statistics.video.sent), "received": JSONValue(statistics.video.received),
                ]),
            ]))
        guard station.showsFigures(call) else { return }
        // Where nobody watches, a line every five seconds is enough.
        if station.terminal.isInteractive || number % 5 == 0 {
            station.terminal.show(Words.line(for: statistics, of: call))
        }
    }

    /// Gives each command at its time, in order; one that takes long holds no other up.
    private func run(_ steps: [Script.Step], since start: ContinuousClock.Instant) {
        guard !steps.isEmpty else { return }
        timers.append(
            Task {
                for step in steps {
                    try await Task.sleep(until: start + step.after, clock: .continuous)
                    Task { await perform(step.command) }
                }
            })
    }

    /// Gives one command of the script, and tells where it fails.
    func perform(_ command: Script.Command) async {
        do {
            switch command {
            case .hold: try await call.hold()
            case .unhold: try await call.unhold()
            case .mute: try await call.muteAudio(true)
            case .unmute: try await call.muteAudio(false)
            case .restartICE: try await call.restartICE()
            case .end: call.end()
            case .video(let mode): try await call.setVideoMode(mode)
            case .dtmf(let keys): try await call.sendDTMF(keys)
            case .transfer(let address): try await call.transfer(to: address)
            case .transferToCall(let number): try await call.transfer(to: try station.call(number))
            case .join(let number): try await call.join(try station.call(number))
            case .camera(let choice): try await station.changeCamera(to: choice)
            case .microphone(let choice): try await station.sound.change(microphone: choice)
            case .speaker(let choice): try await station.sound.change(speaker: choice)
            case .ignore: try await call.ignore()
            case .accept: await accept(modeForAnswer)
            case .deny(let reason): try await call.deny(reason)
            case .redirect(let address): try await call.redirect(to: address)
            }
        } catch let error as CallError {
            report(failure: error, of: "\(command)")
        } catch {
            station.note(fileTrouble: "\(error)")
        }
    }

    private func report(failure: CallError, of command: String) {
        station.events?.write(
            "commandFailed", call: call.id, ["command": .text(command), "error": JSONValue(failure)])
        if station.options.writesEvents {
            Terminal.complain("\(command): \(failure)")
        } else {
            station.terminal.say("\(command): \(failure)")
        }
    }

    // MARK: Pictures

    private func connect(_ channels: [VideoChannel]) {
        let video = station.user.mediaServices.videoInterface
        for channel in channels {
            let receives = channel.isEnabled && channel.negotiatedDirection.receives
            if receives, let pictures = outputs.pictures as? CallPictures {
                station.screen?.bringToFront(pictures, title: call.remoteDisplayName ?? call.remoteAddress)
            }
            let sends = channel.isEnabled && channel.negotiatedDirection.sends
            video.remoteVideoSource(for: channel.id)?.setVideoSink(receives ? outputs.pictures : nil)
            video.setEncodedVideoSink(receives ? outputs.codedPictures : nil, for: channel.id)
            guard sends, let sink = video.localVideoSink(for: channel.id) else {
                station.camera.remove(channel.id)
                continue
            }
            Task {
                do { try await station.camera.add(sink, for: channel.id) } catch {
                    station.note(fileTrouble: "\(error)")
                }
            }
        }
    }

    // MARK: End

    private func finishMedia() {
        endedAt = .now
        for timer in timers { timer.cancel() }
        let video = station.user.mediaServices.videoInterface
        for channel in call.videoChannels {
            station.camera.remove(channel.id)
            video.remoteVideoSource(for: channel.id)?.setVideoSink(nil)
            video.setEncodedVideoSink(nil, for: channel.id)
        }
        if let pictures = outputs.pictures as? CallPictures { station.screen?.remove(pictures) }
    }

    /// Completes the files and takes the last figures; returns what the call amounted to.
    func finish() async -> ExitStatus {
        await attempt?.value
        if let trouble = outputs.close() { station.note(fileTrouble: trouble) }
        statistics = await call.statistics()
        return .status(
            established: establishedAt != nil,
            reason: call.endReason ?? .failed(CallError(.stopped, "the call was left")))
    }

    /// Writes the summary, the last event of a call.
    func writeSummary() {
        let duration = establishedAt.map { (endedAt ?? .now) - $0 } ?? .zero
        let setup = statistics.setupDuration ?? establishedAt.map { $0 - begin }
        station.events?.write(
            "summary", call: call.id,
            [
                "established": .boolean(establishedAt != nil),
                "duration": JSONValue(seconds: duration),
                "reason": JSONValue(call.endReason?.description),
                "setupMilliseconds": JSONValue(setup.map { ($0.inMilliseconds * 10).rounded() / 10 }),
                "transport": JSONValue(statistics.signalingTransport?.rawValue),
                "audio": JSONValue(summaryOf: statistics.audio),
                "video": JSONValue(summaryOf: statistics.video),
            ])
        station.terminal.endLine()
        if establishedAt != nil { station.terminal.say("The call was up for \(Words.seconds(duration)).") }
    }
}

// MARK: News of the call

extension CallSession: CallDelegate {
    private func tell(_ event: String, _ members: KeyValuePairs<String, JSONValue> = [:], words: String? = nil) {
        station.events?.write(event, call: call.id, members)
        if let words { station.terminal.say(words) }
    }

    func callDidStart(_ call: Call) { tell("callDidStart", words: "Calling \(call.remoteAddress)…") }

    func callDidBeginRemoteAlerting(_ call: Call, withEarlyMedia hasEarlyMedia: Bool) {
        tell("callDidBeginRemoteAlerting", ["earlyMedia": .boolean(hasEarlyMedia)], words: "It rings.")
    }

    func callDidQueue(_ call: Call) { tell("callDidQueue", words: "The call is in a queue.") }

    func callDidRedirect(_ call: Call) { tell("callDidRedirect", words: "The call is being forwarded.") }

    func callDidEstablish(_ call: Call) {
        tell("callDidEstablish", ["secure": .boolean(call.isSecure)], words: "The call is up.")
        establish()
    }

    func call(_ call: Call, didChangeSecurity isSecure: Bool) {
        tell(
            "didChangeSecurity", ["secure": .boolean(isSecure)],
            words: isSecure ? nil : "The call is no longer encrypted.")
    }

    func callDidHold(_ call: Call) { tell("callDidHold", words: "On hold.") }

    func callDidUnhold(_ call: Call) { tell("callDidUnhold", words: "No longer on hold.") }

    func callDidHoldRemotely(_ call: Call) { tell("callDidHoldRemotely", words: "The far end put us on hold.") }

    func callDidUnholdRemotely(_ call: Call) { tell("callDidUnholdRemotely", words: "The far end is back.") }

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        let words = videoChannels.map { $0.isEnabled ? "\($0.negotiatedDirection)" : "off" }.joined(separator: ", ")
        tell(
            "didUpdateVideoChannels", ["videoChannels": JSONValue(videoChannels)],
            words: words.isEmpty ? nil : "Video: \(words).")
        connect(videoChannels)
    }

    func call(_ call: Call, didReceiveVideoAddRequest direction: MediaDirection) {
        tell(
            "didReceiveVideoAddRequest", ["direction": .text(direction.rawValue)],
            words: "The far end wants to add video (\(direction)).")
        Task { await answerVideoRequest(direction) }
    }

    private func answerVideoRequest(_ direction: MediaDirection) async {
        do throws(CallError) {
            switch station.options.addVideo {
            case .accept(let mode): try await call.acceptVideo(mode)
            case .deny: try await call.denyVideo()
            case .ask:
                guard let mode = await station.askAboutVideo(call, direction) else { break }
                if mode == .disabled { try await call.denyVideo() } else { try await call.acceptVideo(mode) }
            case .ignore: break
            }
        } catch {
            report(failure: error, of: "video request")
        }
    }

    func call(_ call: Call, didAcceptVideoAddRequest direction: MediaDirection) {
        tell("didAcceptVideoAddRequest", ["direction": .text(direction.rawValue)], words: "Video was accepted.")
    }

    func callDidDenyVideoAddRequest(_ call: Call) { tell("callDidDenyVideoAddRequest", words: "Video was denied.") }

    func callDidTimeoutVideoAddRequest(_ call: Call) {
        tell("callDidTimeoutVideoAddRequest", words: "The request for video ran out.")
    }

    func callDidWithdrawVideoAddRequest(_ call: Call) {
        tell("callDidWithdrawVideoAddRequest", words: "The far end took its request for video back.")
    }

    func call(_ call: Call, didChangeAllowedVideoDirection direction: MediaDirection) {
        tell("didChangeAllowedVideoDirection", ["direction": .text(direction.rawValue)])
    }

    func call(_ call: Call, didChangeRemoteAddress address: String, displayName: String?) {
        tell(
            "didChangeRemoteAddress", ["address": .text(address), "displayName": JSONValue(displayName)],
            words: "The far end is \(displayName ?? address) now.")
    }

    func call(_ call: Call, didChangeCapabilities names: Set<CallCapabilities.Name>) {
        tell("didChangeCapabilities", ["names": .list(names.map(\.rawValue).sorted().map { .text($0) })])
    }

    func call(_ call: Call, didMuteAudio isMuted: Bool) {
        tell("didMuteAudio", ["muted": .boolean(isMuted)], words: isMuted ? "Muted." : "No longer muted.")
    }

    func call(_ call: Call, didReceiveDTMF tone: DTMFTone) {
        tell("didReceiveDTMF", ["tone": .text(tone.description)], words: "The far end pressed \(tone).")
    }

    func callDidIgnore(_ call: Call) { tell("callDidIgnore", words: "The call is ignored.") }

    func callDidDeny(_ call: Call) { tell("callDidDeny", words: "The call was denied.") }

    func call(_ call: Call, didReceiveTransferRequestTo address: String) {
        tell("didReceiveTransferRequestTo", ["to": .text(address)], words: "The far end sends us to \(address).")
    }

    func call(_ call: Call, didProgressTransfer progress: TransferProgress) {
        tell(
            "didProgressTransfer",
            ["sipStatus": JSONValue(progress.sipStatus), "final": .boolean(progress.isFinal)],
            words: "Transfer: \(progress.sipStatus).")
    }

    func call(_ call: Call, didChangeMediaFlow flow: MediaFlow) {
        tell(
            "didChangeMediaFlow",
            [
                "medium": .text(flow.medium.rawValue), "channel": JSONValue(flow.channel?.description),
                "flowing": .boolean(flow.isFlowing),
            ],
            words: flow.isFlowing ? "\(flow.medium) flows again." : "\(flow.medium) has stopped coming.")
    }

    func callDidLoseSignaling(_ call: Call) { tell("callDidLoseSignaling", words: "The way to the far end is lost.") }

    func callDidRecoverSignaling(_ call: Call) { tell("callDidRecoverSignaling", words: "The way is back.") }

    func call(_ call: Call, didFailWithError error: CallError) {
        tell("didFailWithError", ["error": JSONValue(error)])
        hasComplained = true
        Terminal.complain("\(error)")
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        finishMedia()
        station.terminal.endLine()
        tell(
            "callDidEnd",
            [
                "reason": .text(reason.description), "sipCode": JSONValue(reason.sipCode),
                "text": JSONValue(reason.text),
            ], words: "The call is over: \(Words.end(reason)).")
        // In words it is told already.
        guard station.options.writesEvents, !hasComplained, !Interruption.shared.hasCome,
            .status(established: establishedAt != nil, reason: reason) != ExitStatus.success
        else { return }
        Terminal.complain("The call failed: \(Words.end(reason)).")
    }
}
