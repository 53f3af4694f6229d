import Offhook

/// Keeps SIP messages in a file, each under a line that says when, which way and between whom.
final class TraceFile: Sendable {
    private let file: LineFile
    private let start: Instant

    init(path: String, start: Instant = .now) throws(FileFailure) {
        file = try LineFile(path: path)
        self.start = start
    }

    var error: String? { file.error }

    /// Called on the network thread.
    func write(_ trace: SignalingTrace) {
        let arrow = trace.direction == .sent ? "sent to" : "received from"
        let seconds = (trace.time - start).inMilliseconds.rounded() / 1000
        file.write("--- \(seconds) \(arrow) \(trace.remote) over \(trace.transport)\n\(trace.message)")
    }

    func close() {
        file.close()
    }
}
