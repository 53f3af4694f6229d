import Dispatch
import Offhook
import Synchronization

/// A sink of the app's own: it counts pictures, and lets somebody wait for some.
final class CountingSink: VideoSink {
    private struct State {
        var count = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    func handleVideoFrame(_ frame: VideoFrame) {
        let ready = state.withLock { state in
            state.count += 1
            let ready = state.waiting.filter { $0.count <= state.count }
            state.waiting.removeAll { $0.count <= state.count }
            return ready
        }
        for item in ready { item.continuation.resume() }
    }

    /// Returns once so many pictures have come.
    func waitForPictures(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
