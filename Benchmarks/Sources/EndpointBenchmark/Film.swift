import Dispatch
import Offhook

/// Pictures drawn once, before anything is measured, and then shown again and again at 30 a second.
final class Film: Sendable {
    let frames: [VideoFrame]

    init(count: Int) async {
        let collector = FrameCollector(count: count)
        let pattern = TestPatternCapturer(size: VideoSize(width: 1280, height: 720), frameRate: 30)
        pattern.setVideoSink(collector)
        frames = await collector.frames()
        pattern.setVideoSink(nil)
    }
}

/// Keeps copies of the first pictures it gets.
private final class FrameCollector: VideoSink {
    private struct State {
        var frames: [VideoFrame] = []
        var waiting: CheckedContinuation<[VideoFrame], Never>?
    }

    private let state = Lock(State())
    private let count: Int

    init(count: Int) {
        self.count = count
    }

    func handleVideoFrame(_ frame: VideoFrame) {
        let copy = VideoFrameBuffer(size: frame.size, pixelFormat: frame.pixelFormat)
        for plane in 0..<frame.planeCount {
            frame.withPlane(plane) { source in
                copy.withMutablePlane(plane) { target in
                    for index in source.indices { target[index] = source[index] }
                }
            }
        }
        let done = state.withLock { state -> (CheckedContinuation<[VideoFrame], Never>, [VideoFrame])? in
            guard state.frames.count < count else { return nil }
            state.frames.append(VideoFrame(buffer: copy, captureTime: frame.captureTime))
            guard state.frames.count == count, let waiting = state.waiting else { return nil }
            state.waiting = nil
            return (waiting, state.frames)
        }
        if let (waiting, frames) = done { waiting.resume(returning: frames) }
    }

    func frames() async -> [VideoFrame] {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> [VideoFrame]? in
                if state.frames.count >= count { return state.frames }
                state.waiting = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}

/// Shows a film.
final class FilmCapturer: VideoCapturer {
    private let film: Film
    private let sink = Lock<(any VideoSink)?>(nil)
    private let queue = DispatchQueue(label: "film")
    /// Set once, in `init`; a source may be cancelled from any thread (libdispatch), which its type does not say.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    init(_ film: Film) {
        self.film = film
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        let number = Lock(0)
        timer.setEventHandler { [sink] in
            guard let target = sink.withLock({ $0 }) else { return }
            let index = number.withLock { number in
                number += 1
                return number % film.frames.count
            }
            var frame = film.frames[index]
            frame.captureTime = .now
            target.handleVideoFrame(frame)
        }
        timer.schedule(deadline: .now(), repeating: .nanoseconds(33_333_333), leeway: .nanoseconds(0))
        timer.resume()
    }

    deinit {
        timer.cancel()
    }

    func setVideoSink(_ sink: (any VideoSink)?) {
        self.sink.withLock { $0 = sink }
    }
}
