internal import Glibc
internal import OffhookMedia

/// How a display lays out its pixels.
enum XPixelFormat: Hashable, Sendable {
    /// Four bytes: blue, green, red, and one of no meaning.
    case bgrx
    /// Two bytes: five bits of blue, six of green, five of red, from the lowest.
    case rgb565

    var bytesPerPixel: Int { self == .bgrx ? 4 : 2 }
}

/// A screen's pixels as they came. It belongs to one thread at a time.
final class XPicture {
    let size: VideoSize
    let format: XPixelFormat
    let stride: Int
    let pixels: UnsafeMutablePointer<UInt8>
    private let release: () -> Void

    /// Wraps `stride × height` bytes; `release` is called in the end.
    init(
        size: VideoSize, format: XPixelFormat, pixels: UnsafeMutablePointer<UInt8>, release: @escaping () -> Void
    ) {
        self.size = size
        self.format = format
        self.pixels = pixels
        self.release = release
        stride = Self.stride(width: size.width, format: format)
    }

    deinit {
        release()
    }

    /// Rows begin at multiples of 32 bits, as every X server of today pads them.
    static func stride(width: Int, format: XPixelFormat) -> Int {
        (width * format.bytesPerPixel + 3) / 4 * 4
    }

    /// Whether another picture is the same to the last pixel.
    func shows(_ other: XPicture) -> Bool {
        size == other.size && format == other.format && memcmp(pixels, other.pixels, stride * size.height) == 0
    }
}
