import Foundation
import Offhook

/// One account on one client, with its camera, microphone and files: what `call` and `answer` share.
@MainActor final class Station: CallServiceDelegate, UserDelegate {
    let options: Options
    let events: EventWriter?
    let terminal: Terminal
    let camera: CameraFeed
    /// Where a person sees pictures; nil where they go to files, or nowhere.
    let screen: PictureScreen?
    private(set) var user: User
    /// What the delegate was told last.
    private lazy var toldRegistration = user.registration.state
    /// Whether calls can be made, by what the delegate was told.
    private var isAvailable = false
    private var client: Client
    let sound: Sound
    private let statisticsFile: LineFile?
    private let traceFile: TraceFile?
    /// The first call's files are made at once, so that a wrong name is told before anybody is called.
    private var firstOutputs: CallOutputs?
    private var callCount = 0

    /// The sessions that are not over.
    private(set) var sessions: [Call.ID: CallSession] = [:]
    /// What each call that is over amounted to.
    private(set) var outcomes: [ExitStatus] = []
    private var finishing = 0
    /// Whether a call that is over is still being summed up.
    var isFinishing: Bool { finishing > 0 }
    /// Makes a session of an incoming call; nil refuses it as busy.
    var onIncomingCall: (Call) -> CallSession? = { _ in nil }
    /// The sessions that are over and whose summary is not written: the last ones' is the last line of all.
    private var finished: [CallSession] = []

    /// Writes the summaries that are due. Where there was no call, one that says so.
    func writeSummaries(ofCallsAlone: Bool = false) {
        for session in finished { session.writeSummary() }
        if finished.isEmpty, !ofCallsAlone, let events, events.lastEvent != "summary" {
            events.write("summary", ["established": false, "duration": .integer(0)])
        }
        finished = []
    }

    /// Asks a person whether video may be added: `disabled` denies it, nil lets the request run out.
    var askAboutVideo: (Call, MediaDirection) async -> VideoMode? = { _, _ in nil }
    /// Whether a call's figures are what the live line shows.
    var showsFigures: (Call) -> Bool = { _ in true }
    /// Called when a call is over.
    var onSessionEnd: () -> Void = {}

    init(options: Options) throws {
        self.options = options
        try TrustFiles.check(options)
        events = options.writesEvents ? EventWriter() : nil
        terminal = Terminal(isSilent: options.writesEvents)
        camera = try CameraFeed(choice: options.camera)
        screen = try PictureScreen(options.display)
        sound = try Sound(options: options)
        firstOutputs = try CallOutputs(
            display: options.display, speaker: options.speaker, screen: screen,
            record: options.record, number: 1)
        statisticsFile = try options.statisticsFile.map { try LineFile(path: $0) }
        traceFile = try options.traceFile.map { try TraceFile(path: $0) }
        (client, user) = try Self.makeUser(options, port: options.port ?? 5060, trace: traceFile)
        prepareUser()
        camera.setPreview(screen?.selfViewSink) { [screen] in screen?.clearSelfView() }
        let tell = { [events, terminal] (words: String, event: String, members: KeyValuePairs<String, JSONValue>) in
            events?.write(event, members)
            if !words.isEmpty { terminal.say(words) }
        }
        sound.tell = tell
        camera.tell = tell
        if terminal.isInteractive {
            askAboutVideo = { [terminal] _, _ in
                terminal.say("Type y to send and receive, r to receive only, n for neither, and Enter.")
                switch await Keyboard.line() {
                case "y": return .sendReceive
                case "r": return .receiveOnly
                case "n": return .disabled
                default: return nil
                }
            }
        }
    }

    private static func makeUser(_ options: Options, port: UInt16, trace: TraceFile?) throws -> (Client, User) {
        var configuration = ClientConfiguration(options)
        configuration.port = port
        // Nothing else tells that a relay cannot be used: the call goes on without it.
        if !options.relayServers.isEmpty {
            let complaints = Complaints()
            configuration.logHandler = { complaints.note($0) }
        }
        if let trace { configuration.traceHandler = { trace.write($0) } }
        let client = Client(configuration: configuration)
        let settings = UserConfiguration(options, password: try Password.read(options))
        return (client, try client.createUser(settings))
    }

    private func prepareUser() {
        user.delegate = self
        user.callService.delegate = self
        sound.connect(to: user.mediaServices.audioInterface)
    }

    /// Listens and, where asked, registers.
    ///
    /// - Parameter mayMove: takes any free port where the usual one is taken, as one who only calls can.
    func start(mayMove: Bool) async throws {
        try await sound.checkNames()
        guard let trouble = try await portTrouble() else { return }
        guard mayMove, options.port == nil else {
            throw CallError(.portUnavailable, "\(trouble.reason) --bind says where to listen, as in --bind :5070.")
        }
        Terminal.complain("port 5060 is taken, so a free one is used; choose with --bind ADDRESS:PORT")
        await client.shutdown()
        (client, user) = try Self.makeUser(options, port: 0, trace: traceFile)
        prepareUser()
        try await user.start()
    }

    /// Starts the account; returns the error where the port is taken, and throws any other.
    private func portTrouble() async throws(CallError) -> CallError? {
        do throws(CallError) {
            try await user.start()
            return nil
        } catch {
            guard error.code == .portUnavailable else { throw error }
            return error
        }
    }

    /// Ends all calls, takes the registration back, frees the ports, and completes the files.
    func stop() async {
        for session in sessions.values { session.call.end() }
        await client.shutdown()
        await newsOfTheEnd()
        sound.close()
        camera.close()
        screen?.close()
        statisticsFile?.close()
        traceFile?.close()
        for trouble in [statisticsFile?.error, traceFile?.error] {
            if let trouble { note(fileTrouble: trouble) }
        }
    }

    /// Whether writing a file failed.
    private(set) var hasFileTrouble = false

    /// Takes another camera, in the middle of calls too, whose far ends are told whether it is a screen.
    func changeCamera(to choice: CameraChoice) async throws {
        try await camera.change(to: choice)
        for session in sessions.values { try await session.call.setPresentation(camera.isScreen) }
    }

    /// Files for one more call.
    func makeOutputs() throws(FileFailure) -> CallOutputs {
        callCount += 1
        defer { firstOutputs = nil }
        if let firstOutputs { return firstOutputs }
        return try CallOutputs(
            display: options.display, speaker: options.speaker, screen: screen,
            record: options.record, number: callCount)
    }

    func add(_ session: CallSession) {
        sessions[session.call.id] = session
        all.append(session.call)
    }

    /// The calls that there were, in order.
    private var all: [Call] = []

    /// One of the calls that there were, from 1 on.
    func call(_ number: Int) throws(CallError) -> Call {
        guard number <= all.count else {
            throw CallError(.invalidArgument, "There is no call \(number): so far there were \(all.count).")
        }
        return all[number - 1]
    }

    func keep(_ sample: JSONValue) {
        statisticsFile?.write(sample.line)
    }

    func note(fileTrouble: String) {
        hasFileTrouble = true
        Terminal.complain(fileTrouble)
    }

    // MARK: News of the account

    /// Waits until the delegate has heard what the registration came to, and that no calls can be made any more: news come by
    /// the main queue, one a turn, and may be on their way still when all else is over.
    private func newsOfTheEnd() async {
        for _ in 0..<200 where toldRegistration != user.registration.state || isAvailable {
            await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
        }
    }

    func user(_ user: User, didChangeRegistration registration: Registration) {
        toldRegistration = registration.state
        events?.write(
            "registration",
            [
                "state": .text(registration.state.rawValue),
                "retryAfter": JSONValue(seconds: registration.retryAfter),
                "error": registration.error.map { JSONValue($0) } ?? .null,
            ])
        if registration.state == .registered {
            terminal.say("Registered as \(user.configuration.address).")
        } else if let error = registration.error {
            terminal.say("Registration: \(error)")
        }
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        events?.write(
            "didReceiveIncomingCall", call: call.id,
            [
                "incomingVideoStatus": .text(call.incomingVideoStatus.rawValue),
                "from": .text(call.remoteAddress),
                "displayName": JSONValue(call.remoteDisplayName),
            ])
        let caller = call.remoteDisplayName ?? call.remoteAddress
        if let replaced = call.replacedCall, sessions[replaced] != nil {
            // Accepted by the library already.
            terminal.say("\(caller) takes over the call.")
            do { add(try CallSession(call: call, station: self)) } catch { note(fileTrouble: "\(error)") }
            return
        }
        terminal.say("\(caller) calls; video: \(call.incomingVideoStatus).")
        guard let session = onIncomingCall(call) else {
            Task { try await call.deny(.busy) }
            return
        }
        add(session)
    }

    func callService(_ callService: CallService, didCreate call: Call) {
        events?.write("didCreate", call: call.id, ["to": .text(call.remoteAddress)])
        // A call that the library makes by itself, as the far end of another has asked for.
        guard sessions[call.id] == nil else { return }
        do throws(FileFailure) {
            add(try CallSession(call: call, station: self))
        } catch {
            note(fileTrouble: "\(error)")
            call.end()
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {
        events?.write("didRemove", call: call.id)
        guard let session = sessions.removeValue(forKey: call.id) else { return }
        finishing += 1
        Task {
            outcomes.append(await session.finish())
            finishing -= 1
            finished.append(session)
            onSessionEnd()
        }
    }

    func callService(_ callService: CallService, didChangeActiveCall call: Call?) {
        events?.write("didChangeActiveCall", call: call?.id)
    }

    func callServiceDidBecomeAvailable(_ callService: CallService) {
        isAvailable = true
        events?.write("callServiceDidBecomeAvailable")
    }

    func callServiceDidBecomeUnavailable(_ callService: CallService) {
        isAvailable = false
        events?.write("callServiceDidBecomeUnavailable")
    }
}
