internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookMedia
internal import OffhookRTP

/// Where a call's coded streams pass on their way, and a recorder may listen.
final class RecordingTap: Sendable {
    private struct State {
        var recorder: CallRecorder?
        var encoder: VideoEncoderPipeline?
        /// Counts sound that was sent, pauses too.
        var soundUnits: UInt32 = 0
        var soundClock = SteadyClock.forSound(rate: 48_000)
        var lastAdvance = Instant.zero
    }

    private static let advanceInterval = Duration.milliseconds(200)

    private let state = Lock(State())
    private let now: @Sendable () -> Instant
    private let requestKeyFrame: @Sendable () -> Void

    /// - Parameter requestKeyFrame: asks the far end.
    init(now: @escaping @Sendable () -> Instant, requestKeyFrame: @escaping @Sendable () -> Void) {
        self.now = now
        self.requestKeyFrame = requestKeyFrame
    }

    private var recorder: CallRecorder? { state.withLock { $0.recorder } }

    // MARK: The recorder

    /// Whether recording began; a call has one recorder at a time, and a recorder one call.
    func begin(_ recorder: CallRecorder) -> Bool {
        guard self.recorder == nil, recorder.take(keyFrameRequest: { [weak self] in self?.ask($0) }) else {
            return false
        }
        state.withLock { $0.recorder = recorder }
        ask(.remote)
        ask(.local)
        return true
    }

    /// The recorder there was, which then gets nothing more.
    @discardableResult
    func end() -> CallRecorder? {
        let recorder = state.withLock { state in
            defer { state.recorder = nil }
            return state.recorder
        }
        recorder?.finish()
        return recorder
    }

    func setEncoder(_ encoder: VideoEncoderPipeline) {
        state.withLock { $0.encoder = encoder }
    }

    private func ask(_ side: RecordingWorker.Side) {
        switch side {
        case .remote: requestKeyFrame()
        case .local: state.withLock { $0.encoder }?.requestKeyFrame()
        }
    }

    // MARK: What passes

    func received(_ frame: ReceivedVideoFrame, at now: Instant) {
        recorder?.received(frame, at: now)
    }

    func received(_ packet: AudioPacket, payload: [UInt8], codec: OffhookCodecs.AudioCodec, at now: Instant) {
        recorder?.received(
            payload, codec: codec, timestamp: packet.timestamp, duration: packet.duration,
            capture: packet.captureTime, at: now)
    }

    func sent(_ frame: EncodedVideoFrame) {
        recorder?.sent(frame, at: now())
    }

    func sent(_ audio: EncodedAudio, codec: OffhookCodecs.AudioCodec) {
        let passing = state.withLock { state -> (CallRecorder, Instant)? in
            guard let recorder = state.recorder else { return nil }
            if state.soundClock.rate != codec.clockRate { state.soundClock = .forSound(rate: codec.clockRate) }
            let time = state.soundClock.time(of: state.soundUnits, near: audio.captureTime)
            state.soundUnits &+= UInt32(clamping: audio.units)
            return (recorder, time)
        }
        guard let (recorder, time) = passing, !audio.isPause else { return }
        let duration = Duration.nanoseconds(Int64(audio.units) * 1_000_000_000 / Int64(codec.clockRate))
        recorder.sent(audio.bytes, codec: codec, duration: duration, time: time)
    }

    /// Time has passed.
    func advance(to now: Instant) {
        let recorder = state.withLock { state -> CallRecorder? in
            guard let recorder = state.recorder, now - state.lastAdvance >= Self.advanceInterval else { return nil }
            state.lastAdvance = now
            return recorder
        }
        recorder?.advance(to: now)
    }
}
