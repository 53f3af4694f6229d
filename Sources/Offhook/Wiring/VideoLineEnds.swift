internal import Dispatch
internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookMedia
internal import OffhookRTP

/// Where an app gets a line's received pictures: the decoder, and a key frame asked for when somebody begins to look.
final class ReceivedVideoSource: VideoSource {
    private let decoder: VideoDecoderPipeline
    private let wantsKeyFrame: @Sendable () -> Void

    init(decoder: VideoDecoderPipeline, wantsKeyFrame: @escaping @Sendable () -> Void) {
        self.decoder = decoder
        self.wantsKeyFrame = wantsKeyFrame
    }

    func setVideoSink(_ sink: (any VideoSink)?) {
        decoder.setVideoSink(sink)
        if sink != nil { wantsKeyFrame() }
    }
}

/// Where an app puts the pictures to send: to the encoder while the line sends, to nobody otherwise.
final class SentVideoSink: VideoSink {
    private let encoder: VideoEncoderPipeline
    private let isSending = Lock(false)

    init(encoder: VideoEncoderPipeline) {
        self.encoder = encoder
    }

    func setSending(_ isSending: Bool) {
        self.isSending.withLock { $0 = isSending }
    }

    func handleVideoFrame(_ frame: VideoFrame) {
        guard isSending.withLock({ $0 }) else { return }
        encoder.handleVideoFrame(frame)
    }
}

/// Where an app gets a line's received pictures still coded, on a queue of its own.
final class ReceivedEncodedVideo: EncodedVideoSource, @unchecked Sendable {
    // `size`, `timestamp` and `sink` are touched on the queue alone.
    private let queue = DispatchQueue(label: "offhook.encoded-video")
    private let wantsKeyFrame: @Sendable () -> Void
    private let isWanted = Lock(false)
    private var sink: (any EncodedVideoSink)?
    private var size = VideoSize(width: 0, height: 0)
    private var timestamp: Int64?

    init(wantsKeyFrame: @escaping @Sendable () -> Void) {
        self.wantsKeyFrame = wantsKeyFrame
    }

    func setEncodedVideoSink(_ sink: (any EncodedVideoSink)?) {
        isWanted.withLock { $0 = sink != nil }
        queue.sync { self.sink = sink }
        if sink != nil { wantsKeyFrame() }
    }

    /// Hands a coded picture on, if anybody wants it.
    func handle(_ frame: ReceivedVideoFrame) {
        guard isWanted.withLock({ $0 }) else { return }
        queue.async { self.deliver(frame) }
    }

    private func deliver(_ frame: ReceivedVideoFrame) {
        guard let sink else { return }
        if frame.isKeyFrame, let told = OffhookCodecs.VP8FrameHeader(parsing: frame.buffer.bytes)?.keyFrameSize {
            size = told
        }
        let last = timestamp ?? Int64(frame.timestamp.rawValue)
        let step = Int64(frame.timestamp - RTPTimestamp(UInt32(truncatingIfNeeded: last)))
        timestamp = last + step
        sink.handleEncodedVideoFrame(
            frame.buffer.bytes,
            info: EncodedVideoFrameInfo(codec: .vp8, isKeyFrame: frame.isKeyFrame, timestamp: last + step, size: size))
    }
}
