internal import OffhookBasics

/// Hands each picture on to several sinks, one after another, on the thread that brought it.
///
/// ```swift
/// let splitter = VideoSplitter()
/// splitter.addSink(preview)
/// splitter.addSink(recorder)
/// source.setVideoSink(splitter)
/// ```
public final class VideoSplitter: VideoSink {
    private let slots = Lock<[(sink: any VideoSink, slot: SinkSlot<any VideoSink>)]>([])

    /// Makes a splitter without sinks.
    public init() {}

    /// Adds a sink; one that is there already is not added again.
    public func addSink(_ sink: any VideoSink) {
        slots.withLock { slots in
            guard !slots.contains(where: { $0.sink === sink }) else { return }
            let slot = SinkSlot<any VideoSink>()
            slot.set(sink)
            slots.append((sink, slot))
        }
    }

    /// Takes a sink away: no frame is delivered to it after this returns.
    public func removeSink(_ sink: any VideoSink) {
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
