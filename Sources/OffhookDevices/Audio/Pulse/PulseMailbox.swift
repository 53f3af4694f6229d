internal import OffhookBasics

/// What the sound server tells those who asked to hear.
enum SoundNews: Hashable, Sendable {
    case devicesChanged(AudioDevices)
    case lost(SoundError)
    case connected
}

/// What other threads leave for the connection's thread, and what that thread leaves for them.
final class PulseMailbox: Sendable {
    typealias Query = @Sendable (Result<AudioDevices, SoundError>) -> Void

    struct MuteCommand: Sendable {
        var device: String
        var kind: AudioDevice.Kind
        var isMuted: Bool
    }

    fileprivate struct State {
        var ends: [ObjectIdentifier: any PulseEnd] = [:]
        var observers: [Int: @Sendable (SoundNews) -> Void] = [:]
        var lastObserver = 0
        var queries: [Query] = []
        var commands: [MuteCommand] = []
        var devices = AudioDevices()
        /// Nil while the server is there or nobody has asked for it.
        var trouble: SoundError?
        var wake: (@Sendable () -> Void)?
        var isRunning = false
        /// Whether something was left since the thread last looked.
        var isUnread = false
    }

    /// Which server; nil for the user's own, as libpulse finds it.
    let address: String?
    private let state = Lock(State())

    init(address: String?) {
        self.address = address
    }

    // MARK: For any thread

    var devices: AudioDevices { state.withLock { $0.devices } }
    var trouble: SoundError? { state.withLock { $0.trouble } }

    func attach(_ end: any PulseEnd) {
        change { $0.ends[ObjectIdentifier(end)] = end }
    }

    func detach(_ end: any PulseEnd) {
        change { $0.ends[ObjectIdentifier(end)] = nil }
    }

    /// Has the thread look at the wishes of all ends again.
    func wishChanged() {
        change { _ in }
    }

    func observe(_ observer: @escaping @Sendable (SoundNews) -> Void) -> Int {
        var number = 0
        change { state in
            state.lastObserver += 1
            number = state.lastObserver
            state.observers[number] = observer
        }
        return number
    }

    func removeObserver(_ number: Int) {
        change { $0.observers[number] = nil }
    }

    func ask(_ query: @escaping Query) {
        change { $0.queries.append(query) }
    }

    func order(_ command: MuteCommand) {
        change { $0.commands.append(command) }
    }

    /// Changes the state and has the thread act on it, which is started where none runs.
    private func change(_ body: (inout State) -> Void) {
        let mustStart = state.withLock { state in
            body(&state)
            state.isUnread = true
            state.wake?()
            guard !state.isRunning, state.hasWork else { return false }
            state.isRunning = true
            return true
        }
        if mustStart { startDetachedThread { PulseConnection.run(self) } }
    }

    // MARK: For the connection's thread

    var ends: [any PulseEnd] { state.withLock { Array($0.ends.values) } }
    var hasWork: Bool { state.withLock { $0.hasWork } }
    var hasQueries: Bool { state.withLock { !$0.queries.isEmpty } }

    /// Whether something was left since ``beginLook()``.
    var isUnread: Bool { state.withLock { $0.isUnread } }

    /// To be called before the thread looks at what was left.
    func beginLook() {
        state.withLock { $0.isUnread = false }
    }

    /// How the thread is woken; nil where it does not sleep any more.
    func setWake(_ wake: (@Sendable () -> Void)?) {
        state.withLock { $0.wake = wake }
    }

    func takeCommands() -> [MuteCommand] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    func answer(_ result: Result<AudioDevices, SoundError>) {
        let queries = state.withLock { state in
            defer { state.queries = [] }
            return state.queries
        }
        for query in queries { query(result) }
    }

    func set(devices: AudioDevices) {
        let isNew = state.withLock { state in
            defer { state.devices = devices }
            return state.devices != devices
        }
        if isNew { tell(.devicesChanged(devices)) }
    }

    /// Tells trouble once, until it is over.
    func set(trouble: SoundError?) {
        let former = state.withLock { state in
            defer { state.trouble = trouble }
            return state.trouble
        }
        if let trouble, former == nil { tell(.lost(trouble)) }
        if trouble == nil, former != nil { tell(.connected) }
    }

    private func tell(_ news: SoundNews) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer(news) }
    }

    /// Whether the thread may end: nobody has left anything for it since it looked.
    func mayEnd(regardless: Bool = false) -> Bool {
        state.withLock { state in
            guard regardless || !state.hasWork else { return false }
            state.isRunning = false
            state.wake = nil
            return true
        }
    }
}

extension PulseMailbox.State {
    fileprivate var hasWork: Bool {
        !observers.isEmpty || !queries.isEmpty || !commands.isEmpty || ends.values.contains { $0.wish.isOpen }
    }
}
