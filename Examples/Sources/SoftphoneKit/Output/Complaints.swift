import Offhook
import Synchronization

/// Tells on standard error what the client finds odd, each thing once: all connections to one server fail alike.
final class Complaints: Sendable {
    private let told = Mutex<Set<String>>([])

    /// Takes an entry of the client's log, on any thread.
    func note(_ entry: LogEntry) {
        guard entry.level >= .warning, told.withLock({ $0.insert(entry.message).inserted }) else { return }
        Terminal.complain(entry.message)
    }
}
