internal import OffhookBasics
public import OffhookMedia

/// Hands sound on to several sinks, one after another, on the thread it comes on.
public final class AudioSplitter: AudioSink {
    private let sinks: Lock<[any AudioSink]>

    /// Makes a splitter that feeds these sinks.
    public init(_ sinks: [any AudioSink] = []) {
        self.sinks = Lock(sinks)
    }

    /// Adds a sink.
    public func add(_ sink: any AudioSink) {
        sinks.withLock { $0.append(sink) }
    }

    /// Takes a sink away. The frame that is on its way may still reach it.
    public func remove(_ sink: any AudioSink) {
        sinks.withLock { $0.removeAll { $0 === sink } }
    }

    /// Hands sound on.
    public func handleAudioFrame(_ frame: AudioFrame) {
        for sink in sinks.withLock({ $0 }) { sink.handleAudioFrame(frame) }
    }
}
