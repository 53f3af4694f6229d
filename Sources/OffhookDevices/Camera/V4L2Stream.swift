internal import CV4L2
internal import Glibc
internal import OffhookBasics
internal import OffhookCodecs
internal import OffhookMedia

/// Pictures flowing from an open camera into memory that the driver shares. It belongs to one thread; it stops with its
/// last reference.
final class V4L2Stream {
    /// What came out of the driver's queue.
    enum Outcome {
        /// A picture, taken at an instant, after so many lost ones.
        case frame(VideoFrame, lost: Int)
        /// A picture that was damaged.
        case damaged(lost: Int)
        /// No picture yet.
        case nothing
        /// The stream is over.
        case failed(SystemError)
    }

    let device: V4L2Device
    let format: CameraFormat

    private let converter: PixelConverter
    private let pool = VideoFramePool()
    private let rotation: VideoRotation
    private var buffers: [[UnsafeMutableRawBufferPointer]] = []
    // The driver writes plane descriptions here; their address must outlive each call.
    private let planes = UnsafeMutablePointer<v4l2_plane>.allocate(capacity: Int(VIDEO_MAX_PLANES))
    private var sequence = SequenceCounter()
    private var clock = CaptureClock()

    /// Sets the format and starts.
    init(_ device: V4L2Device, choice: CameraFormatChoice) throws(SystemError) {
        self.device = device
        planes.initialize(repeating: v4l2_plane(), count: Int(VIDEO_MAX_PLANES))
        rotation = device.rotation
        let layout: PixelConverter.Layout
        do {
            layout = try Self.setFormat(choice.format, of: device)
        } catch {
            planes.deallocate()
            throw error
        }
        guard let converter = PixelConverter(layout) else {
            planes.deallocate()
            throw SystemError(number: EINVAL)
        }
        self.converter = converter
        var format = choice.format
        format.size = layout.size
        self.format = format
        if let rate = choice.frameRate { Self.setRate(rate, of: device) }
        try allocate()
        var type = device.bufferType
        guard device.control(cv4l2_STREAMON, &type) == 0 else { throw SystemError(number: errno) }
    }

    deinit {
        // After an unplugging all of these fail, which changes nothing.
        var type = device.bufferType
        _ = device.control(cv4l2_STREAMOFF, &type)
        for buffer in buffers {
            for plane in buffer { munmap(plane.baseAddress, plane.count) }
        }
        var request = v4l2_requestbuffers()
        request.type = device.bufferType
        request.memory = V4L2_MEMORY_MMAP.rawValue
        _ = device.control(cv4l2_REQBUFS, &request)
        planes.deallocate()
    }

    private static func setFormat(
        _ wanted: CameraFormat, of device: V4L2Device
    ) throws(SystemError) -> PixelConverter.Layout {
        var format = v4l2_format()
        format.type = device.bufferType
        if device.isMultiPlanar {
            format.fmt.pix_mp.pixelformat = wanted.pixelFormat.code
            format.fmt.pix_mp.width = UInt32(clamping: wanted.size.width)
            format.fmt.pix_mp.height = UInt32(clamping: wanted.size.height)
            format.fmt.pix_mp.field = V4L2_FIELD_NONE.rawValue
        } else {
            format.fmt.pix.pixelformat = wanted.pixelFormat.code
            format.fmt.pix.width = UInt32(clamping: wanted.size.width)
            format.fmt.pix.height = UInt32(clamping: wanted.size.height)
            format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        }
        guard device.control(cv4l2_S_FMT, &format) == 0 else { throw SystemError(number: errno) }
        // A driver that cannot do what is asked sets something else.
        let layout: PixelConverter.Layout
        if device.isMultiPlanar {
            let set = format.fmt.pix_mp
            let strides = withUnsafeBytes(of: set.plane_fmt) { bytes in
                // The driver's array is packed: take the fields by their offsets, four bytes of size, then the stride.
                (0..<min(Int(set.num_planes), 8)).map { index in
                    Int(
                        bytes.loadUnaligned(
                            fromByteOffset: index * MemoryLayout<v4l2_plane_pix_format>.stride + 4, as: UInt32.self))
                }
            }
            layout = PixelConverter.Layout(
                pixelFormat: CameraPixelFormat(code: set.pixelformat),
                size: VideoSize(width: Int(set.width), height: Int(set.height)), strides: strides)
        } else {
            let set = format.fmt.pix
            layout = PixelConverter.Layout(
                pixelFormat: CameraPixelFormat(code: set.pixelformat),
                size: VideoSize(width: Int(set.width), height: Int(set.height)), strides: [Int(set.bytesperline)])
        }
        guard layout.pixelFormat == wanted.pixelFormat else { throw SystemError(number: EINVAL) }
        return layout
    }

    private static func setRate(_ rate: Double, of device: V4L2Device) {
        guard rate > 0 else { return }
        var parameters = v4l2_streamparm()
        parameters.type = device.bufferType
        parameters.parm.capture.timeperframe = v4l2_fract(
            numerator: 1000, denominator: UInt32(clamping: Int(rate * 1000)))
        // Cameras of one rate need not know the request: then they keep theirs.
        _ = device.control(cv4l2_S_PARM, &parameters)
    }

    private func allocate() throws(SystemError) {
        var request = v4l2_requestbuffers()
        request.count = 4
        request.type = device.bufferType
        request.memory = V4L2_MEMORY_MMAP.rawValue
        guard device.control(cv4l2_REQBUFS, &request) == 0 else { throw SystemError(number: errno) }
        guard request.count > 0 else { throw SystemError(number: ENOMEM) }
        for index in 0..<request.count {
            var buffer = makeBuffer(index: index)
            guard device.control(cv4l2_QUERYBUF, &buffer) == 0 else { throw SystemError(number: errno) }
            let places =
                device.isMultiPlanar
                ? (0..<Int(buffer.length)).map { (Int(planes[$0].length), Int(planes[$0].m.mem_offset)) }
                : [(Int(buffer.length), Int(buffer.m.offset))]
            buffers.append([])
            for (length, offset) in places {
                guard let address = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, device.descriptor, offset),
                    address != MAP_FAILED
                else { throw SystemError(number: errno) }
                buffers[Int(index)].append(UnsafeMutableRawBufferPointer(start: address, count: length))
            }
            guard device.control(cv4l2_QBUF, &buffer) == 0 else { throw SystemError(number: errno) }
        }
    }

    private func makeBuffer(index: UInt32 = 0) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.index = index
        buffer.type = device.bufferType
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        if device.isMultiPlanar {
            buffer.m.planes = planes
            buffer.length = UInt32(VIDEO_MAX_PLANES)
        }
        return buffer
    }

    /// Takes the next picture, if there is one, and gives its memory back to the driver.
    func next() -> Outcome {
        var buffer = makeBuffer()
        guard device.control(cv4l2_DQBUF, &buffer) == 0 else {
            return errno == EAGAIN ? .nothing : .failed(SystemError(number: errno))
        }
        let now = MonotonicClock.now
        let lost = sequence.lost(before: buffer.sequence)
        var outcome = Outcome.damaged(lost: lost)
        if Int(buffer.index) < buffers.count, buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0 {
            let picture = pool.takeBuffer(size: format.size)
            if converter.convert(content(of: buffer), into: picture) {
                let time = clock.captureTime(stamp: stamp(of: buffer), now: now)
                outcome = .frame(VideoFrame(buffer: picture, rotation: rotation, captureTime: time), lost: lost)
            }
        }
        guard device.control(cv4l2_QBUF, &buffer) == 0 else { return .failed(SystemError(number: errno)) }
        return outcome
    }

    private func content(of buffer: v4l2_buffer) -> [UnsafeRawBufferPointer] {
        buffers[Int(buffer.index)].enumerated().map { index, memory in
            var (start, end) = (0, Int(buffer.bytesused))
            if device.isMultiPlanar {
                start = Int(planes[index].data_offset)
                end = Int(planes[index].bytesused)
            }
            // Some drivers leave the count at 0 for formats of one size.
            if end == 0 { end = memory.count }
            end = min(end, memory.count)
            return UnsafeRawBufferPointer(rebasing: memory[min(start, end)..<end])
        }
    }

    private func stamp(of buffer: v4l2_buffer) -> Instant? {
        guard buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        else { return nil }
        return Instant(
            nanoseconds: Int64(buffer.timestamp.tv_sec) &* 1_000_000_000 &+ Int64(buffer.timestamp.tv_usec) &* 1000)
    }
}
