import Dispatch
import Glibc
import Offhook

/// Hears all of a capturer, and lets a check wait for it.
final class Watcher: VideoSink, V4L2CapturerDelegate {
    enum News: Sendable {
        case frame(VideoFrame)
        case interrupted(CameraError)
        case resumed
        case cameras([CameraDevice])
    }

    struct TimedOut: Error, CustomStringConvertible {
        let awaited: String
        var description: String { "waited in vain for \(awaited)" }
    }

    private struct State {
        var news: [News] = []
        var waiter: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    func handleVideoFrame(_ frame: VideoFrame) {
        add(.frame(frame))
    }

    func capturer(_ capturer: V4L2Capturer, wasInterruptedBy error: CameraError) {
        add(.interrupted(error))
    }

    func capturerDidResume(_ capturer: V4L2Capturer) {
        add(.resumed)
    }

    func capturer(_ capturer: V4L2Capturer, didChangeAvailableCameras cameras: [CameraDevice]) {
        add(.cameras(cameras))
    }

    private func add(_ news: News) {
        let waiter = state.withLock { state in
            state.news.append(news)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?()
    }

    /// Forgets what came so far.
    func clear() {
        state.withLock { $0.news = [] }
    }

    /// Forgets the pictures and resumptions that came so far, but not the interruptions.
    func clearFrames() {
        state.withLock { state in
            state.news.removeAll { if case .interrupted = $0 { false } else { true } }
        }
    }

    private func nothingNew(since count: Int, within duration: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            let once = Lock<CheckedContinuation<Bool, Never>?>(continuation)
            let finish = { @Sendable (isLate: Bool) in
                let waiting = once.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }
                waiting?.resume(returning: isLate)
            }
            let isThere = state.withLock { state in
                if state.news.count > count { return true }
                state.waiter = { finish(false) }
                return false
            }
            if isThere { return finish(false) }
            DispatchQueue.global().asyncAfter(deadline: .now() + duration.inSeconds) { finish(true) }
        }
    }

    /// Waits until `find` finds something in the news since ``clear()``.
    func first<Found>(
        _ awaited: String, within duration: Duration = .seconds(20), _ find: ([News]) -> Found?
    ) async throws -> Found {
        let clock = ContinuousClock()
        let end = clock.now + duration
        while true {
            let news = state.withLock { $0.news }
            if let found = find(news) { return found }
            let left = clock.now.duration(to: end)
            if left <= .zero { throw TimedOut(awaited: awaited) }
            if await nothingNew(since: news.count, within: left) { throw TimedOut(awaited: awaited) }
        }
    }

    /// The next pictures.
    func frames(_ count: Int) async throws -> [VideoFrame] {
        try await first("\(count) pictures") { news in
            let frames = news.frames
            return frames.count >= count ? Array(frames.prefix(count)) : nil
        }
    }

    func interruption(within duration: Duration = .seconds(20)) async throws -> CameraError {
        try await first("an interruption", within: duration) { news in
            for case .interrupted(let error) in news { return error }
            return nil
        }
    }

    func resumption(within duration: Duration = .seconds(20)) async throws {
        try await first("the resumption", within: duration) { news in
            for case .resumed in news { return () }
            return nil
        }
    }

    var interruptionCount: Int {
        state.withLock { $0.news.count { if case .interrupted = $0 { true } else { false } } }
    }
}

extension [Watcher.News] {
    var frames: [VideoFrame] {
        compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
    }
}
