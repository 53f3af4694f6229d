internal import CSDL
internal import CYUV
internal import OffhookMedia

/// One part of a window's content: the far end's picture or one's own, as it lies in the renderer's memory.
///
/// It belongs to the window thread.
final class WindowTexture {
    /// The number of the picture that was drawn last.
    var serial = 0
    /// The picture's upright size; nil where there is none.
    private(set) var pictureSize: VideoSize?
    private(set) var texture: OpaquePointer?
    private var size: VideoSize?
    private let sdl: csdl_functions
    private let upright = UprightPicture()

    init(sdl: csdl_functions) {
        self.sdl = sdl
    }

    deinit {
        remove()
    }

    /// Lets the memory go, before the renderer goes.
    func remove() {
        if let texture { sdl.SDL_DestroyTexture(texture) }
        (texture, size, pictureSize) = (nil, nil, nil)
    }

    /// Takes a picture, upright, and smaller where it is shown much smaller, as the renderer's own scaling would leave out
    /// rows.
    func show(_ frame: VideoFrame, at shown: VideoSize, isMirrored: Bool, renderer: OpaquePointer) {
        pictureSize = frame.uprightSize
        let isMuchSmaller = shown.width * 2 <= frame.uprightSize.width || shown.height * 2 <= frame.uprightSize.height
        guard var picture = upright.make(of: frame, size: isMuchSmaller ? shown : nil) else { return }
        if isMirrored { picture = mirrored(picture) }
        if size != picture.size {
            if let texture { sdl.SDL_DestroyTexture(texture) }
            texture = sdl.SDL_CreateTexture(
                renderer, SDL_PIXELFORMAT_IYUV.rawValue, Int32(SDL_TEXTUREACCESS_STREAMING.rawValue),
                Int32(picture.size.width), Int32(picture.size.height))
            size = texture == nil ? nil : picture.size
        }
        guard let texture else { return }
        _ = sdl.SDL_UpdateYUVTexture(
            texture, nil, picture.pointer(toPlane: 0), Int32(picture.stride(ofPlane: 0)),
            picture.pointer(toPlane: 1), Int32(picture.stride(ofPlane: 1)), picture.pointer(toPlane: 2),
            Int32(picture.stride(ofPlane: 2)))
    }

    private func mirrored(_ source: VideoFrameBuffer) -> VideoFrameBuffer {
        let target = VideoFrameBuffer(size: source.size)
        let status = I420Mirror(
            source.pointer(toPlane: 0), Int32(source.stride(ofPlane: 0)), source.pointer(toPlane: 1),
            Int32(source.stride(ofPlane: 1)), source.pointer(toPlane: 2), Int32(source.stride(ofPlane: 2)),
            target.pointerForWriting(toPlane: 0), Int32(target.stride(ofPlane: 0)),
            target.pointerForWriting(toPlane: 1),
            Int32(target.stride(ofPlane: 1)), target.pointerForWriting(toPlane: 2), Int32(target.stride(ofPlane: 2)),
            Int32(source.size.width), Int32(source.size.height))
        return status == 0 ? target : source
    }
}
