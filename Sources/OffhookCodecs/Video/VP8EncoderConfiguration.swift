package import OffhookMedia

/// How a ``VP8Encoder`` works.
package struct VP8EncoderConfiguration: Hashable, Sendable {
    /// The largest picture to make, in either orientation; larger ones are scaled down. Nil: as they come.
    package var sizeLimit: VideoSize?
    /// The largest picture of a screen: unlike a camera's it is not made smaller to suit the bit rate, as it must stay
    /// readable, and pictures are left out instead.
    package var screenSizeLimit: VideoSize?
    /// Bits a second.
    package var bitrate = 500_000
    /// Pictures a second to plan the rate by.
    package var frameRate = 30.0
    /// libvpx's `cpu-used` for real time: from -16 (fastest) to -1.
    package var speed = -8
    /// The finest quantizer, 0 to 63.
    package var minimumQuantizer = 2
    /// The coarsest quantizer, 0 to 63.
    package var maximumQuantizer = 56
    /// Whether the encoder may leave out pictures to hold its bit rate.
    package var dropsFrames = true
    /// Pictures after which a key frame comes without being asked for.
    package var keyFrameDistance = 3000
    /// Encoder threads; nil: by the size of the picture and the number of processors.
    package var threadCount: Int?
    /// Whether pictures are a screen's, not a camera's. Follows ``VideoFrame/content``.
    package var isScreenContent = false

    /// The defaults: a camera's picture for a call.
    package init() {}

    func threads(for size: VideoSize, processors: Int) -> Int {
        if let threadCount { return max(threadCount, 1) }
        let pixels = size.width * size.height
        if pixels >= 1920 * 1080, processors >= 8 { return 4 }
        if pixels > 1280 * 720, processors >= 6 { return 3 }
        if pixels > 640 * 480, processors >= 3 { return 2 }
        return 1
    }
}
