internal import CYUV
internal import OffhookMedia

/// Brings pictures into the shape an encoder takes: upright I420 no larger than a limit.
///
/// It belongs to one thread. A picture that has the right shape already is passed on as it is.
struct PictureShaper {
    private var converted: VideoFrameBuffer?
    private var scaled: VideoFrameBuffer?
    private var turned: VideoFrameBuffer?
    /// Samples that were written to shape pictures, in all; none of a picture that is passed on as it is.
    private(set) var writtenSamples = 0

    /// The size of an upright picture within a limit: it keeps its proportions and is never enlarged.
    ///
    /// The limit holds for either way of holding the camera: 1280x720 admits 720x1280. Scaled sizes are even.
    static func size(of upright: VideoSize, within limit: VideoSize?) -> VideoSize {
        guard let limit else { return upright }
        let isPortrait = upright.height > upright.width
        let long = max(limit.width, limit.height)
        let short = min(limit.width, limit.height)
        let bound = isPortrait ? (width: short, height: long) : (width: long, height: short)
        guard upright.width > bound.width || upright.height > bound.height else { return upright }
        let byWidth = upright.height * bound.width / upright.width
        if byWidth <= bound.height {
            return VideoSize(width: even(bound.width), height: even(byWidth))
        }
        return VideoSize(width: even(upright.width * bound.height / upright.height), height: even(bound.height))
    }

    private static func even(_ length: Int) -> Int { max(length & ~1, 2) }

    /// The upright picture; its buffer may be one that the next call overwrites.
    mutating func shape(_ frame: VideoFrame, within limit: VideoSize?) -> VideoFrameBuffer {
        let isOnItsSide = frame.rotation == .quarter || frame.rotation == .threeQuarters
        let upright = isOnItsSide ? frame.size.transposed : frame.size
        let final = Self.size(of: upright, within: limit)
        let beforeTurning = isOnItsSide ? final.transposed : final
        var picture = frame.buffer
        if picture.pixelFormat == .nv12 {
            let isScaled = beforeTurning != picture.size
            // Conversion and turning are one pass where nothing is scaled in between.
            let target = Self.reuse(&converted, size: isScaled ? picture.size : final)
            let mode = isScaled ? VideoRotation.none : frame.rotation
            picture.convertNV12(into: target, turning: mode)
            count(target)
            picture = target
            if !isScaled { return picture }
        }
        if beforeTurning != picture.size {
            let target = Self.reuse(&scaled, size: beforeTurning)
            picture.scale(into: target)
            count(target)
            picture = target
        }
        if frame.rotation != .none {
            let target = Self.reuse(&turned, size: final)
            picture.turn(into: target, by: frame.rotation)
            count(target)
            picture = target
        }
        return picture
    }

    private mutating func count(_ target: VideoFrameBuffer) {
        writtenSamples += VideoFrameBuffer.sampleCount(of: target.size)
    }

    private static func reuse(_ buffer: inout VideoFrameBuffer?, size: VideoSize) -> VideoFrameBuffer {
        if let buffer, buffer.size == size { return buffer }
        let new = VideoFrameBuffer(size: size)
        buffer = new
        return new
    }
}

extension VideoSize {
    fileprivate var transposed: VideoSize { VideoSize(width: height, height: width) }
}

extension VideoRotation {
    fileprivate var libyuvMode: RotationModeEnum {
        switch self {
        case .none: kRotate0
        case .quarter: kRotate90
        case .half: kRotate180
        case .threeQuarters: kRotate270
        }
    }
}

extension VideoFrameBuffer {
    fileprivate func rowStride(_ plane: Int) -> Int32 { Int32(stride(ofPlane: plane)) }

    fileprivate func convertNV12(into target: VideoFrameBuffer, turning rotation: VideoRotation) {
        _ = NV12ToI420Rotate(
            pointer(toPlane: 0), rowStride(0), pointer(toPlane: 1), rowStride(1),
            target.pointerForWriting(toPlane: 0), target.rowStride(0), target.pointerForWriting(toPlane: 1),
            target.rowStride(1),
            target.pointerForWriting(toPlane: 2), target.rowStride(2),
            Int32(size.width), Int32(size.height), rotation.libyuvMode)
    }

    fileprivate func scale(into target: VideoFrameBuffer) {
        _ = I420Scale(
            pointer(toPlane: 0), rowStride(0), pointer(toPlane: 1), rowStride(1), pointer(toPlane: 2), rowStride(2),
            Int32(size.width), Int32(size.height),
            target.pointerForWriting(toPlane: 0), target.rowStride(0), target.pointerForWriting(toPlane: 1),
            target.rowStride(1),
            target.pointerForWriting(toPlane: 2), target.rowStride(2),
            Int32(target.size.width), Int32(target.size.height), kFilterBox)
    }

    fileprivate func turn(into target: VideoFrameBuffer, by rotation: VideoRotation) {
        _ = I420Rotate(
            pointer(toPlane: 0), rowStride(0), pointer(toPlane: 1), rowStride(1), pointer(toPlane: 2), rowStride(2),
            target.pointerForWriting(toPlane: 0), target.rowStride(0), target.pointerForWriting(toPlane: 1),
            target.rowStride(1),
            target.pointerForWriting(toPlane: 2), target.rowStride(2),
            Int32(size.width), Int32(size.height), rotation.libyuvMode)
    }
}
