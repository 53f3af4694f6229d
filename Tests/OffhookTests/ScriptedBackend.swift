import Dispatch
import Offhook
import OffhookBasics

/// A backend that does what a test says, and writes down what it is asked to do.
final class ScriptedBackend: CallBackend {
    typealias Answer = @Sendable (ScriptedBackend, Call.ID) async throws(CallError) -> Void

    let front: ClientFront
    private let script = Lock<[String: Answer]>([:])
    private let log = Lock<[String]>([])
    private let media = Lock<[User.ID: MediaServices]>([:])
    private let figures = Lock<CallStatistics?>(nil)

    init(front: ClientFront) {
        self.front = front
    }

    /// A client on a scripted backend.
    static func client(callbackQueue: DispatchQueue) -> (Client, ScriptedBackend) {
        let holder = Lock<ScriptedBackend?>(nil)
        let client = Client(callbackQueue: callbackQueue) { front in
            let backend = ScriptedBackend(front: front)
            holder.withLock { $0 = backend }
            return backend
        }
        guard let backend = holder.withLock({ $0 }) else { fatalError("the client makes its backend in its init") }
        return (client, backend)
    }

    /// What was asked, in order.
    var commands: [String] { log.withLock { $0 } }

    /// What to do when a command is asked.
    func on(_ command: String, _ answer: @escaping Answer) {
        script.withLock { $0[command] = answer }
    }

    func set(_ statistics: CallStatistics?) {
        figures.withLock { $0 = statistics }
    }

    /// An incoming call with everything allowed.
    @discardableResult
    func receiveCall(
        for user: User, video: IncomingVideoStatus = .off, update: (inout CallStatus) -> Void = { _ in }
    ) -> Call.ID? {
        var status = CallStatus()
        status.state = .alerting
        status.remoteAddress = "sip:bob@example.org"
        status.incomingVideoStatus = video
        status.capabilities = .everything
        update(&status)
        return front.addIncomingCall(to: user.id, status: status)
    }

    private func note(_ command: String, _ argument: String = "") {
        log.withLock { $0.append(argument.isEmpty ? command : "\(command) \(argument)") }
    }

    private func perform(_ command: String, _ argument: String, _ call: Call.ID) async -> CommandOutcome {
        note(command, argument)
        guard let answer = script.withLock({ $0[command] }) else { return .success(()) }
        do throws(CallError) { try await answer(self, call) } catch { return .failure(error) }
        return .success(())
    }

    func addUser(_ user: User.ID, configuration: UserConfiguration, media: MediaServices) throws(CallError) {
        guard configuration.address.hasPrefix("sip:") else {
            throw CallError(.invalidArgument, "“\(configuration.address)” is no SIP address")
        }
        self.media.withLock { $0[user] = media }
    }

    func startUser(_ user: User.ID) async -> CommandOutcome {
        note("startUser")
        return .success(())
    }
    func stopUser(_ user: User.ID) async { note("stopUser") }
    func shutdown() async { note("shutdown") }

    func addCall(
        _ call: Call.ID, of user: User.ID, to address: String, options: CallOptions
    ) throws(CallError) -> CallStatus {
        var status = CallStatus()
        status.remoteAddress = address
        status.capabilities = .everything
        return status
    }

    func start(_ call: Call.ID) async -> CommandOutcome { await perform("start", "", call) }
    func accept(_ call: Call.ID) async -> CommandOutcome { await perform("accept", "", call) }
    func ignore(_ call: Call.ID) async -> CommandOutcome { await perform("ignore", "", call) }
    func deny(_ call: Call.ID, reason: Call.DenyReason) async -> CommandOutcome {
        await perform("deny", reason.rawValue, call)
    }
    func redirect(_ call: Call.ID, to address: String) async -> CommandOutcome {
        await perform("redirect", address, call)
    }
    func end(_ call: Call.ID) {
        note("end")
        front.apply(.didEnd(.ended(by: .local)), to: call)
    }
    func hold(_ call: Call.ID) async -> CommandOutcome { await perform("hold", "", call) }
    func unhold(_ call: Call.ID) async -> CommandOutcome { await perform("unhold", "", call) }
    func muteAudio(_ call: Call.ID, _ isMuted: Bool) async -> CommandOutcome {
        await perform("muteAudio", "\(isMuted)", call)
    }
    func silenceSpeaker(_ call: Call.ID, _ isSilenced: Bool) async -> CommandOutcome {
        await perform("silenceSpeaker", "\(isSilenced)", call)
    }
    func sendDTMF(_ call: Call.ID, _ tones: [DTMFTone]) async -> CommandOutcome {
        await perform("sendDTMF", tones.map(\.description).joined(), call)
    }
    func setVideoMode(_ call: Call.ID, _ mode: VideoMode) async -> CommandOutcome {
        await perform("setVideoMode", mode.rawValue, call)
    }
    func setPresentation(_ call: Call.ID, _ isPresenting: Bool) async -> CommandOutcome {
        await perform("setPresentation", "\(isPresenting)", call)
    }
    func acceptVideo(_ call: Call.ID, _ mode: VideoMode) async -> CommandOutcome {
        await perform("acceptVideo", mode.rawValue, call)
    }
    func denyVideo(_ call: Call.ID) async -> CommandOutcome { await perform("denyVideo", "", call) }
    func transfer(_ call: Call.ID, to address: String) async -> CommandOutcome {
        await perform("transfer", address, call)
    }
    func transfer(_ call: Call.ID, to other: Call.ID) async -> CommandOutcome {
        await perform("transferToCall", "", call)
    }
    func join(_ call: Call.ID, _ other: Call.ID) async -> CommandOutcome { await perform("join", "", call) }
    func sendKeyFrameRequest(_ call: Call.ID) async -> CommandOutcome {
        await perform("sendKeyFrameRequest", "", call)
    }
    func statistics(of call: Call.ID) async -> CallStatistics? { figures.withLock { $0 } }
}

extension CallCapabilities {
    /// Allows every command.
    static var everything: CallCapabilities {
        var capabilities = CallCapabilities()
        for name in Name.all { capabilities[name] = .allowed }
        return capabilities
    }
}

/// Waits until the news queued so far has been told.
func settle(_ queue: DispatchQueue) async {
    // Each piece of news takes one turn of the queue and then queues the next, so one barrier a piece; 64 are plenty.
    for _ in 0..<64 {
        await withCheckedContinuation { continuation in queue.async(flags: .barrier) { continuation.resume() } }
    }
}
