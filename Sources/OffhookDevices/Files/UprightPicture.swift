internal import CYUV
internal import OffhookCodecs
internal import OffhookMedia

/// Brings pictures of any layout and rotation to upright I420, of a size if one is asked for. It belongs to one thread.
struct UprightPicture {
    private let pool = VideoFramePool()

    func make(of frame: VideoFrame, size wanted: VideoSize? = nil) -> VideoFrameBuffer? {
        guard let plain = planar(frame.buffer), let turned = turn(plain, frame.rotation) else { return nil }
        guard let wanted, wanted != turned.size else { return turned }
        return scale(turned, to: wanted)
    }

    private func planar(_ source: VideoFrameBuffer) -> VideoFrameBuffer? {
        guard source.pixelFormat == .nv12 else { return source }
        let target = pool.takeBuffer(size: source.size)
        let status = NV12ToI420(
            source.pointer(toPlane: 0), source.stride(0), source.pointer(toPlane: 1), source.stride(1),
            target.pointerForWriting(toPlane: 0), target.stride(0), target.pointerForWriting(toPlane: 1),
            target.stride(1),
            target.pointerForWriting(toPlane: 2), target.stride(2), Int32(source.size.width), Int32(source.size.height))
        return status == 0 ? target : nil
    }

    private func turn(_ source: VideoFrameBuffer, _ rotation: VideoRotation) -> VideoFrameBuffer? {
        let mode: RotationMode
        switch rotation {
        case .none: return source
        case .quarter: mode = kRotate90
        case .half: mode = kRotate180
        case .threeQuarters: mode = kRotate270
        }
        let size =
            rotation == .half ? source.size : VideoSize(width: source.size.height, height: source.size.width)
        let target = VideoFrameBuffer(size: size)
        let status = I420Rotate(
            source.pointer(toPlane: 0), source.stride(0), source.pointer(toPlane: 1), source.stride(1),
            source.pointer(toPlane: 2), source.stride(2), target.pointerForWriting(toPlane: 0), target.stride(0),
            target.pointerForWriting(toPlane: 1), target.stride(1), target.pointerForWriting(toPlane: 2),
            target.stride(2),
            Int32(source.size.width), Int32(source.size.height), mode)
        return status == 0 ? target : nil
    }

    private func scale(_ source: VideoFrameBuffer, to size: VideoSize) -> VideoFrameBuffer? {
        let target = VideoFrameBuffer(size: size)
        let status = I420Scale(
            source.pointer(toPlane: 0), source.stride(0), source.pointer(toPlane: 1), source.stride(1),
            source.pointer(toPlane: 2), source.stride(2), Int32(source.size.width), Int32(source.size.height),
            target.pointerForWriting(toPlane: 0), target.stride(0), target.pointerForWriting(toPlane: 1),
            target.stride(1),
            target.pointerForWriting(toPlane: 2), target.stride(2), Int32(size.width), Int32(size.height), kFilterBox)
        return status == 0 ? target : nil
    }
}
