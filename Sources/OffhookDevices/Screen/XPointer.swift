internal import CXCB
internal import CYUV
internal import Glibc
internal import OffhookMedia

/// The pointer on an X server's screen, which its pictures are without. It belongs to one thread at a time.
final class XPointer {
    /// A pointer's picture and place.
    struct Image: Hashable {
        /// Where its top left corner is on the screen.
        var x: Int
        var y: Int
        var size: VideoSize
        /// Blue, green, red and alpha of each pixel, the colours multiplied by alpha already.
        var pixels: [UInt8]
    }

    private let functions: cxcb_fixes_functions
    private let connection: OpaquePointer

    /// Nil where the server does not tell.
    init?(_ xcb: cxcb_functions, _ connection: OpaquePointer) {
        guard let functions = XLibrary.pointerFunctions,
            let known = xcb.xcb_get_extension_data(connection, functions.extension), known.pointee.present != 0
        else { return nil }
        // The server answers nothing before it has heard which version we know.
        let request = functions.xcb_xfixes_query_version(connection, 4, 0)
        guard let reply = functions.xcb_xfixes_query_version_reply(connection, request, nil) else { return nil }
        free(reply)
        self.functions = functions
        self.connection = connection
    }

    func image() -> Image? {
        let request = functions.xcb_xfixes_get_cursor_image(connection)
        guard let reply = functions.xcb_xfixes_get_cursor_image_reply(connection, request, nil) else { return nil }
        defer { free(reply) }
        let size = VideoSize(width: Int(reply.pointee.width), height: Int(reply.pointee.height))
        guard size.width > 0, size.height > 0,
            let pixels = functions.xcb_xfixes_get_cursor_image_cursor_image(reply)
        else { return nil }
        return Image(
            x: Int(reply.pointee.x) - Int(reply.pointee.xhot), y: Int(reply.pointee.y) - Int(reply.pointee.yhot),
            size: size, pixels: Array(UnsafeRawBufferPointer(start: pixels, count: size.width * size.height * 4)))
    }
}

extension XPointer.Image {
    /// Draws the pointer into a picture of four bytes a pixel, whose top left corner is at a place of the screen.
    func draw(into target: UnsafeMutablePointer<UInt8>, stride: Int, size area: VideoSize, at origin: (x: Int, y: Int))
    {
        let (left, top) = (max(x - origin.x, 0), max(y - origin.y, 0))
        let right = min(x - origin.x + size.width, area.width)
        let bottom = min(y - origin.y + size.height, area.height)
        guard left < right, top < bottom else { return }
        let skipped = ((top - (y - origin.y)) * size.width + left - (x - origin.x)) * 4
        let place = target + top * stride + left * 4
        pixels.withUnsafeBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            ARGBBlend(
                start + skipped, Int32(size.width * 4), place, Int32(stride), place, Int32(stride), Int32(right - left),
                Int32(bottom - top))
        }
    }
}
