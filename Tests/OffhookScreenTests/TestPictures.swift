import OffhookBasics
import OffhookMedia

/// A picture of four quarters: red, green, blue and white, from the top left.
func quarters(
    _ size: VideoSize, rotation: VideoRotation = .none, pixelFormat: PixelFormat = .i420
) -> VideoFrame {
    // Luma, blue and red difference of ITU-R BT.601.
    let colors: [(UInt8, UInt8, UInt8)] = [(82, 90, 240), (145, 54, 34), (41, 240, 110), (235, 128, 128)]
    let buffer = VideoFrameBuffer(size: size, pixelFormat: pixelFormat)
    for plane in 0..<pixelFormat.planeCount {
        let (stride, rows, columns) = (
            buffer.stride(ofPlane: plane), buffer.rows(ofPlane: plane), buffer.rowBytes(ofPlane: plane)
        )
        buffer.withMutablePlane(plane) { samples in
            for row in 0..<rows {
                for column in 0..<columns {
                    let color = colors[(row * 2 >= rows ? 2 : 0) + (column * 2 >= columns ? 1 : 0)]
                    samples[row * stride + column] =
                        switch (plane, pixelFormat) {
                        case (0, _): color.0
                        case (1, .i420): color.1
                        case (2, .i420): color.2
                        default: column % 2 == 0 ? color.1 : color.2
                        }
                }
            }
        }
    }
    return VideoFrame(buffer: buffer, rotation: rotation, captureTime: .zero)
}

/// The colour of an I420 picture's place.
func color(of frame: VideoFrame, _ x: Int, _ y: Int) -> Color {
    let sample = { (plane: Int, x: Int, y: Int) in
        Double(frame.withPlane(plane) { $0[y * frame.stride(ofPlane: plane) + x] })
    }
    let luma = (sample(0, x, y) - 16) * 1.164
    let (blue, red) = (sample(1, x / 2, y / 2) - 128, sample(2, x / 2, y / 2) - 128)
    let clamp = { (value: Double) in Int(min(max(value, 0), 255).rounded()) }
    return Color(
        red: clamp(luma + 1.596 * red), green: clamp(luma - 0.813 * red - 0.391 * blue),
        blue: clamp(luma + 2.018 * blue))
}
