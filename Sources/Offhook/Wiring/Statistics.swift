internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookEngine
internal import OffhookMedia
internal import OffhookRTP

/// What went by in the last second, from one sample to the next.
struct MediaRates {
    struct Stream {
        var bytes = 0
        var frames = 0
        var packets = 0
        var lost = 0
        var bitrate = 0
        var frameRate = 0.0
        var lossFraction = 0.0

        mutating func sample(bytes: Int, frames: Int, packets: Int, lost: Int, seconds: Double) {
            bitrate = Int(Double(max(bytes - self.bytes, 0)) * 8 / seconds)
            frameRate = Double(max(frames - self.frames, 0)) / seconds
            let newLost = max(lost - self.lost, 0)
            let expected = max(packets - self.packets, 0) + newLost
            lossFraction = expected > 0 ? Double(newLost) / Double(expected) : 0
            (self.bytes, self.frames, self.packets, self.lost) = (bytes, frames, packets, lost)
        }
    }

    var sampledAt: Instant?
    var audioSent = Stream()
    var audioReceived = Stream()
    var videoSent = Stream()
    var videoReceived = Stream()

    mutating func sample(_ figures: CallFigures, _ codecs: CodecFigures, at now: Instant) {
        let seconds = max(sampledAt.map { (now - $0).inSeconds } ?? 1, 0.1)
        sampledAt = now
        if let audio = figures.audio?.statistics {
            audioSent.sample(
                bytes: audio.sent.payloadBytes, frames: audio.sent.packets, packets: audio.sent.packets, lost: 0,
                seconds: seconds)
            audioReceived.sample(
                bytes: audio.received.payloadBytes, frames: audio.received.packets, packets: audio.received.packets,
                lost: audio.received.packetsLost, seconds: seconds)
        }
        if let video = figures.video?.statistics {
            videoSent.sample(
                bytes: video.sent.payloadBytes, frames: video.sent.frames, packets: video.sent.packets, lost: 0,
                seconds: seconds)
            videoReceived.sample(
                bytes: video.received.payloadBytes, frames: codecs.videoDecoder?.framesDecoded ?? 0,
                packets: video.received.packets, lost: video.received.packetsLost, seconds: seconds)
        }
    }
}

extension EngineHost {
    func sampleRates(at now: Instant) {
        for (handle, call) in calls {
            guard let figures = engine.figures(of: handle, at: now) else { continue }
            call.media.rates.sample(figures, call.media.codecFigures, at: now)
        }
    }
}

extension CallStatistics {
    init(_ figures: CallFigures, _ media: CallMediaWiring, at now: Instant) {
        self.init()
        let codecs = media.codecFigures
        setupDuration = figures.setupDuration
        if let up = figures.establishedAt { establishedDuration = now - up }
        signalingTransport = figures.transport.map { SignalingTransport($0) }
        if let line = figures.audio {
            audio.sent = StreamStatistics(sent: line, figures, media.rates.audioSent)
            audio.received = StreamStatistics(received: line, figures, media.rates.audioReceived)
            let rate = { (codec: String?) in codec == "opus" ? 48000 : codec == nil ? 0 : 8000 }
            audio.sent.sampleRate = rate(audio.sent.codec)
            audio.received.sampleRate = rate(audio.received.codec)
            audio.sent.frames = UInt64(clamping: codecs.audioPacketsEncoded)
            audio.received.frames = UInt64(clamping: codecs.audioDecoder.packetsDecoded)
            audio.received.samples = UInt64(clamping: codecs.audioDecoder.samplesPlayed)
            audio.received.concealedSamples = UInt64(clamping: codecs.audioDecoder.samplesConcealed)
        }
        if let line = figures.video {
            video.sent = StreamStatistics(sent: line, figures, media.rates.videoSent)
            video.received = StreamStatistics(received: line, figures, media.rates.videoReceived)
            if let encoder = codecs.videoEncoder {
                video.sent.size = encoder.size
                video.sent.targetBitrate = encoder.targetBitrate
                video.sent.framesDropped = UInt64(clamping: encoder.framesReplaced + encoder.framesLeftOut)
            }
            if let decoder = codecs.videoDecoder {
                video.received.size = decoder.size
                video.received.frames = UInt64(clamping: decoder.framesDecoded)
                video.received.framesDropped = UInt64(clamping: decoder.framesDropped + decoder.framesRefused)
            }
        }
    }
}

extension StreamStatistics {
    fileprivate init(sent line: CallFigures.Line, _ figures: CallFigures, _ rates: MediaRates.Stream) {
        self.init(line, figures, rates)
        let sent = line.statistics.sent
        codec = line.sendCodecName?.lowercased()
        packets = UInt64(clamping: sent.packets)
        bytes = UInt64(clamping: sent.payloadBytes)
        packetsLost = Int64(clamping: sent.remotePacketsLost ?? 0)
        lossFraction = sent.remoteFractionLost ?? 0
        jitter = sent.remoteJitter ?? .zero
        packetsRepaired = UInt64(clamping: sent.retransmittedPackets)
        frames = UInt64(clamping: sent.frames)
        keyFrames = UInt64(clamping: sent.keyFrames)
        pictureLossIndications = UInt64(clamping: sent.pictureLossIndicationsReceived)
        fullIntraRequests = UInt64(clamping: sent.fullIntraRequestsReceived)
        negativeAcknowledgements = UInt64(clamping: sent.nacksReceived)
        quality = QualityLevel(lossFraction: lossFraction, roundTrip: roundTrip, flows: packets > 0)
    }

    fileprivate init(received line: CallFigures.Line, _ figures: CallFigures, _ rates: MediaRates.Stream) {
        self.init(line, figures, rates)
        let received = line.statistics.received
        codec = line.receiveCodecName?.lowercased()
        packets = UInt64(clamping: received.packets)
        bytes = UInt64(clamping: received.payloadBytes)
        packetsLost = Int64(clamping: received.packetsLost)
        packetsRepaired = UInt64(clamping: received.repairedPackets)
        lossFraction = rates.lossFraction
        jitter = received.jitter
        jitterBufferDelay = received.jitterBufferDelay
        frames = UInt64(clamping: received.frames)
        framesDropped = UInt64(clamping: received.framesDropped)
        keyFrames = UInt64(clamping: received.keyFrames)
        freezes = UInt64(clamping: received.freezes)
        frozenDuration = received.frozenDuration
        pictureLossIndications = UInt64(clamping: received.pictureLossIndicationsSent)
        fullIntraRequests = UInt64(clamping: received.fullIntraRequestsSent)
        negativeAcknowledgements = UInt64(clamping: received.nacksSent)
        quality = QualityLevel(lossFraction: lossFraction, roundTrip: roundTrip, flows: packets > 0)
    }

    private init(_ line: CallFigures.Line, _ figures: CallFigures, _ rates: MediaRates.Stream) {
        self.init()
        bitrate = rates.bitrate
        frameRate = rates.frameRate
        roundTrip = line.statistics.roundTrip
        encryptionSuite = line.suiteName
        transport.local = figures.localAddress.map { Endpoint($0, line.localPort) }
        transport.remote = line.remote
        transport.isRelayed = line.isRelayed
    }
}

extension QualityLevel {
    /// What loss and round trip do to a conversation (after ITU-T G.107: delay over 300 ms and loss over 10 % are felt by all).
    fileprivate init(lossFraction: Double, roundTrip: Duration?, flows: Bool) {
        guard flows else {
            self = .unknown
            return
        }
        let delay = roundTrip?.inMilliseconds ?? 0
        self =
            switch (lossFraction, delay) {
            case (..<0.02, ..<300): .good
            case (..<0.05, ..<500): .fair
            case (..<0.12, ..<800): .poor
            default: .bad
            }
    }
}
