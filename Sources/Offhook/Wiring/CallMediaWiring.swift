internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookEngine
internal import OffhookMedia
internal import OffhookRTP

/// The codecs of one call, kept as its plan says, and the ends that the app sees.
///
/// It belongs to the loop's thread; encoders and decoders run on theirs.
final class CallMediaWiring {
    /// What codecs bring; called on codec threads.
    struct Handlers: Sendable {
        var encodedAudio: @Sendable (_ audio: EncodedAudio, _ payloadType: UInt8) -> Void
        var encodedVideo: @Sendable (EncodedVideoFrame) -> Void
        var needsKeyFrame: @Sendable () -> Void
        var now: @Sendable () -> Instant
    }

    let call: Call.ID
    let media: MediaServices
    private let handlers: Handlers
    private let limits: VideoLimits
    private(set) var plan = MediaPlan()

    let uplink: AudioUplink
    let downlink: AudioDownlink
    let recording: RecordingTap
    private let audioDecoder = AudioDecoderPipeline()
    private var isUplinkAttached = false

    private struct Video {
        var channel: VideoChannel.ID
        var encoder: VideoEncoderPipeline
        var decoder: VideoDecoderPipeline
        var sink: SentVideoSink
        var encoded: ReceivedEncodedVideo
    }

    private var video: Video?
    /// What the network and the far end allow at the moment; nil before they have told.
    private var videoTarget: VideoTarget?
    private var audioEncoder: (pipeline: AudioEncoderPipeline, configuration: AudioEncoderConfiguration)?
    private var expectedAudioLoss: Int?
    /// What Opus may take by agreement, and what is left for it at the moment.
    private var agreedAudioRate = 0
    private var audioLimit: Int?
    var rates = MediaRates()

    init(call: Call.ID, media: MediaServices, limits: VideoLimits, handlers: Handlers) {
        self.call = call
        self.media = media
        self.limits = limits
        self.handlers = handlers
        uplink = AudioUplink(now: handlers.now)
        recording = RecordingTap(now: handlers.now, requestKeyFrame: handlers.needsKeyFrame)
        downlink = AudioDownlink(audio: media.audioInterface, call: call)
        audioDecoder.setAudioSink(downlink)
    }

    // MARK: The plan

    func apply(_ plan: MediaPlan) {
        let former = self.plan
        self.plan = plan
        if plan.audio != former.audio { applyAudio(plan.audio) }
        if plan.video != former.video { applyVideo(plan.video, former: former.video) }
    }

    private func applyAudio(_ audio: MediaPlan.Audio?) {
        guard let audio, audio.sends, let format = audio.sendFormat,
            var configuration = AudioEncoderConfiguration(audio)
        else {
            uplink.setEncoder(nil)
            audioEncoder = nil
            return
        }
        if let expectedAudioLoss { configuration.opus.expectedLossPercent = expectedAudioLoss }
        agreedAudioRate = configuration.opus.bitrate
        if let audioLimit { configuration.opus.bitrate = min(configuration.opus.bitrate, audioLimit) }
        let handler = handlers.encodedAudio
        let payloadType = format.payloadType
        // Fails only where memory is out; the call then goes on without our sound.
        let encoder = try? AudioEncoderPipeline(configuration: configuration) {
            [recording, codec = configuration.codec] in
            recording.sent($0, codec: codec)
            handler($0, payloadType)
        }
        uplink.setEncoder(encoder)
        audioEncoder = encoder.map { ($0, configuration) }
        if !isUplinkAttached {
            isUplinkAttached = true
            media.audioInterface.attach(uplink, for: call)
        }
    }

    private func applyVideo(_ plan: MediaPlan.Video?, former: MediaPlan.Video?) {
        guard let plan else {
            video?.sink.setSending(false)
            return
        }
        let video = self.video ?? makeVideo(VideoChannel.ID(value: plan.channel.number))
        self.video = video
        updateTarget()
        video.sink.setSending(plan.sends && plan.sendFormat != nil)
        // The far end may have missed everything before: what is sent first must stand alone.
        if plan.sends, former?.sends != true { video.encoder.requestKeyFrame() }
    }

    private func makeVideo(_ channel: VideoChannel.ID) -> Video {
        var configuration = VP8EncoderConfiguration()
        configuration.bitrate = limits.startBitrate
        configuration.frameRate = Double(limits.maximumFrameRate)
        configuration.sizeLimit = limits.maximumSize
        configuration.screenSizeLimit = limits.maximumSize
        let encoder = VideoEncoderPipeline(configuration: configuration) {
            [recording, handler = handlers.encodedVideo] in
            recording.sent($0)
            handler($0)
        }
        recording.setEncoder(encoder)
        let decoder = VideoDecoderPipeline(needsKeyFrame: handlers.needsKeyFrame)
        let sink = SentVideoSink(encoder: encoder)
        let encoded = ReceivedEncodedVideo(wantsKeyFrame: handlers.needsKeyFrame)
        let source = ReceivedVideoSource(decoder: decoder, wantsKeyFrame: handlers.needsKeyFrame)
        media.videoInterface.add(VideoLine(source: source, sink: sink, encodedSource: encoded), for: channel)
        return Video(channel: channel, encoder: encoder, decoder: decoder, sink: sink, encoded: encoded)
    }

    // MARK: Sending

    func encodeKeyFrame() {
        video?.encoder.requestKeyFrame()
    }

    func setVideoTarget(_ target: VideoTarget) {
        videoTarget = target
        updateTarget()
    }

    /// Sets how much of our sound is lost, in per cent, which tells Opus how much to send twice.
    func setExpectedAudioLoss(_ percent: Int) {
        expectedAudioLoss = percent
        guard let (pipeline, current) = audioEncoder else { return }
        var configuration = current
        configuration.opus.expectedLossPercent = percent
        audioEncoder = (pipeline, configuration)
        pipeline.setConfiguration(configuration)
    }

    /// Sets what our sound may take at most; nil: what was agreed.
    func setAudioLimit(_ limit: Int?) {
        audioLimit = limit
        guard let (pipeline, current) = audioEncoder else { return }
        var configuration = current
        configuration.opus.bitrate = min(agreedAudioRate, limit ?? .max)
        audioEncoder = (pipeline, configuration)
        pipeline.setConfiguration(configuration)
    }

    private func updateTarget() {
        guard let video, let plan = plan.video else { return }
        var bitrate = limits.startBitrate
        if let videoTarget { bitrate = videoTarget.bitsPerSecond }
        bitrate = max(30_000, min(bitrate, plan.bandwidth ?? .max, limits.maximumBitrate))
        var frameRate = min(Double(limits.maximumFrameRate), videoTarget?.maximumFrameRate ?? .infinity)
        if let limit = plan.sendFormat?.maximumFrameRate, limit > 0 { frameRate = min(frameRate, Double(limit)) }
        video.encoder.setTarget(
            bitrate: bitrate, sizeLimit: targetSize(plan), screenSizeLimit: sizeLimit(plan), frameRate: frameRate)
    }

    /// The largest picture that the rate is good for, in the shape of what is allowed.
    private func targetSize(_ plan: MediaPlan.Video) -> VideoSize {
        let allowed = sizeLimit(plan)
        guard let pixels = videoTarget?.maximumPixels, allowed.width * allowed.height > pixels else { return allowed }
        let scale = (Double(pixels) / Double(allowed.width * allowed.height)).squareRoot()
        return VideoSize(
            width: max(16, Int((Double(allowed.width) * scale / 2).rounded()) * 2),
            height: max(16, Int((Double(allowed.height) * scale / 2).rounded()) * 2))
    }

    /// The largest picture that our limits and the far end's `max-fs` allow (RFC 7741 §6.1), in the limits' own shape.
    private func sizeLimit(_ plan: MediaPlan.Video) -> VideoSize {
        var size = limits.maximumSize
        guard let macroblocks = plan.sendFormat?.maximumFrameSize, macroblocks > 0 else { return size }
        while ((size.width + 15) / 16) * ((size.height + 15) / 16) > macroblocks, size.width > 16, size.height > 16 {
            size = VideoSize(width: size.width * 15 / 16, height: size.height * 15 / 16)
        }
        return size
    }

    // MARK: Receiving

    func decode(_ frame: ReceivedVideoFrame, at now: Instant) {
        guard let video else { return }
        video.encoded.handle(frame)
        recording.received(frame, at: now)
        video.decoder.decode(isKeyFrame: frame.isKeyFrame, captureTime: now) { body in body(frame.buffer.bytes) }
    }

    /// Whether the player needs another stretch of sound for its next 20 ms.
    var isAudioDue: Bool {
        plan.audio?.receives == true && audioDecoder.bufferedDuration < .milliseconds(20)
    }

    func play(_ playout: AudioPlayout, speed: PlayoutSpeed, at now: Instant) {
        guard let step = step(for: playout) else { return }
        if case .packet(let packet) = playout, case .packet(let payload, let codec) = step {
            recording.received(packet, payload: payload, codec: codec, at: now)
        }
        audioDecoder.decode(step, speed: AudioDecoderSpeed(speed))
    }

    private func step(for playout: AudioPlayout) -> AudioDecoderStep? {
        switch playout {
        case .packet(let packet):
            guard let codec = codec(of: packet) else { return .conceal(packet.duration) }
            return .packet(packet.payload.withUnsafeBytes { Array($0) }, codec)
        case .forwardErrorCorrection(let packet):
            guard codec(of: packet) == .opus else { return .conceal(packet.duration) }
            return .forwardErrorCorrection(packet.payload.withUnsafeBytes { Array($0) }, packet.duration)
        case .conceal(let duration): return .conceal(duration)
        case .silence(let duration): return .silence(duration)
        }
    }

    private func codec(of packet: AudioPacket) -> OffhookCodecs.AudioCodec? {
        switch plan.audio?.receiveFormats.first(where: { $0.payloadType == packet.payloadType })?.codec {
        case .opus: .opus
        case .pcmu: .muLaw
        case .pcma: .aLaw
        case .vp8, nil: nil
        }
    }

    /// Every 20 ms: plays what is decoded, and sends silence where no microphone speaks.
    func tick(at now: Instant) {
        if plan.audio?.receives == true { audioDecoder.play(at: now) }
        if plan.audio?.sends == true { uplink.fillSilence(at: now) }
        recording.advance(to: now)
    }

    // MARK: The end

    func end() {
        recording.end()
        uplink.setEncoder(nil)
        media.audioInterface.detach(call)
        audioDecoder.stop()
        guard let video else { return }
        video.sink.setSending(false)
        video.encoder.stop()
        video.decoder.stop()
        media.videoInterface.remove(video.channel)
    }

    var codecFigures: CodecFigures {
        CodecFigures(
            audioPacketsEncoded: uplink.packetsEncoded, audioDecoder: audioDecoder.counters,
            videoEncoder: video?.encoder.counters,
            videoDecoder: video?.decoder.counters)
    }
}

/// What the codecs of a call have counted.
struct CodecFigures {
    var audioPacketsEncoded: Int
    var audioDecoder: AudioDecoderPipeline.Counters
    var videoEncoder: VideoEncoderPipeline.Counters?
    var videoDecoder: VideoDecoderPipeline.Counters?
}

extension AudioDecoderSpeed {
    fileprivate init(_ speed: PlayoutSpeed) {
        self =
            switch speed {
            case .normal: .normal
            case .accelerate: .accelerated
            case .expand: .expanded
            }
    }
}

extension AudioEncoderConfiguration {
    fileprivate init?(_ audio: MediaPlan.Audio) {
        guard let format = audio.sendFormat else { return nil }
        switch format.codec {
        case .opus: self.init(codec: .opus)
        case .pcmu: self.init(codec: .muLaw)
        case .pcma: self.init(codec: .aLaw)
        case .vp8: return nil
        }
        packetDuration = .milliseconds(audio.packetTime)
        opus.usesForwardErrorCorrection = format.usesForwardErrorCorrection
        opus.usesDiscontinuousTransmission = format.usesDiscontinuousTransmission
        if let limit = format.maximumBitrate { opus.bitrate = min(opus.bitrate, max(limit, 6000)) }
    }
}
