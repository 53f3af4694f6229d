import Offhook

// How values of the library look in event lines and statistics files.

extension JSONValue {
    init(_ channels: [VideoChannel]) {
        self = .list(
            channels.map { channel in
                .object([
                    "id": .text(channel.id.description),
                    "enabled": .boolean(channel.isEnabled),
                    "disabledReason": JSONValue(channel.disabledReason?.rawValue),
                    "requested": .text(channel.requestedDirection.rawValue),
                    "negotiated": .text(channel.negotiatedDirection.rawValue),
                    "codec": JSONValue(channel.codec?.rawValue),
                    "width": JSONValue(channel.receivedSize?.width),
                    "height": JSONValue(channel.receivedSize?.height),
                    "presentation": .boolean(channel.isPresentation),
                ])
            })
    }

    /// Both ways of one kind of media, as the summary has them.
    init(summaryOf media: MediaStatistics) {
        self = .object(["sent": JSONValue(summaryOf: media.sent), "received": JSONValue(summaryOf: media.received)])
    }

    private init(summaryOf stream: StreamStatistics) {
        self = .object(
            [
                "codec": JSONValue(stream.codec),
                "packets": JSONValue(stream.packets),
                "bytes": JSONValue(stream.bytes),
                "lost": JSONValue(stream.packetsLost),
                "frames": JSONValue(stream.frames),
                "width": JSONValue(stream.size?.width),
                "height": JSONValue(stream.size?.height),
                "jitter": JSONValue(seconds: stream.jitter),
                "roundTrip": JSONValue(seconds: stream.roundTrip),
                "encrypted": JSONValue(stream.encryptionSuite),
                "frozenSeconds": JSONValue(seconds: stream.frozenDuration),
                "keyFrames": JSONValue(stream.keyFrames),
            ])
    }

    /// Everything of one stream, as a sample has it.
    init(_ stream: StreamStatistics) {
        self = .object([
            "codec": JSONValue(stream.codec),
            "packets": JSONValue(stream.packets),
            "bytes": JSONValue(stream.bytes),
            "bitrate": JSONValue(stream.bitrate),
            "targetBitrate": JSONValue(stream.targetBitrate),
            "lost": JSONValue(stream.packetsLost),
            "repaired": JSONValue(stream.packetsRepaired),
            "lossFraction": .number(stream.lossFraction),
            "jitter": JSONValue(seconds: stream.jitter),
            "roundTrip": JSONValue(seconds: stream.roundTrip),
            "jitterBufferDelay": JSONValue(seconds: stream.jitterBufferDelay),
            "frames": JSONValue(stream.frames),
            "framesDropped": JSONValue(stream.framesDropped),
            "frameRate": .number(stream.frameRate),
            "targetFrameRate": .number(stream.targetFrameRate),
            "width": JSONValue(stream.size?.width),
            "height": JSONValue(stream.size?.height),
            "freezes": JSONValue(stream.freezes),
            "frozenSeconds": JSONValue(seconds: stream.frozenDuration),
            "keyFrames": JSONValue(stream.keyFrames),
            "pli": JSONValue(stream.pictureLossIndications),
            "fir": JSONValue(stream.fullIntraRequests),
            "nack": JSONValue(stream.negativeAcknowledgements),
            "concealedSamples": JSONValue(stream.concealedSamples),
            "samples": JSONValue(stream.samples),
            "encrypted": JSONValue(stream.encryptionSuite),
            "local": JSONValue(stream.transport.local?.description),
            "remote": JSONValue(stream.transport.remote?.description),
            "relayed": .boolean(stream.transport.isRelayed),
            "quality": .text("\(stream.quality)"),
        ])
    }

    init(_ error: CallError) {
        self = .object([
            "code": .text(error.code.description),
            "reason": .text(error.reason),
            "sipStatus": JSONValue(error.sipStatus),
            "denialReason": JSONValue(error.denialReason?.rawValue),
            "retryAfter": JSONValue(seconds: error.retryAfter),
        ])
    }
}
