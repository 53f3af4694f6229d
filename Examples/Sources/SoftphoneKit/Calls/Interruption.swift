import Dispatch
import Glibc

/// Ctrl-C and its like: the first asks the program to finish, the second ends it at once.
@MainActor final class Interruption {
    private var sources: [any DispatchSourceSignal] = []
    private(set) var hasCome = false
    private var firstAt: ContinuousClock.Instant?
    private var handler: () -> Void = {}

    /// Takes SIGINT and SIGTERM from now on.
    init() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { MainActor.assumeIsolated { [weak self] in self?.come() } }
            source.resume()
            sources.append(source)
        }
        // A reader of our output that goes away must not end a call.
        signal(SIGPIPE, SIG_IGN)
    }

    /// What to do on the first one.
    func onInterrupt(_ handler: @escaping () -> Void) {
        self.handler = handler
        if hasCome { handler() }
    }

    private func come() {
        // Some senders signal a process and then its group: those two are one wish.
        if let firstAt, .now - firstAt < .milliseconds(500) { return }
        guard !hasCome else { exit(ExitStatus.interrupted.rawValue) }
        hasCome = true
        firstAt = .now
        handler()
    }
}
