/// A codec that this side can send and receive.
package struct CodecCapability: Hashable, Sendable {
    /// The name as registered, which is how it is written.
    package var name: String
    package var clockRate: UInt32
    package var channels: Int
    /// The number of RFC 3551, or the one we would like for our own offers; nil takes the next free one from 96 up.
    package var payloadType: UInt8?
    /// Our `a=fmtp`: what we ask of those who send to us.
    package var parameters: FormatParameters

    package init(
        _ name: String, clockRate: UInt32, channels: Int = 1, payloadType: UInt8? = nil,
        parameters: FormatParameters = ""
    ) {
        self.name = name
        self.clockRate = clockRate
        self.channels = channels
        self.payloadType = payloadType
        self.parameters = parameters
    }

    /// Opus, always 48000/2 whatever is sent (RFC 7587 §7).
    package static let opus = CodecCapability(
        "opus", clockRate: 48000, channels: 2, payloadType: 96, parameters: "useinbandfec=1")
    package static let pcmu = CodecCapability("PCMU", clockRate: 8000, payloadType: 0)
    package static let pcma = CodecCapability("PCMA", clockRate: 8000, payloadType: 8)
    package static let vp8 = CodecCapability("VP8", clockRate: 90000, payloadType: 97)

    /// VP8 with limits to what we want to be sent: frames in a second, and macroblocks in a frame (RFC 7741 §6.1).
    package static func vp8(maximumFrameRate: Int, maximumFrameSize: Int) -> CodecCapability {
        var codec = vp8
        codec.parameters = FormatParameters("max-fr=\(maximumFrameRate);max-fs=\(maximumFrameSize)")
        return codec
    }

    /// Whether both name the same codec; names ignore case (RFC 4855 §3).
    package func matches(_ map: RTPMapAttribute) -> Bool {
        clockRate == map.clockRate && channels == map.channels && name.isEqualIgnoringCase(map.encodingName)
    }
}
