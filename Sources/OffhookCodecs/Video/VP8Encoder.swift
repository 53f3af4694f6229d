internal import CVPX
internal import Glibc
package import OffhookBasics
package import OffhookMedia

/// Encodes pictures to VP8 in real time.
///
/// It belongs to one thread. Pictures come in any size, format and rotation; they leave upright, within the size
/// limit, and a change of size starts with a key frame.
package final class VP8Encoder {
    /// What is said of an encoded picture.
    package struct Picture: Hashable, Sendable {
        package var isKeyFrame: Bool
        package var size: VideoSize
        package var captureTime: Instant
    }

    package private(set) var configuration: VP8EncoderConfiguration
    private var shaper = PictureShaper()
    private var codec: Codec?
    private var isKeyFrameWanted = false
    private var firstCaptureTime: Instant?
    private var lastTimestamp: Int64 = -1

    package init(configuration: VP8EncoderConfiguration = VP8EncoderConfiguration()) {
        self.configuration = configuration
    }

    /// Samples that were copied to bring pictures into shape, in all.
    package var reshapedSamples: Int { shaper.writtenSamples }

    /// Bits a second from the next picture on.
    package func setBitrate(_ bitrate: Int) {
        let isFall = bitrate < configuration.bitrate * 4 / 5
        configuration.bitrate = bitrate
        codec?.update(configuration, forgetsSavings: isFall)
    }

    /// Pictures a second, to plan the rate by, from the next picture on.
    package func setFrameRate(_ frameRate: Double) {
        configuration.frameRate = frameRate
        codec?.update(configuration)
    }

    /// libvpx's `cpu-used` from the next picture on.
    package func setSpeed(_ speed: Int) {
        configuration.speed = speed
        codec?.setSpeed(speed)
    }

    /// The largest pictures from now on, of a camera and of a screen; nil lets pictures be as they come.
    package func setSizeLimit(_ limit: VideoSize?, ofScreens screenLimit: VideoSize?) {
        configuration.sizeLimit = limit
        configuration.screenSizeLimit = screenLimit
    }

    /// Makes the next picture a key frame: exactly one, however often this is called before it.
    package func requestKeyFrame() {
        isKeyFrameWanted = true
    }

    /// Encodes one picture and lends the bytes for the length of `body`, which is not called where the encoder leaves
    /// the picture out. A key frame that was asked for stays asked for until there is one.
    ///
    /// - Returns: Whether the picture was encoded.
    @discardableResult
    package func encode(_ frame: VideoFrame, _ body: (RawSpan, Picture) -> Void) throws(VideoCodecError) -> Bool {
        guard (1...16383).contains(frame.width), (1...16383).contains(frame.height) else {
            throw .unacceptableSize(frame.size)
        }
        if (frame.content == .screen) != configuration.isScreenContent {
            configuration.isScreenContent = frame.content == .screen
            codec?.setScreenContent(configuration.isScreenContent)
        }
        let limit = configuration.isScreenContent ? configuration.screenSizeLimit : configuration.sizeLimit
        let picture = shaper.shape(frame, within: limit)
        let codec = try codec(for: picture.size)
        var isDelivered = false
        try codec.encode(
            picture, timestamp: timestamp(of: frame), duration: UInt(90_000 / max(configuration.frameRate, 1)),
            asKeyFrame: isKeyFrameWanted
        ) { bytes, isKeyFrame in
            if isKeyFrame { isKeyFrameWanted = false }
            isDelivered = true
            body(bytes, Picture(isKeyFrame: isKeyFrame, size: picture.size, captureTime: frame.captureTime))
        }
        return isDelivered
    }

    private func codec(for size: VideoSize) throws(VideoCodecError) -> Codec {
        if let codec, codec.size == size { return codec }
        let new = try Codec(size: size, configuration: configuration)
        codec = new
        return new
    }

    /// The capture time on a 90 kHz clock that starts with the first picture and never stands still, as libvpx demands.
    private func timestamp(of frame: VideoFrame) -> Int64 {
        let first = firstCaptureTime ?? frame.captureTime
        firstCaptureTime = first
        let ticks = (frame.captureTime - first).inNanoseconds / 100_000 * 9
        lastTimestamp = max(ticks, lastTimestamp + 1)
        return lastTimestamp
    }
}

extension VP8Encoder {
    /// Owns a libvpx encoder for pictures of one size.
    private final class Codec {
        let size: VideoSize
        // libvpx keeps pointers into its context, which therefore has a fixed address.
        private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
        private var settings: vpx_codec_enc_cfg_t

        init(size: VideoSize, configuration: VP8EncoderConfiguration) throws(VideoCodecError) {
            self.size = size
            var settings = vpx_codec_enc_cfg_t()
            guard vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &settings, 0) == VPX_CODEC_OK else {
                throw .unavailable
            }
            settings.g_w = UInt32(size.width)
            settings.g_h = UInt32(size.height)
            settings.g_timebase = vpx_rational_t(num: 1, den: 90_000)
            settings.g_threads = UInt32(
                configuration.threads(for: size, processors: sysconf(Int32(_SC_NPROCESSORS_ONLN))))
            settings.g_error_resilient = vpx_codec_er_flags_t(VPX_ERROR_RESILIENT_DEFAULT)
            settings.g_lag_in_frames = 0
            settings.g_pass = VPX_RC_ONE_PASS
            settings.rc_end_usage = VPX_CBR
            settings.rc_resize_allowed = 0
            settings.rc_undershoot_pct = 100
            settings.rc_overshoot_pct = 15
            settings.rc_buf_initial_sz = 500
            settings.rc_buf_optimal_sz = 600
            settings.rc_buf_sz = 1000
            settings.kf_mode = VPX_KF_AUTO
            Self.apply(configuration, to: &settings)
            context = .allocate(capacity: 1)
            context.initialize(to: vpx_codec_ctx_t())
            self.settings = settings
            guard cvpx_vp8_encoder_init(context, &settings, 0) == VPX_CODEC_OK else {
                context.deallocate()
                throw .unavailable
            }
            setSpeed(configuration.speed)
            set(VP8E_SET_NOISE_SENSITIVITY, 0)
            set(VP8E_SET_TOKEN_PARTITIONS, 0)
            setScreenContent(configuration.isScreenContent)
            setKeyFrameBound(configuration)
        }

        deinit {
            vpx_codec_destroy(context)
            context.deallocate()
        }

        func setScreenContent(_ isScreenContent: Bool) {
            // Blocks that hardly changed are skipped: half the work on a still background.
            set(VP8E_SET_STATIC_THRESHOLD, isScreenContent ? 100 : 1)
            set(VP8E_SET_SCREEN_CONTENT_MODE, isScreenContent ? 1 : 0)
        }

        func setSpeed(_ speed: Int) {
            set(VP8E_SET_CPUUSED, min(max(speed, -16), 16))
        }

        /// Takes a configuration on. What was saved at a higher rate is worth several pictures at a much lower one: libvpx
        /// would spend it, and hold back the coarser quantizer meanwhile. A configuration whose buffer is small cuts it.
        func update(_ configuration: VP8EncoderConfiguration, forgetsSavings: Bool = false) {
            Self.apply(configuration, to: &settings)
            if forgetsSavings {
                var small = settings
                small.rc_buf_optimal_sz = settings.rc_buf_optimal_sz / 2
                small.rc_buf_sz = small.rc_buf_optimal_sz
                small.rc_buf_initial_sz = small.rc_buf_optimal_sz
                vpx_codec_enc_config_set(context, &small)
            }
            vpx_codec_enc_config_set(context, &settings)
            setKeyFrameBound(configuration)
        }

        func encode(
            _ picture: VideoFrameBuffer, timestamp: Int64, duration: UInt, asKeyFrame: Bool,
            _ body: (RawSpan, _ isKeyFrame: Bool) -> Void
        ) throws(VideoCodecError) {
            var image = vpx_image_t()
            // The picture is read where it lies; libvpx writes to none that it encodes.
            let planes = (0..<3).map { UnsafeMutablePointer(mutating: picture.pointer(toPlane: $0)) }
            vpx_img_wrap(&image, VPX_IMG_FMT_I420, UInt32(size.width), UInt32(size.height), 1, planes[0])
            image.planes = (planes[0], planes[1], planes[2], nil)
            image.stride = (
                Int32(picture.stride(ofPlane: 0)), Int32(picture.stride(ofPlane: 1)),
                Int32(picture.stride(ofPlane: 2)), 0
            )
            let flags = asKeyFrame ? vpx_enc_frame_flags_t(VPX_EFLAG_FORCE_KF) : 0
            let status = vpx_codec_encode(context, &image, timestamp, duration, flags, UInt(VPX_DL_REALTIME))
            guard status == VPX_CODEC_OK else { throw .failed }
            var iterator: vpx_codec_iter_t?
            while let packet = vpx_codec_get_cx_data(context, &iterator) {
                guard packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT, let bytes = cvpx_frame_bytes(packet) else {
                    continue
                }
                let buffer = UnsafeRawBufferPointer(start: bytes, count: cvpx_frame_byte_count(packet))
                body(buffer.bytes, cvpx_frame_is_key(packet) != 0)
            }
        }

        private static func apply(_ configuration: VP8EncoderConfiguration, to settings: inout vpx_codec_enc_cfg_t) {
            settings.rc_target_bitrate = UInt32(clamping: max(configuration.bitrate / 1000, 1))
            settings.rc_min_quantizer = UInt32(min(max(configuration.minimumQuantizer, 0), 63))
            settings.rc_max_quantizer = max(
                settings.rc_min_quantizer, UInt32(min(max(configuration.maximumQuantizer, 0), 63)))
            settings.rc_dropframe_thresh = configuration.dropsFrames ? 30 : 0
            settings.kf_max_dist = UInt32(clamping: max(configuration.keyFrameDistance, 1))
        }

        /// A key frame takes half of the buffer at most, which keeps its burst short.
        private func setKeyFrameBound(_ configuration: VP8EncoderConfiguration) {
            let percent = Double(settings.rc_buf_optimal_sz) * 0.5 * configuration.frameRate / 10
            set(VP8E_SET_MAX_INTRA_BITRATE_PCT, max(Int(percent), 300))
        }

        private func set(_ control: vp8e_enc_control_id, _ value: Int) {
            cvpx_control_int(context, Int32(control.rawValue), Int32(value))
        }
    }
}
