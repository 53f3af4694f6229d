import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Camera pixels become I420` {
    /// A picture in memory as a driver lays it out, made of a formula for each pixel's Y, U and V.
    struct Source: CustomTestStringConvertible {
        var format: CameraPixelFormat
        var size: VideoSize
        /// Bytes after each row, that belong to no pixel.
        var padding = 0
        var testDescription: String { "\(format) \(size) + \(padding)" }
    }

    static let sources: [Source] = {
        let formats: [CameraPixelFormat] = [
            .yuyv, .uyvy, .nv12, .nv21, .yu12, .yv12, .nv12Split, .nv21Split, .yu12Split, .yv12Split,
        ]
        return formats.flatMap { format in
            [(6, 4, 0), (6, 4, 10), (7, 5, 0), (7, 5, 9), (64, 48, 0), (161, 121, 31)].map {
                width, height, padding in
                Source(format: format, size: VideoSize(width: width, height: height), padding: padding)
            }
        }
    }()

    private func luma(_ x: Int, _ y: Int) -> UInt8 { UInt8((x * 7 + y * 13) & 0xFF) }
    private func blue(_ x: Int, _ y: Int) -> UInt8 { UInt8((x * 5 + y * 3 + 40) & 0xFF) }
    private func red(_ x: Int, _ y: Int) -> UInt8 { UInt8((x * 3 + y * 11 + 90) & 0xFF) }

    /// The driver's memory planes with their strides, plainly written. Chroma of packed formats has a value for each row.
    private func planes(_ source: Source) -> (planes: [[UInt8]], strides: [Int]) {
        let (width, height) = (source.size.width, source.size.height)
        let (columns, rows) = ((width + 1) / 2, (height + 1) / 2)
        let pad = [UInt8](repeating: 0xEE, count: source.padding)
        func plane(_ columns: Int, _ rows: Int, pad: [UInt8], _ value: (Int, Int) -> [UInt8]) -> [UInt8] {
            (0..<rows).flatMap { y in (0..<columns).flatMap { value($0, y) } + pad }
        }
        switch source.format {
        case .yuyv, .uyvy:
            let bytes = plane(columns, height, pad: pad) { x, y in
                let (first, second) = (luma(2 * x, y), luma(2 * x + 1, y))
                return source.format == .yuyv
                    ? [first, blue(x, y), second, red(x, y)] : [blue(x, y), first, red(x, y), second]
            }
            return ([bytes], [columns * 4 + source.padding])
        case .nv12, .nv21, .nv12Split, .nv21Split:
            let isVU = source.format == .nv21 || source.format == .nv21Split
            let pair = { (x: Int, y: Int) in isVU ? [red(x, y), blue(x, y)] : [blue(x, y), red(x, y)] }
            let isSplit = source.format == .nv12Split || source.format == .nv21Split
            // In one memory plane both have one stride, which holds a pair more for an odd width.
            let stride = (isSplit ? width : columns * 2) + source.padding
            let top = plane(width, height, pad: [UInt8](repeating: 0xEE, count: stride - width)) { [luma($0, $1)] }
            let chromaPad = isSplit ? pad : [UInt8](repeating: 0xEE, count: stride - columns * 2)
            let bottom = plane(columns, rows, pad: chromaPad, pair)
            return isSplit ? ([top, bottom], [stride, columns * 2 + source.padding]) : ([top + bottom], [stride])
        default:
            let isVU = source.format == .yv12 || source.format == .yv12Split
            let isSplit = source.format == .yu12Split || source.format == .yv12Split
            // Chroma rows have half the luma's stride, padding included.
            let stride = (width + source.padding + 1) / 2 * 2
            let top = plane(width, height, pad: [UInt8](repeating: 0xEE, count: stride - width)) { [luma($0, $1)] }
            let chromaPad = [UInt8](repeating: 0xEE, count: stride / 2 - columns)
            let first = plane(columns, rows, pad: chromaPad) { [isVU ? red($0, $1) : blue($0, $1)] }
            let second = plane(columns, rows, pad: chromaPad) { [isVU ? blue($0, $1) : red($0, $1)] }
            return isSplit
                ? ([top, first, second], [stride, stride / 2, stride / 2]) : ([top + first + second], [stride])
        }
    }

    private func expected(_ source: Source) -> [UInt8] {
        let (width, height) = (source.size.width, source.size.height)
        let isPacked = source.format == .yuyv || source.format == .uyvy
        var bytes = (0..<height).flatMap { y in (0..<width).map { luma($0, y) } }
        for value in [blue, red] {
            for y in 0..<(height + 1) / 2 {
                for x in 0..<(width + 1) / 2 {
                    if isPacked {
                        let below = min(2 * y + 1, height - 1)
                        bytes.append(UInt8((Int(value(x, 2 * y)) + Int(value(x, below)) + 1) / 2))
                    } else {
                        bytes.append(value(x, y))
                    }
                }
            }
        }
        return bytes
    }

    private func convert(_ planes: [[UInt8]], _ layout: PixelConverter.Layout) throws -> [UInt8]? {
        let converter = try #require(PixelConverter(layout))
        let buffer = VideoFrameBuffer(size: layout.size)
        // Copies of exactly the size, so that reading past the end is seen by the address sanitizer.
        let memory = planes.map { plane in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: plane.count, alignment: 1)
            copy.copyBytes(from: plane)
            return copy
        }
        defer { memory.forEach { $0.deallocate() } }
        return converter.convert(memory.map { UnsafeRawBufferPointer($0) }, into: buffer) ? samples(buffer) : nil
    }

    @Test(arguments: sources)
    func `planes and packed pixels land where they belong, padding does not`(_ source: Source) throws {
        let (planes, strides) = planes(source)
        let layout = PixelConverter.Layout(pixelFormat: source.format, size: source.size, strides: strides)

        let result = try #require(try convert(planes, layout))

        #expect(result == expected(source))
    }

    @Test(arguments: sources)
    func `a picture one byte short is refused`(_ source: Source) throws {
        var (planes, strides) = planes(source)
        let layout = PixelConverter.Layout(pixelFormat: source.format, size: source.size, strides: strides)
        // The last row's padding may be missing, not its pixels.
        let last = planes.count - 1
        let trailing = planes[last].reversed().prefix { $0 == 0xEE }.count
        planes[last].removeLast(min(trailing, source.padding) + 1)

        if trailing <= source.padding { #expect(try convert(planes, layout) == nil) }
    }

    @Test func `a stride of 0 means no padding`() throws {
        let source = Source(format: .yuyv, size: VideoSize(width: 6, height: 2))
        let layout = PixelConverter.Layout(pixelFormat: .yuyv, size: source.size, strides: [0])

        #expect(try convert(planes(source).planes, layout) == expected(source))
    }

    @Test(arguments: [
        (CameraPixelFormat.rgb24, [UInt8](repeating: 0, count: 12), [16, 16, 16, 16, 128, 128]),
        (.rgb24, [255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255], [235, 235, 235, 235, 128, 128]),
        (.rgb24, [255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0], [82, 82, 82, 82, 90, 240]),
        (.bgr24, [255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0], [41, 41, 41, 41, 240, 110]),
    ])
    func `RGB becomes video's range`(_ format: CameraPixelFormat, _ pixels: [UInt8], _ wanted: [Int]) throws {
        let layout = PixelConverter.Layout(pixelFormat: format, size: VideoSize(width: 2, height: 2), strides: [6])

        let result = try #require(try convert([pixels], layout))

        #expect(zip(result, wanted).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(result)")
    }

    @Test func `unknown formats are refused`() {
        #expect(
            PixelConverter(.init(pixelFormat: CameraPixelFormat("H264"), size: VideoSize(width: 2, height: 2))) == nil)
    }
}
