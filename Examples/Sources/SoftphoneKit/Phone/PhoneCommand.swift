import Offhook

/// `offhook phone`
@MainActor final class PhoneCommand {
    static func run(_ options: Options) async throws -> ExitStatus {
        let interruption = Interruption.shared
        let station = try Station(options: options)
        let raw = RawTerminal()
        defer { raw.restore() }
        let phone = PhoneCommand(station)
        if let status = try await RegistrationStep.start(station, mayMove: true) { return status }
        station.terminal.say(
            "Ready as \(station.user.configuration.address)\(phone.places). Press ? for help, q to quit.")
        let keys = Keyboard.keys()
        interruption.onInterrupt { phone.finish() }
        let (pressed, press) = AsyncStream<Character>.makeStream()
        station.screen?.onClose = { phone.finish() }
        station.screen?.onKey = { press.yield($0) }
        let typing = Task {
            for await key in keys { press.yield(key) }
            // A phone with a window needs no terminal.
            if station.screen?.hasKeys != true { press.finish() }
        }
        phone.reading = Task {
            for await key in pressed { await phone.press(key) }
            phone.finish()
        }
        await withCheckedContinuation { phone.done = $0 }
        phone.reading?.cancel()
        typing.cancel()
        station.terminal.endLine()
        await station.stop()
        return interruption.hasCome ? .interrupted : station.hasFileTrouble ? .deviceFailed : .success
    }

    private let station: Station
    private var reading: Task<Void, Never>?
    private var done: CheckedContinuation<Void, Never>?
    private var chosen: Call.ID?
    /// What is being typed, and what it is for; nil while keys are commands.
    private var prompt: (question: String, text: String, then: (String) async -> Void)?
    private var cameraBeforeScreen = CameraChoice.pattern(nil)
    private var videoQuestion: CheckedContinuation<VideoMode?, Never>?

    private init(_ station: Station) {
        self.station = station
        station.onIncomingCall = { [unowned self] call in take(call) }
        station.showsFigures = { [unowned self] call in session?.call === call }
        station.askAboutVideo = { [unowned self] _, direction in
            station.terminal.say("The far end wants video (\(direction)). y: both ways, r: receive only, d: deny.")
            return await withCheckedContinuation { videoQuestion = $0 }
        }
    }

    private var places: String {
        let endpoints = station.user.listeningEndpoints.map { "\($0.key) \($0.value)" }.sorted()
        return endpoints.isEmpty ? "" : ", listening at \(endpoints.joined(separator: ", "))"
    }

    private func finish() {
        answerVideoQuestion(nil)
        done?.resume()
        done = nil
    }

    // MARK: Calls

    private func take(_ call: Call) -> CallSession? {
        do {
            let session = try CallSession(call: call, station: station)
            if self.session == nil { chosen = call.id }
            station.terminal.say("Press a to answer, v to answer with video, d to deny, i to stop the ringing.")
            return session
        } catch {
            station.note(fileTrouble: "\(error)")
            return nil
        }
    }

    /// The chosen call, or the newest where that is over.
    private var session: CallSession? {
        chosen.flatMap { station.sessions[$0] } ?? sessions.last
    }

    private var sessions: [CallSession] {
        station.user.callService.calls.compactMap { station.sessions[$0.id] }
    }

    private func place(_ address: String, mode: VideoMode?) async {
        guard !address.isEmpty else { return }
        await holdOthers(than: nil)
        do {
            let target = try CallTarget.address(address, options: station.options)
            let call = try station.user.callService.createCall(to: target)
            let session = try CallSession(call: call, station: station)
            station.add(session)
            chosen = call.id
            session.place(mode)
        } catch {
            station.terminal.say("\(error)")
        }
    }

    // MARK: Keys

    private func press(_ key: Character) async {
        if prompt != nil { return await type(key) }
        if videoQuestion != nil,
            let mode = [("y", VideoMode.sendReceive), ("r", .receiveOnly), ("d", .disabled)]
                .first(where: { $0.0 == String(key) })?.1
        {
            return answerVideoQuestion(mode)
        }
        let isRinging = session.map { [.alerting, .ignored].contains($0.call.state) } ?? false
        guard let meaning = PhoneKey(key, isRinging: isRinging) else { return }
        switch meaning {
        case .call: ask("Call: ") { [self] in await place($0, mode: nil) }
        case .callWithVideo: ask("Call with video: ") { [self] in await place($0, mode: .sendReceive) }
        case .help: station.terminal.say(PhoneKey.helpText)
        case .quit: finish()
        case .list: list()
        case .camera: await changeCamera()
        case .shareScreen: await shareScreen()
        case .next: await chooseNext()
        case .fullScreen: station.screen?.toggleFullScreen()
        case .snapshot: takeSnapshot()
        case .answer, .answerWithVideo, .deny, .ignore, .end, .hold, .mute, .video, .transfer, .redirect,
            .transferToOther, .join, .tone:
            guard let session else {
                station.terminal.say("There is no call. Press c to make one.")
                return
            }
            // Not waited for: the far end may take its time, and more keys may come.
            Task { await perform(meaning, on: session) }
        }
    }

    private func perform(_ key: PhoneKey, on session: CallSession) async {
        let call = session.call
        switch key {
        case .answer:
            await holdOthers(than: session)
            await session.accept(call.incomingVideoStatus == .supported ? .disabled : nil)
        case .answerWithVideo:
            await holdOthers(than: session)
            await session.accept(station.camera.hasPictures ? .sendReceive : .receiveOnly)
        case .deny: await session.perform(.deny(.declined))
        case .ignore: await session.perform(.ignore)
        case .end: call.end()
        case .hold: await session.perform(call.isHeld ? .unhold : .hold)
        case .mute: await session.perform(call.isAudioMuted ? .unmute : .mute)
        case .video: await session.perform(.video(call.isVideoActive ? .disabled : .sendReceive))
        case .transfer: ask("Transfer to: ") { address in await session.perform(.transfer(address)) }
        case .redirect: ask("Send the caller to: ") { address in await session.perform(.redirect(address)) }
        case .transferToOther: await transferToOther(from: session)
        case .join: await join(with: session)
        case .tone(let key):
            station.terminal.say("Key \(key).")
            await session.perform(.dtmf(String(key)))
        case .call, .callWithVideo, .camera, .next, .list, .help, .quit, .fullScreen, .snapshot,
            .shareScreen:
            break
        }
    }

    /// One conversation at a time: the other calls wait.
    private func holdOthers(than session: CallSession?) async {
        for other in sessions where other !== session && other.call.capabilities[.hold].isAllowed && !other.call.isHeld
        {
            await other.perform(.hold)
        }
    }

    private func join(with session: CallSession) async {
        guard let other = sessions.last(where: { $0 !== session }) else {
            station.terminal.say("There is no other call.")
            return
        }
        do {
            for each in [session, other] where each.call.isHeld { try await each.call.unhold() }
            try await session.call.join(other.call)
            station.terminal.say("Joined with \(other.call.remoteDisplayName ?? other.call.remoteAddress).")
        } catch {
            station.terminal.say("\(error)")
        }
    }

    private func transferToOther(from session: CallSession) async {
        guard let other = sessions.last(where: { $0 !== session }) else {
            station.terminal.say("There is no other call.")
            return
        }
        do { try await session.call.transfer(to: other.call) } catch { station.terminal.say("\(error)") }
    }

    private func changeCamera() async {
        let next: CameraChoice =
            switch station.camera.choice {
            case .v4l2(.position(.front), let format): .v4l2(.position(.back), format)
            case .v4l2: .pattern(nil)
            case .pattern, .none, .file, .screen:
                V4L2Capturer.availableCameras().isEmpty ? .pattern(nil) : .v4l2(.position(.front), nil)
            }
        await useCamera(next)
    }

    private func shareScreen() async {
        if station.camera.isScreen { return await useCamera(cameraBeforeScreen) }
        cameraBeforeScreen = station.camera.choice
        await useCamera(.screen(nil))
    }

    private func useCamera(_ choice: CameraChoice) async {
        do {
            try await station.changeCamera(to: choice)
            station.terminal.say("Camera: \(choice.words).")
        } catch {
            station.terminal.say("\(error)")
        }
    }

    private func takeSnapshot() {
        do {
            let path = try station.screen?.takeSnapshot()
            station.terminal.say(path.map { "The picture is in \($0)." } ?? "There is no picture in a window.")
        } catch {
            station.terminal.say("\(error)")
        }
    }

    private func chooseNext() async {
        let all = sessions
        guard !all.isEmpty else { return list() }
        let index = all.firstIndex { $0 === session } ?? -1
        let next = all[(index + 1) % all.count]
        chosen = next.call.id
        await holdOthers(than: next)
        if next.call.isHeld { await next.perform(.unhold) }
        list()
    }

    private func list() {
        let lines = sessions.map { session in
            let call = session.call
            return
                "\(session === self.session ? "> " : "  ")\(call.remoteDisplayName ?? call.remoteAddress), \(call.state)"
                + (call.isAudioMuted ? ", muted" : "") + (call.isVideoActive ? ", video" : "")
        }
        station.terminal.say(lines.isEmpty ? "There is no call." : lines.joined(separator: "\n"))
    }

    private func answerVideoQuestion(_ mode: VideoMode?) {
        videoQuestion?.resume(returning: mode)
        videoQuestion = nil
    }

    // MARK: Typing

    private func ask(_ question: String, then: @escaping (String) async -> Void) {
        prompt = (question, "", then)
        station.terminal.holdLine(question)
        station.screen?.setPrompt(question)
    }

    private func type(_ key: Character) async {
        guard var current = prompt else { return }
        switch key {
        case "\n", "\r", "\r\n":
            endPrompt()
            await current.then(current.text.split(separator: " ").joined())
            return
        case "\u{1B}": return endPrompt()
        case "\u{7F}", "\u{8}": current.text = String(current.text.dropLast())
        default: current.text.append(key)
        }
        prompt = current
        station.terminal.holdLine(current.question + current.text)
        station.screen?.setPrompt(current.question + current.text)
    }

    private func endPrompt() {
        prompt = nil
        station.terminal.releaseLine()
        station.screen?.setPrompt(nil)
    }
}

extension CameraChoice {
    /// For people.
    fileprivate var words: String {
        switch self {
        case .none: "none"
        case .pattern: "the test picture"
        case .screen: "the screen"
        case .v4l2(.position(let position), _): "\(position)"
        case .v4l2(.named(let name), _): name
        case .file(let path): path
        }
    }
}
