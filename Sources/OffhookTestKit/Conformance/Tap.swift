internal import Dispatch
internal import Offhook
internal import OffhookBasics

/// A sink that writes down what it gets, and lets a check wait for it.
final class Tap<Frame: Sendable>: Sendable {
    private struct State {
        var frames: [Frame] = []
        var count = 0
        var depth = 0
        var mostAtOnce = 0
        var countWhenClosed: Int?
        var waiting: [(count: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Lock(State())
    /// How many of the newest frames are kept.
    private let room: Int
    private let onFrame: (@Sendable (Int) -> Void)?

    init(keeping room: Int = 0, onFrame: (@Sendable (Int) -> Void)? = nil) {
        self.room = room
        self.onFrame = onFrame
    }

    /// The newest frames, oldest first.
    var frames: [Frame] { state.withLock { $0.frames } }
    var count: Int { state.withLock { $0.count } }
    /// How many frames came at the same time.
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// Notes that no frame may come from here on.
    func close() {
        state.withLock { $0.countWhenClosed = $0.count }
    }

    /// How many frames came after ``close()``.
    var lateCount: Int { state.withLock { state in state.countWhenClosed.map { state.count - $0 } ?? 0 } }

    fileprivate func take(_ frame: Frame) {
        let (number, ready) = state.withLock { state in
            state.count += 1
            state.depth += 1
            state.mostAtOnce = max(state.mostAtOnce, state.depth)
            if room > 0 {
                state.frames.append(frame)
                if state.frames.count > room { state.frames.removeFirst() }
            }
            let ready = state.waiting.filter { $0.count <= state.count }
            state.waiting.removeAll { $0.count <= state.count }
            return (state.count, ready)
        }
        onFrame?(number)
        state.withLock { $0.depth -= 1 }
        for item in ready { item.continuation.resume(returning: true) }
    }

    /// Waits until so many frames have come in all.
    func wait(for count: Int, as what: String) async throws {
        let patience = Patience.limit
        let hasCome = await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { return continuation.resume(returning: true) }
            DispatchQueue.global().asyncAfter(deadline: .now() + patience) { [weak self] in self?.giveUp(count) }
        }
        guard hasCome else { throw BrokenRule("\(what) did not come within \(patience) s (\(self.count) of \(count))") }
    }

    private func giveUp(_ count: Int) {
        let late = state.withLock { state in
            defer { state.waiting.removeAll { $0.count == count } }
            return state.waiting.filter { $0.count == count }
        }
        for item in late { item.continuation.resume(returning: false) }
    }
}

extension Tap: VideoSink where Frame == VideoFrame {
    func handleVideoFrame(_ frame: VideoFrame) { take(frame) }
}

extension Tap: AudioSink where Frame == AudioFrame {
    func handleAudioFrame(_ frame: AudioFrame) { take(frame) }
}

/// How long a check waits for what must come; only an object that breaks a rule makes it wait to the end.
package enum Patience {
    @TaskLocal package static var limit: Double = 20
}

/// Runs what may hang on a thread of its own, and gives it up in the end.
func returning(_ what: String, _ body: @escaping @Sendable () -> Void) async throws {
    let patience = Patience.limit
    let isDecided = Lock(false)
    let hasReturned = await withCheckedContinuation { continuation in
        let decide: @Sendable (Bool) -> Void = { outcome in
            let isFirst = isDecided.withLock { decided in
                defer { decided = true }
                return !decided
            }
            if isFirst { continuation.resume(returning: outcome) }
        }
        DispatchQueue(label: "offhook.conformance").async {
            body()
            decide(true)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) { decide(false) }
    }
    guard hasReturned else { throw BrokenRule("\(what) did not return within \(patience) s") }
}

/// Waits until something holds, asking again after a turn of other tasks and threads.
func eventually(_ complaint: @autoclosure () -> String, _ condition: @Sendable () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(Patience.limit)
    while !condition() {
        guard ContinuousClock.now < deadline else { throw BrokenRule(complaint()) }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
        }
    }
}
