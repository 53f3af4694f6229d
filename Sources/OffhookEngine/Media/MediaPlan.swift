/// How a call's media is to be coded: what codecs and devices must do for the negotiated streams.
package struct MediaPlan: Hashable, Sendable {
    /// A codec with its number in one direction.
    package struct Format: Hashable, Sendable {
        package enum Codec: Hashable, Sendable {
            case opus
            case pcmu
            case pcma
            case vp8
        }

        package var codec: Codec
        package var payloadType: UInt8
        /// Opus: what the far end asks of us (RFC 7587 §6.1).
        package var usesForwardErrorCorrection = true
        package var usesDiscontinuousTransmission = false
        package var maximumBitrate: Int?
        /// VP8: what the far end can take at most (RFC 7741 §6.1).
        package var maximumFrameRate: Int?
        /// In macroblocks of 16 × 16 pixels.
        package var maximumFrameSize: Int?
    }

    package struct Audio: Hashable, Sendable {
        /// Whether the microphone's sound goes out.
        package var sends = false
        package var receives = false
        package var sendFormat: Format?
        package var receiveFormats: [Format] = []
        /// Milliseconds of sound a packet.
        package var packetTime = 20
        package var suiteName: String?
    }

    package struct Video: Hashable, Sendable {
        package var channel: ChannelHandle
        package var sends = false
        package var receives = false
        package var sendFormat: Format?
        /// What the far end's description allows, in bits per second of payload; nil without a limit.
        package var bandwidth: Int?
        package var suiteName: String?
    }

    package var audio: Audio?
    package var video: Video?

    /// Nothing flows.
    package init() {}
}
