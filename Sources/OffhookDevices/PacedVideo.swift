internal import Dispatch
internal import OffhookBasics
internal import OffhookMedia

/// What pattern and file have in common: a picture at each tick while there is a sink, made on a queue.
///
/// A picture that takes longer than a tick makes the ticks in between fall out; none are piled up.
final class PacedVideo: Sendable {
    private struct State {
        var ticket: MediaTicker.Ticket?
        var isBusy = false
    }

    private let frameRate: Double
    private let slot = SinkSlot<any VideoSink>()
    private let state = Lock(State())
    private let queue: DispatchQueue
    private let makeFrame: @Sendable (_ due: Instant) -> VideoFrame?

    /// `makeFrame` makes frame after frame; it is called on one thread at a time.
    init(frameRate: Double, label: String, makeFrame: @escaping @Sendable (_ due: Instant) -> VideoFrame?) {
        self.frameRate = frameRate
        self.makeFrame = makeFrame
        queue = DispatchQueue(label: label, qos: .userInitiated)
    }

    deinit {
        if let ticket = state.withLock({ $0.ticket }) { MediaTicker.shared.cancel(ticket) }
    }

    func setSink(_ sink: (any VideoSink)?) {
        slot.set(sink)
        if sink == nil {
            let ticket = state.withLock { state in
                defer { state.ticket = nil }
                return state.ticket
            }
            if let ticket { MediaTicker.shared.cancel(ticket) }
            return
        }
        state.withLock { state in
            guard state.ticket == nil else { return }
            state.ticket = MediaTicker.shared.start(ticksPerSecond: frameRate, catchesUp: false) {
                [weak self] _, due in
                self?.tick(due)
            }
        }
    }

    private func tick(_ due: Instant) {
        let isFree = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFree else { return }
        queue.async { [self] in
            if !slot.isEmpty, let frame = makeFrame(due) {
                slot.deliver { $0.handleVideoFrame(frame) }
            }
            state.withLock { $0.isBusy = false }
        }
    }
}
