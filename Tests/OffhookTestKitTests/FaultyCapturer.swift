import Dispatch
import Offhook
import OffhookBasics

/// A capturer of pictures and of sound that breaks one rule, or none.
final class FaultyCapturer: VideoCapturer, AudioCapturer {
    enum Fault: String, CaseIterable, Sendable {
        case none
        case silent
        case twoAtOnce
        case sameTime
        case stopsForGood
        case stuckWhenIdle
        case goesOnAfterDetach
        case goesOnAfterSwitch
        case doesNotWait
        case holdsSinks
        case holdsItself
        case rewritesPictures
        case shortFrames
    }

    typealias Handler = @Sendable (_ number: Int) -> Void

    private struct State {
        var handler: Handler?
        var former: Handler?
        var sinks: [AnyObject] = []
        var itself: FaultyCapturer?
        var wasStopped = false
        var number = 0
        var timer: (any DispatchSourceTimer)?
    }

    private let fault: Fault
    private let state = Lock(State())
    private let queue = DispatchQueue(label: "faulty")
    private let buffer = VideoFrameBuffer(size: VideoSize(width: 32, height: 16))

    init(_ fault: Fault) {
        self.fault = fault
        if fault == .holdsItself { state.withLock { $0.itself = self } }
    }

    deinit {
        state.withLock { $0.timer?.cancel() }
    }

    func setVideoSink(_ sink: (any VideoSink)?) {
        set(sink) { [fault, buffer] number in
            guard let sink else { return }
            let picture = fault == .rewritesPictures ? buffer : VideoFrameBuffer(size: buffer.size)
            picture.withMutablePlane(0) { $0.update(repeating: UInt8(truncatingIfNeeded: number)) }
            for plane in 1..<3 { picture.withMutablePlane(plane) { $0.update(repeating: 128) } }
            sink.handleVideoFrame(VideoFrame(buffer: picture, captureTime: Self.time(number, fault)))
        }
    }

    func setAudioSink(_ sink: (any AudioSink)?) {
        set(sink) { [fault] number in
            guard let sink else { return }
            let samples = [Int16](repeating: 0, count: fault == .shortFrames ? 900 : 960)
            sink.handleAudioFrame(AudioFrame(samples: samples, captureTime: Self.time(number, fault)))
        }
    }

    private static func time(_ number: Int, _ fault: Fault) -> Instant {
        .zero + .milliseconds(fault == .sameTime ? 7 : number)
    }

    private func set(_ sink: AnyObject?, _ handler: @escaping Handler) {
        let isIdle = state.withLock { $0.timer == nil }
        if sink == nil, isIdle, fault == .stuckWhenIdle { wait(.seconds(2)) }
        state.withLock { state in
            if fault == .goesOnAfterSwitch, sink != nil, let last = state.handler { state.former = last }
            if fault == .goesOnAfterDetach, sink == nil, let last = state.handler { state.former = last }
            if fault == .holdsSinks, let sink { state.sinks.append(sink) }
            if sink == nil, state.handler != nil { state.wasStopped = true }
            state.handler = sink == nil ? nil : handler
            guard state.timer == nil, sink != nil, fault != .silent else { return }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now(), repeating: .milliseconds(2))
            timer.setEventHandler { [weak self] in self?.tick() }
            timer.resume()
            state.timer = timer
        }
        // The delivery under way is on the queue.
        if fault != .doesNotWait { queue.sync {} }
    }

    private func tick() {
        let (handler, former, number) = state.withLock { state in
            state.number += 1
            let isOver = fault == .stopsForGood && state.wasStopped
            return (isOver ? nil : state.handler, state.former, state.number)
        }
        former?(number)
        if fault == .twoAtOnce { DispatchQueue.global().async { handler?(number) } }
        handler?(number)
    }

    private func wait(_ time: DispatchTimeInterval) {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + time)
    }
}
