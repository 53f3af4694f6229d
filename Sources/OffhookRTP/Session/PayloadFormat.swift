/// What one payload type number stands for in one direction, as signalling agreed on it.
package struct PayloadFormat: Hashable, Sendable {
    package enum Codec: Hashable, Sendable {
        case opus
        case pcmu
        case pcma
        /// Any other audio codec; the name is the rtpmap's, in lower case.
        case otherAudio(String)
        case vp8
        /// RFC 4733.
        case telephoneEvent
        /// RFC 3389.
        case comfortNoise
        /// RFC 4588, of the format with this payload type.
        case retransmission(of: UInt8)
    }

    package var payloadType: UInt8
    package var codec: Codec
    /// The RTP clock: 48000 for Opus whatever the channels (RFC 7587 §4.1), 90000 for video.
    package var clockRate: Int

    package init(payloadType: UInt8, codec: Codec, clockRate: Int) {
        self.payloadType = payloadType
        self.codec = codec
        self.clockRate = clockRate
    }
}

/// The local identifiers of the header extensions in use (RFC 8285); nil where one was not agreed on.
package struct HeaderExtensionIdentifiers: Hashable, Sendable {
    /// RFC 9143 §15.
    package static let mediaIdentificationURI = "urn:ietf:params:rtp-hdrext:sdes:mid"
    /// When a packet left, in 24 bits.
    package static let absoluteSendTimeURI = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    /// The number of a packet among all that take its way.
    package static let transportSequenceNumberURI =
        "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

    package var mediaIdentification: UInt8?
    package var absoluteSendTime: UInt8?
    package var transportSequenceNumber: UInt8?

    package init(
        mediaIdentification: UInt8? = nil, absoluteSendTime: UInt8? = nil, transportSequenceNumber: UInt8? = nil
    ) {
        self.mediaIdentification = mediaIdentification
        self.absoluteSendTime = absoluteSendTime
        self.transportSequenceNumber = transportSequenceNumber
    }
}
