internal import CVPX
internal import CYUV
package import OffhookBasics
package import OffhookMedia

/// Decodes VP8 frames to pictures from a pool.
///
/// It belongs to one thread. Frames may be hostile: sizes are looked at before libvpx may allocate for them, and after
/// any error nothing is decoded until a key frame comes.
package final class VP8Decoder {
    private let pool: VideoFramePool
    private let maximumPixels: Int
    private var codec: Codec?
    private var isWaitingForKeyFrame = true

    /// Makes a decoder that refuses pictures of more than so many pixels.
    package init(pool: VideoFramePool = VideoFramePool(), maximumPixels: Int = 4096 * 2304) {
        self.pool = pool
        self.maximumPixels = maximumPixels
    }

    /// Decodes one whole frame.
    ///
    /// - Returns: The picture; nil for a frame that is not to be shown (RFC 6386 §9.1).
    package func decode(_ frame: RawSpan, captureTime: Instant) throws(VideoCodecError) -> VideoFrame? {
        guard let header = VP8FrameHeader(parsing: frame) else { throw fail() }
        if let size = header.keyFrameSize {
            guard size.width > 0, size.height > 0, size.width * size.height <= maximumPixels else {
                isWaitingForKeyFrame = true
                throw .unacceptableSize(size)
            }
        } else if isWaitingForKeyFrame {
            throw .needsKeyFrame
        }
        if codec == nil { codec = try Codec() }
        guard let codec, codec.decode(frame) else {
            // What libvpx holds after an error is unknown; a fresh one is certain.
            self.codec = nil
            throw fail()
        }
        isWaitingForKeyFrame = false
        return codec.picture(from: pool).map { VideoFrame(buffer: $0, captureTime: captureTime) }
    }

    private func fail() -> VideoCodecError {
        isWaitingForKeyFrame = true
        return .needsKeyFrame
    }
}

/// The start of a VP8 frame that is not entropy coded (RFC 6386 §9.1).
package struct VP8FrameHeader: Hashable, Sendable {
    /// The picture's size, in a key frame alone.
    package let keyFrameSize: VideoSize?
    package let isShown: Bool

    package var isKeyFrame: Bool { keyFrameSize != nil }

    /// Nil for what cannot be a frame.
    package init?(parsing frame: RawSpan) {
        guard frame.byteCount >= 3 else { return nil }
        let first = frame.loadByte(at: 0)
        isShown = first & 0x10 != 0
        guard first & 1 == 0 else {
            keyFrameSize = nil
            return
        }
        guard frame.byteCount >= 10, frame.loadByte(at: 3) == 0x9D, frame.loadByte(at: 4) == 0x01,
            frame.loadByte(at: 5) == 0x2A
        else { return nil }
        let width = Int(frame.loadByte(at: 6)) | Int(frame.loadByte(at: 7) & 0x3F) << 8
        let height = Int(frame.loadByte(at: 8)) | Int(frame.loadByte(at: 9) & 0x3F) << 8
        keyFrameSize = VideoSize(width: width, height: height)
    }
}

extension VP8Decoder {
    /// Owns a libvpx decoder.
    private final class Codec {
        // libvpx keeps pointers into its context, which therefore has a fixed address.
        private let context: UnsafeMutablePointer<vpx_codec_ctx_t>

        init() throws(VideoCodecError) {
            context = .allocate(capacity: 1)
            context.initialize(to: vpx_codec_ctx_t())
            var settings = vpx_codec_dec_cfg_t(threads: 1, w: 0, h: 0)
            guard cvpx_vp8_decoder_init(context, &settings, 0) == VPX_CODEC_OK else {
                context.deallocate()
                throw .unavailable
            }
        }

        deinit {
            vpx_codec_destroy(context)
            context.deallocate()
        }

        /// Whether the frame was decoded with nothing missing.
        func decode(_ frame: RawSpan) -> Bool {
            let status = frame.withUnsafeBytes { bytes in
                vpx_codec_decode(
                    context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count), nil, 0)
            }
            guard status == VPX_CODEC_OK else { return false }
            var isCorrupted: Int32 = 0
            cvpx_control_pointer(context, Int32(VP8D_GET_FRAME_CORRUPTED.rawValue), &isCorrupted)
            return isCorrupted == 0
        }

        /// The picture just decoded, copied once: libvpx goes on predicting from its own.
        func picture(from pool: VideoFramePool) -> VideoFrameBuffer? {
            var iterator: vpx_codec_iter_t?
            guard let image = vpx_codec_get_frame(context, &iterator)?.pointee else { return nil }
            let buffer = pool.takeBuffer(size: VideoSize(width: Int(image.d_w), height: Int(image.d_h)))
            _ = I420Copy(
                image.planes.0, image.stride.0, image.planes.1, image.stride.1, image.planes.2, image.stride.2,
                buffer.pointerForWriting(toPlane: 0), Int32(buffer.stride(ofPlane: 0)),
                buffer.pointerForWriting(toPlane: 1), Int32(buffer.stride(ofPlane: 1)),
                buffer.pointerForWriting(toPlane: 2), Int32(buffer.stride(ofPlane: 2)),
                Int32(image.d_w), Int32(image.d_h))
            return buffer
        }
    }
}
