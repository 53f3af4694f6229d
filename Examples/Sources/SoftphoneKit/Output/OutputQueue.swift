import Foundation
import Offhook

/// Writes to standard output on a queue of its own, so that a reader who does not read holds no call up, and no signal.
///
/// May be used on any thread.
final class OutputQueue: Sendable {
    static let standardOutput = OutputQueue { text in
        // A reader that has gone away is no reason to stop a call.
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    private struct State {
        var bytes = 0
        var pieces = 0
        var lost = 0
    }

    /// How long a reader may take to read what is there once the program was asked to end.
    private static let patience = Duration.seconds(1)

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "offhook.output")
    private let bound: Int
    private let put: @Sendable (String) -> Void

    /// - Parameters:
    ///   - bound: how many bytes may wait; what comes beyond is lost.
    ///   - put: writes a piece, and may block as long as it likes.
    init(bound: Int = 16 << 20, put: @escaping @Sendable (String) -> Void) {
        self.bound = bound
        self.put = put
    }

    /// Writes after all that was given before, and returns at once.
    func write(_ text: String) {
        let size = text.utf8.count
        let isTaken = state.withLock { state in
            guard state.bytes + size <= bound else {
                state.lost += 1
                return false
            }
            state.bytes += size
            state.pieces += 1
            return true
        }
        guard isTaken else { return }
        queue.async { [self] in
            put(text)
            state.withLock { state in
                state.bytes -= size
                state.pieces -= 1
            }
        }
    }

    /// Waits until all is written; once the program is to end at once, a second at most.
    ///
    /// - Returns: what a person has to be told, where something was not written.
    func finish(interruptedAt: () -> ContinuousClock.Instant?) async -> String? {
        let begin = ContinuousClock.now
        while state.withLock({ $0.pieces > 0 }) {
            if let since = interruptedAt(), .now - max(since, begin) > Self.patience { break }
            // Cancelled or not, what is left is to be written.
            try? await Task.sleep(for: .milliseconds(20))
        }
        let missing = state.withLock { $0.pieces + $0.lost }
        guard missing > 0 else { return nil }
        return "offhook: nobody reads standard output, so that its last \(missing) lines are lost; read it to the end"
    }
}
