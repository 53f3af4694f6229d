internal import Dispatch
internal import OffhookBasics
internal import OffhookCodecs
public import OffhookDevices
internal import OffhookEngine
internal import OffhookMedia
internal import OffhookRTP

/// Records a call to a WebM file: the VP8 pictures and the Opus sound of both sides as they travelled, neither decoded nor coded
/// again.
///
/// Hand it to ``Call/startRecording(to:)``. The file has up to four tracks on one line of time: the far end's picture and sound,
/// which players take that show one of each, and those of this side. It can be played at any time, and after the process was
/// killed lacks the last second at most; ``close()`` adds the index for seeking.
///
/// Sound that travels as PCMU or PCMA, for which WebM has no place, is coded as Opus on a thread of its own.
public final class CallRecorder: @unchecked Sendable {
    // `worker`, `clocks` and `coders` are touched on the queue alone.

    /// Whose pictures and sound are recorded.
    public struct Sides: OptionSet, Hashable, Sendable {
        /// The sides as bits.
        public let rawValue: Int

        /// Makes a set of its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The far end.
        public static let remote = Sides(rawValue: 1)
        /// This end.
        public static let local = Sides(rawValue: 2)
        /// Both ends.
        public static let both: Sides = [.remote, .local]
    }

    private struct Status {
        var error: DeviceError?
        var duration = Duration.zero
        var isTaken = false
        var isClosed = false
        var waitingBytes = 0
        var sidesWithLoss: Set<RecordingWorker.Side> = []
    }

    /// Where the file's disk is this far behind, what comes is dropped.
    private static let mostWaitingBytes = 32 << 20

    /// Where the file is.
    public let path: String
    /// Whose pictures and sound are recorded.
    public let sides: Sides
    private let status = Lock(Status())
    private let queue = DispatchQueue(label: "offhook.recorder")
    private var worker: RecordingWorker
    private var clocks = ReceivedClocks()
    private var coders: [RecordingWorker.Side: AudioEncoderPipeline] = [:]
    /// Asks a side for a key frame.
    private let keyFrameRequest = SinkSlot<@Sendable (RecordingWorker.Side) -> Void>()

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: where; it should end in `.webm`.
    ///   - sides: whose pictures and sound to record.
    ///   - keyFrameInterval: how often each side is asked for a picture that stands alone, which is where seeking can go to.
    ///     Such pictures are several times as large as others. With nil none is asked for but the first.
    /// - Throws: where the file cannot be created.
    public init(
        path: String, sides: Sides = .both, keyFrameInterval: Duration? = .seconds(10)
    ) throws(DeviceError) {
        self.path = path
        self.sides = sides
        worker = RecordingWorker(writer: try WebMWriter(path: path), keyFrameInterval: keyFrameInterval)
    }

    /// The first trouble with writing, if there was any; what came later was not kept.
    public var error: DeviceError? { status.withLock { $0.error } }

    /// How much has been recorded.
    public var duration: Duration { status.withLock { $0.duration } }

    /// Completes the file. What comes later is dropped. A recorder whose call ends closes by itself soon after; call this where
    /// the file is to be complete when it returns, as before the program's end. May be called on any thread, several times.
    public func close() {
        finish()
        queue.sync {}
    }

    // MARK: Its call

    /// Takes the recorder for one call; false where it had one before.
    func take(keyFrameRequest: @escaping @Sendable (RecordingWorker.Side) -> Void) -> Bool {
        let isFree = status.withLock { status in
            defer { status.isTaken = true }
            return !status.isTaken && !status.isClosed
        }
        if isFree { self.keyFrameRequest.set(keyFrameRequest) }
        return isFree
    }

    /// Begins to complete the file, and returns at once.
    func finish() {
        let isFirst = status.withLock { status in
            defer { status.isClosed = true }
            return !status.isClosed
        }
        guard isFirst else { return }
        keyFrameRequest.set(nil)
        queue.async { [self] in
            for coder in coders.values { coder.stop() }
            coders = [:]
            worker.finish()
            note()
        }
    }

    /// Writes what no earlier block can come before any more.
    func advance(to now: Instant) {
        enqueue(bytes: 0) { recorder in
            recorder.worker.advance(to: now)
            recorder.note()
        }
    }

    // MARK: Streams

    func received(_ frame: ReceivedVideoFrame, at now: Instant) {
        guard sides.contains(.remote) else { return }
        enqueuePicture(bytes: frame.buffer.count, of: .remote) { recorder in
            let time = recorder.clocks.timeOfPicture(frame.timestamp, capture: frame.captureTime, near: now)
            let bytes = frame.buffer.bytes
            recorder.takePicture(
                bytes.withUnsafeBytes { Array($0) }, isKeyFrame: frame.isKeyFrame,
                size: frame.isKeyFrame ? OffhookCodecs.VP8FrameHeader(parsing: bytes)?.keyFrameSize : nil,
                time: time, of: .remote, at: now)
        }
    }

    func sent(_ frame: EncodedVideoFrame, at now: Instant) {
        guard sides.contains(.local) else { return }
        enqueuePicture(bytes: frame.bytes.count, of: .local) { recorder in
            recorder.takePicture(
                frame.bytes, isKeyFrame: frame.isKeyFrame, size: frame.size, time: frame.captureTime, of: .local,
                at: now)
        }
    }

    func received(
        _ payload: [UInt8], codec: OffhookCodecs.AudioCodec, timestamp: RTPTimestamp, duration: Duration,
        capture: NTPTimestamp?, at now: Instant
    ) {
        guard sides.contains(.remote) else { return }
        enqueue(bytes: payload.count) { recorder in
            let time = recorder.clocks.timeOfSound(timestamp, rate: codec.clockRate, capture: capture, near: now)
            recorder.takeSound(payload, codec: codec, duration: duration, time: time, of: .remote)
        }
    }

    /// - Parameter time: when the sound was taken, evened out.
    func sent(_ payload: [UInt8], codec: OffhookCodecs.AudioCodec, duration: Duration, time: Instant) {
        guard sides.contains(.local) else { return }
        enqueue(bytes: payload.count) { recorder in
            recorder.takeSound(payload, codec: codec, duration: duration, time: time, of: .local)
        }
    }

    // MARK: On the queue

    /// Returns whether there was room.
    @discardableResult
    private func enqueue(bytes: Int, _ work: @escaping @Sendable (CallRecorder) -> Void) -> Bool {
        let isAdmitted = status.withLock { status in
            guard !status.isClosed, status.waitingBytes + bytes <= Self.mostWaitingBytes else { return false }
            status.waitingBytes += bytes
            return true
        }
        guard isAdmitted else { return false }
        queue.async { [self] in
            work(self)
            if bytes > 0 { status.withLock { $0.waitingBytes -= bytes } }
        }
        return true
    }

    private func enqueuePicture(
        bytes: Int, of side: RecordingWorker.Side, _ work: @escaping @Sendable (CallRecorder) -> Void
    ) {
        let isAdmitted = enqueue(bytes: bytes) { recorder in
            let hadLoss = recorder.status.withLock { $0.sidesWithLoss.remove(side) != nil }
            if hadLoss { recorder.worker.forgetPicture(of: side) }
            work(recorder)
        }
        if !isAdmitted { status.withLock { _ = $0.sidesWithLoss.insert(side) } }
    }

    private func takePicture(
        _ bytes: [UInt8], isKeyFrame: Bool, size: VideoSize?, time: Instant, of side: RecordingWorker.Side,
        at now: Instant
    ) {
        let needsKeyFrame = worker.takePicture(
            bytes, isKeyFrame: isKeyFrame, size: size, time: time, of: side, at: now)
        if needsKeyFrame { keyFrameRequest.deliver { $0(side) } }
    }

    private func takeSound(
        _ payload: [UInt8], codec: OffhookCodecs.AudioCodec, duration: Duration, time: Instant,
        of side: RecordingWorker.Side
    ) {
        switch codec {
        case .opus: worker.takeSound(payload, duration: duration, time: time, of: side)
        case .muLaw: recode(G711.muLaw.decode(payload.span.bytes), time: time, of: side)
        case .aLaw: recode(G711.aLaw.decode(payload.span.bytes), time: time, of: side)
        }
    }

    /// Makes Opus of sound that came in a form that WebM has no place for.
    private func recode(_ samples: [Int16], time: Instant, of side: RecordingWorker.Side) {
        let coder =
            coders[side]
            // Fails only where memory is out; the recording then lacks the sound.
            ?? (try? AudioEncoderPipeline { [weak self] audio in
                guard let self, !audio.isPause else { return }
                let duration = Duration.nanoseconds(Int64(audio.units) * 1_000_000_000 / 48_000)
                queue.async { [self] in
                    worker.takeSound(audio.bytes, duration: duration, time: audio.captureTime, of: side)
                }
            })
        coders[side] = coder
        coder?.handleAudioFrame(AudioFrame(samples: samples, sampleRate: 8000, captureTime: time))
    }

    private func note() {
        let (error, duration) = (worker.writer.error, worker.duration)
        status.withLock { status in
            status.error = error
            status.duration = duration
        }
    }
}
