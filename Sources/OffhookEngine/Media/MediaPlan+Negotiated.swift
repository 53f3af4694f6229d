internal import OffhookMedia
internal import OffhookSDP

/// What was agreed on, as codecs see it.
extension MediaPlan.Audio {
    init(_ media: NegotiatedMedia, isSilent: Bool, suiteName: String?) {
        sends = media.direction.sends && !isSilent
        receives = media.direction.receives
        sendFormat = media.sendCodecs.lazy.compactMap(MediaPlan.Format.init).first
        receiveFormats = media.acceptedCodecs.compactMap(MediaPlan.Format.init)
        // What we send is 20 ms a packet; a peer that asks for longer ones gets them in multiples of that.
        packetTime = min(max(media.packetTime ?? 20, 10), media.maximumPacketTime ?? 60, 60)
        self.suiteName = suiteName
    }
}

extension MediaPlan.Video {
    init(_ media: NegotiatedMedia, channel: ChannelHandle, isSilent: Bool, suiteName: String?) {
        self.channel = channel
        sends = media.direction.sends && !isSilent
        receives = media.direction.receives
        sendFormat = media.sendCodecs.lazy.compactMap(MediaPlan.Format.init).first
        bandwidth = media.bandwidth.payloadBitsPerSecond(packetsPerSecond: 200)
        self.suiteName = suiteName
    }
}

extension MediaPlan.Format {
    init?(_ codec: NegotiatedCodec) {
        switch codec.name.lowercased() {
        case "opus":
            self.init(codec: .opus, payloadType: codec.payloadType)
            usesForwardErrorCorrection = codec.parameters.flag("useinbandfec")
            usesDiscontinuousTransmission = codec.parameters.flag("usedtx")
            maximumBitrate = codec.parameters.number("maxaveragebitrate")
        case "pcmu": self.init(codec: .pcmu, payloadType: codec.payloadType)
        case "pcma": self.init(codec: .pcma, payloadType: codec.payloadType)
        case "vp8":
            self.init(codec: .vp8, payloadType: codec.payloadType)
            maximumFrameRate = codec.parameters.number("max-fr")
            maximumFrameSize = codec.parameters.number("max-fs")
        default: return nil
        }
    }
}
