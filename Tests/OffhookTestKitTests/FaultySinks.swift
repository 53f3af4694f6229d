import Dispatch
import Offhook
import OffhookBasics

/// A sink that breaks one rule, or none.
final class FaultySink: VideoSink, AudioSink {
    enum Fault: Sendable {
        case none
        case slow
        case stuckOn(@Sendable (VideoFrame) -> Bool)
        case stuckOnSound(@Sendable (AudioFrame) -> Bool)
        case stuckAtNumber(Int)
        case writing
        case keeping
        case holdingItself
    }

    private struct State {
        var count = 0
        var kept: [VideoFrame] = []
        var itself: FaultySink?
    }

    private let fault: Fault
    private let state = Lock(State())

    init(_ fault: Fault) {
        self.fault = fault
        if case .holdingItself = fault { state.withLock { $0.itself = self } }
    }

    func handleVideoFrame(_ frame: VideoFrame) {
        if case .stuckOn(let isStuck) = fault, isStuck(frame) { wait(.seconds(2)) }
        if case .writing = fault { frame.buffer.withMutablePlane(0) { $0[0] &+= 1 } }
        if case .keeping = fault { state.withLock { $0.kept.append(frame) } }
        count()
    }

    func handleAudioFrame(_ frame: AudioFrame) {
        if case .stuckOnSound(let isStuck) = fault, isStuck(frame) { wait(.seconds(2)) }
        count()
    }

    private func count() {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        if case .slow = fault { wait(.milliseconds(40)) }
        if case .stuckAtNumber(let last) = fault, number == last { wait(.seconds(2)) }
    }

    private func wait(_ time: DispatchTimeInterval) {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + time)
    }
}
