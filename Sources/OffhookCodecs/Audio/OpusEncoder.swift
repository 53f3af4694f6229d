internal import COpus

/// How an ``OpusEncoder`` works.
package struct OpusEncoderConfiguration: Hashable, Sendable {
    /// 1 or 2.
    package var channelCount = 1
    /// Bits a second, 6,000 to 510,000.
    package var bitrate = 32_000
    /// 0 to 10; 9 and 10 cost twice what 5 does.
    package var complexity = 5
    /// Whether packets carry a coarse copy of the one before, as the receiver's `useinbandfec` allows (RFC 7587 §6.1).
    package var usesForwardErrorCorrection = true
    /// The loss to prepare for, in per cent. At 0 there is no forward error correction to speak of.
    package var expectedLossPercent = 10
    /// Whether pauses are not sent, as the receiver's `usedtx` allows (RFC 7587 §6.1).
    package var usesDiscontinuousTransmission = false
    /// Whether the bit rate is constant, as the receiver's `cbr` asks for (RFC 7587 §6.1).
    package var usesConstantBitrate = false
    /// The highest sampling rate worth sending, as the receiver's `maxplaybackrate` tells (RFC 7587 §6.1).
    package var maximumPlaybackRate = 48_000

    /// The defaults: speech in mono.
    package init() {}
}

/// Encodes 48 kHz sound to Opus packets. It belongs to one thread.
package final class OpusEncoder {
    package private(set) var configuration: OpusEncoderConfiguration
    private let encoder: OpaquePointer
    private var packet = [UInt8](repeating: 0, count: 1500)

    package init(configuration: OpusEncoderConfiguration = OpusEncoderConfiguration()) throws(AudioCodecError) {
        guard (1...2).contains(configuration.channelCount) else { throw .unsupportedFormat }
        var status: Int32 = 0
        let created = opus_encoder_create(
            48000, Int32(configuration.channelCount), OPUS_APPLICATION_VOIP, &status)
        guard status == OPUS_OK, let created else { throw .unavailable }
        encoder = created
        self.configuration = configuration
        apply()
    }

    deinit {
        opus_encoder_destroy(encoder)
    }

    /// Changes everything but the number of channels, from the next packet on.
    package func setConfiguration(_ configuration: OpusEncoderConfiguration) {
        let channelCount = self.configuration.channelCount
        self.configuration = configuration
        self.configuration.channelCount = channelCount
        apply()
    }

    /// Encodes one packet of 2.5, 5, 10, 20, 40 or 60 ms, channels interleaved.
    ///
    /// - Returns: The packet. Two bytes or fewer need not be sent (RFC 7587 §3.1.3).
    package func encode(_ samples: [Int16]) throws(AudioCodecError) -> [UInt8] {
        let count = samples.count / configuration.channelCount
        guard [120, 240, 480, 960, 1920, 2880].contains(count), samples.count % configuration.channelCount == 0 else {
            throw .unsupportedFormat
        }
        let length = opus_encode(encoder, samples, Int32(count), &packet, Int32(packet.count))
        guard length >= 0 else { throw .unavailable }
        return Array(packet[..<Int(length)])
    }

    private func apply() {
        let bandwidth =
            switch configuration.maximumPlaybackRate {
            case ...8000: OPUS_BANDWIDTH_NARROWBAND
            case ...12000: OPUS_BANDWIDTH_MEDIUMBAND
            case ...16000: OPUS_BANDWIDTH_WIDEBAND
            case ...24000: OPUS_BANDWIDTH_SUPERWIDEBAND
            default: OPUS_BANDWIDTH_FULLBAND
            }
        let settings: [(Int32, Int)] = [
            (OPUS_SET_BITRATE_REQUEST, min(max(configuration.bitrate, 6_000), 510_000)),
            (OPUS_SET_COMPLEXITY_REQUEST, min(max(configuration.complexity, 0), 10)),
            (OPUS_SET_INBAND_FEC_REQUEST, configuration.usesForwardErrorCorrection ? 1 : 0),
            (OPUS_SET_PACKET_LOSS_PERC_REQUEST, min(max(configuration.expectedLossPercent, 0), 100)),
            (OPUS_SET_DTX_REQUEST, configuration.usesDiscontinuousTransmission ? 1 : 0),
            (OPUS_SET_VBR_REQUEST, configuration.usesConstantBitrate ? 0 : 1),
            (OPUS_SET_MAX_BANDWIDTH_REQUEST, Int(bandwidth)),
            (OPUS_SET_SIGNAL_REQUEST, Int(OPUS_SIGNAL_VOICE)),
        ]
        for (request, value) in settings {
            let status = copus_encoder_set(encoder, request, Int32(value))
            assert(status == OPUS_OK, "every value lies in the range that the request allows")
        }
    }
}
