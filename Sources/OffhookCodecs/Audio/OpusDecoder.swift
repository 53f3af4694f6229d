internal import COpus

/// Decodes Opus packets, mono or stereo, to 48 kHz sound. It belongs to one thread.
package final class OpusDecoder {
    package let channelCount: Int
    private let decoder: OpaquePointer
    /// A packet holds 120 ms at most (RFC 6716 §2.1.4).
    private static let maximumSamples = 5760
    private var output: [Int16]

    /// Makes a decoder whose output has so many channels, whatever the packets have.
    package init(channelCount: Int = 1) throws(AudioCodecError) {
        guard (1...2).contains(channelCount) else { throw .unsupportedFormat }
        var status: Int32 = 0
        let created = opus_decoder_create(48000, Int32(channelCount), &status)
        guard status == OPUS_OK, let created else { throw .unavailable }
        decoder = created
        self.channelCount = channelCount
        output = [Int16](repeating: 0, count: Self.maximumSamples * channelCount)
    }

    deinit {
        opus_decoder_destroy(decoder)
    }

    /// Samples of one channel that a packet plays at 48 kHz, read off its first bytes; nil for what is no packet.
    package static func sampleCount(of packet: RawSpan) -> Int? {
        guard packet.byteCount > 0 else { return nil }
        let count = packet.withUnsafeBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
            return opus_packet_get_nb_samples(start, Int32(clamping: bytes.count), 48000)
        }
        return count > 0 && Int(count) <= maximumSamples ? Int(count) : nil
    }

    /// Decodes one packet.
    package func decode(_ packet: RawSpan) throws(AudioCodecError) -> [Int16] {
        guard packet.byteCount > 0 else { throw .invalidPayload }
        return try run(packet, capacity: Self.maximumSamples, recovers: false)
    }

    /// Decodes what a packet says of the lost one before it, whose length is given; where it says nothing, makes
    /// something up.
    package func decodeForwardErrorCorrection(in packet: RawSpan, sampleCount: Int) throws(AudioCodecError) -> [Int16] {
        guard packet.byteCount > 0 else { throw .invalidPayload }
        return try run(packet, capacity: Self.whole(sampleCount), recovers: true)
    }

    /// Makes up sound in place of a lost packet.
    package func conceal(sampleCount: Int) throws(AudioCodecError) -> [Int16] {
        let count = opus_decode(decoder, nil, 0, &output, Int32(Self.whole(sampleCount)), 0)
        guard count > 0 else { throw .unavailable }
        return Array(output[..<(Int(count) * channelCount)])
    }

    private func run(_ packet: RawSpan, capacity: Int, recovers: Bool) throws(AudioCodecError) -> [Int16] {
        guard packet.byteCount <= Int32.max else { throw .invalidPayload }
        let count = packet.withUnsafeBytes { bytes in
            opus_decode(
                decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), &output,
                Int32(capacity), recovers ? 1 : 0)
        }
        guard count > 0 else { throw .invalidPayload }
        return Array(output[..<(Int(count) * channelCount)])
    }

    /// libopus makes up multiples of 2.5 ms.
    private static func whole(_ sampleCount: Int) -> Int {
        min(max(sampleCount / 120 * 120, 120), maximumSamples)
    }
}
