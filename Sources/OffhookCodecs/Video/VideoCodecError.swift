package import OffhookMedia

/// Why a picture could not be encoded or decoded.
package enum VideoCodecError: Error, Hashable, Sendable {
    /// The frame cannot be understood without one that is missing or was damaged: decoding goes on at a key frame.
    case needsKeyFrame
    /// The picture has no pixels, or more than the limit allows.
    case unacceptableSize(VideoSize)
    /// The library refused its configuration or ran out of memory.
    case unavailable
    /// The library gave up on this picture.
    case failed
}
