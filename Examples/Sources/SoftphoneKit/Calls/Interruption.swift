import Dispatch
import Glibc

/// Ctrl-C and its like: the first asks the program to finish, the second ends it at once.
@MainActor final class Interruption {
    /// Takes the signals from its first use on, and to the program's end: output that is left may still be cut short.
    static let shared = Interruption()

    private var sources: [any DispatchSourceSignal] = []
    /// When the first one came.
    private(set) var firstAt: ContinuousClock.Instant?
    private var handler: () -> Void = {}

    var hasCome: Bool { firstAt != nil }

    /// Takes SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on.
    private init() {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let earlier = signal(number, SIG_IGN)
            // Who starts a program under nohup wants it to outlive the terminal.
            if number == SIGHUP, unsafeBitCast(earlier, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                continue
            }
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
        guard let firstAt else {
            firstAt = .now
            handler()
            return
        }
        // Some senders signal a process and then its group: those two are one wish.
        if .now - firstAt < .milliseconds(500) { return }
        // Not `exit`, which waits for what the C library has not written yet.
        _exit(ExitStatus.interrupted.rawValue)
    }
}
