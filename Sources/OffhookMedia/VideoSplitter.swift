internal import OffhookBasics

/// Hands each picture on to several sinks, one after another, on the thread that brought it.
///
/// ```swift
/// source.setVideoSink(VideoSplitter([preview, recorder]))
/// ```
public final class VideoSplitter: VideoSink {
    private let slots = Lock<[(sink: any VideoSink, slot: SinkSlot<any VideoSink>)]>([])

    /// Makes a splitter that feeds these sinks.
    public init(_ sinks: [any VideoSink] = []) {
        for sink in sinks { add(sink) }
    }

    /// Adds a sink; one that is there already is not added again.
    public func add(_ sink: any VideoSink) {
        slots.withLock { slots in
            guard !slots.contains(where: { $0.sink === sink }) else { return }
            let slot = SinkSlot<any VideoSink>()
            slot.set(sink)
            slots.append((sink, slot))
        }
    }

    /// Takes a sink away: no frame is delivered to it after this returns.
    public func remove(_ sink: any VideoSink) {
        let slot = slots.withLock { slots -> SinkSlot<any VideoSink>? in
            guard let index = slots.firstIndex(where: { $0.sink === sink }) else { return nil }
            return slots.remove(at: index).slot
        }
        slot?.set(nil)
    }

    /// Hands the picture on.
    public func handleVideoFrame(_ frame: VideoFrame) {
        for slot in slots.withLock({ $0.map(\.slot) }) {
            slot.deliver { $0.handleVideoFrame(frame) }
        }
    }
}
