package import OffhookMedia

/// One track of a WebM file, as its header tells it.
package struct WebMTrack: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// VP8. The size is the largest that any of its pictures has.
        case vp8(VideoSize)
        /// Opus at 48 kHz.
        case opus(channelCount: Int)
    }

    package var number: Int
    /// For people.
    package var name: String
    /// Whether players that show one track of a kind should take this one.
    package var isDefault: Bool
    package var content: Content

    package init(number: Int, name: String, isDefault: Bool, content: Content) {
        self.number = number
        self.name = name
        self.isDefault = isDefault
        self.content = content
    }

    var isVideo: Bool {
        if case .vp8 = content { true } else { false }
    }

    /// The track's entry in the header (RFC 9559 §5.1.4.1).
    var entry: [UInt8] {
        var entry = EBML.unsigned(0xD7, UInt64(number))
        // The identifier need only be unlike those of the other tracks.
        entry += EBML.unsigned(0x73C5, UInt64(number)) + EBML.unsigned(0x9C, 0)
        entry += EBML.unsigned(0x88, isDefault ? 1 : 0) + EBML.text(0x22B59C, "und") + EBML.text(0x536E, name)
        switch content {
        case .vp8(let size):
            entry += EBML.unsigned(0x83, 1) + EBML.text(0x86, "V_VP8")
            let picture =
                EBML.unsigned(0xB0, UInt64(max(size.width, 1))) + EBML.unsigned(0xBA, UInt64(max(size.height, 1)))
            entry += EBML.element(0xE0, picture)
        case .opus(let channelCount):
            entry += EBML.unsigned(0x83, 2) + EBML.text(0x86, "A_OPUS")
            entry += EBML.element(0x63A2, Self.opusHead(channelCount: channelCount))
            entry += EBML.unsigned(0x56AA, UInt64(Self.preSkip) * 1_000_000_000 / 48_000)
            // A decoder that begins in the middle needs 80 ms to find its feet (RFC 7845 §4.6).
            entry += EBML.unsigned(0x56BB, 80_000_000)
            entry += EBML.element(0xE1, EBML.float(0xB5, 48_000) + EBML.unsigned(0x9F, UInt64(channelCount)))
        }
        return EBML.element(0xAE, entry)
    }

    /// Samples by which an Opus encoder for speech lags behind: 6.5 ms. Players subtract them from the timestamps.
    private static let preSkip: UInt16 = 312

    /// RFC 7845 §5.1.
    private static func opusHead(channelCount: Int) -> [UInt8] {
        Array("OpusHead".utf8) + [1, UInt8(clamping: channelCount)] + littleEndianBytes(preSkip)
            + littleEndianBytes(UInt32(48_000)) + littleEndianBytes(UInt16(0)) + [0]
    }
}
