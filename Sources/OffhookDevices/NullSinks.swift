internal import OffhookBasics
public import OffhookMedia

/// Takes sound and lets it go; it only counts.
public final class NullAudioSink: AudioSink {
    private let frames = Lock(0)

    /// Makes a sink.
    public init() {}

    /// How many frames came.
    public var frameCount: Int { frames.withLock { $0 } }

    /// Counts the frame.
    public func handleAudioFrame(_ frame: AudioFrame) {
        frames.withLock { $0 += 1 }
    }
}

/// Takes pictures and lets them go; it only counts.
public final class NullVideoSink: VideoSink {
    private let frames = Lock(0)

    /// Makes a sink.
    public init() {}

    /// How many frames came.
    public var frameCount: Int { frames.withLock { $0 } }

    /// Counts the frame.
    public func handleVideoFrame(_ frame: VideoFrame) {
        frames.withLock { $0 += 1 }
    }
}
