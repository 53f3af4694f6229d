import CPNG
import OffhookMedia

/// A PNG file's pixels as gray; nil where it cannot be read or has another size.
func decodePNGAsGray(_ path: String, size: VideoSize) -> [UInt8]? {
    var image = png_image()
    image.version = UInt32(PNG_IMAGE_VERSION)
    guard png_image_begin_read_from_file(&image, path) != 0 else { return nil }
    defer { png_image_free(&image) }
    guard Int(image.width) == size.width, Int(image.height) == size.height else { return nil }
    image.format = UInt32(PNG_FORMAT_GRAY)
    var pixels = [UInt8](repeating: 0, count: size.width * size.height)
    guard png_image_finish_read(&image, nil, &pixels, Int32(size.width), nil) != 0 else { return nil }
    return pixels
}
