import CTurboJPEG
import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Motion JPEG` {
    /// A test picture, coded with a subsampling.
    private func coded(_ subsampling: TJSAMP, size: VideoSize) -> [UInt8] {
        // A smooth picture, so that each way of subsampling keeps it.
        var pixels: [UInt8] = []
        for y in 0..<size.height {
            for x in 0..<size.width { pixels += [UInt8(x * 255 / size.width), UInt8(y * 255 / size.height), 128] }
        }
        guard let handle = tjInitCompress() else { return [] }
        defer { tjDestroy(handle) }
        var address: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        let status = tjCompress2(
            handle, pixels, Int32(size.width), 0, Int32(size.height), Int32(TJPF_RGB.rawValue), &address, &count,
            Int32(subsampling.rawValue), 95, 0)
        defer { tjFree(address) }
        guard status == 0, let address else { return [] }
        return Array(UnsafeBufferPointer(start: address, count: Int(count)))
    }

    private func decode(_ data: [UInt8], size: VideoSize) throws -> VideoFrameBuffer? {
        let converter = try #require(PixelConverter(.init(pixelFormat: .mjpeg, size: size)))
        let buffer = VideoFrameBuffer(size: size)
        return data.withUnsafeBytes { converter.convert([$0], into: buffer) } ? buffer : nil
    }

    /// Y, U and V of full range, by JFIF.
    private func expected(_ x: Int, _ y: Int, size: VideoSize) -> (Double, Double, Double) {
        let (red, green, blue) = (Double(x * 255 / size.width), Double(y * 255 / size.height), 128.0)
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue
        return (luma, (blue - luma) * 0.564 + 128, (red - luma) * 0.713 + 128)
    }

    @Test(arguments: [TJSAMP_420, TJSAMP_422, TJSAMP_444, TJSAMP_440, TJSAMP_411], [(64, 48), (65, 47), (640, 360)])
    func `any subsampling becomes 4 2 0`(_ subsampling: TJSAMP, _ dimensions: (Int, Int)) throws {
        let size = VideoSize(width: dimensions.0, height: dimensions.1)
        let buffer = try #require(try decode(coded(subsampling, size: size), size: size))
        let frame = VideoFrame(buffer: buffer, captureTime: .zero)

        let (luma, blue, red) = (samples(frame, 0), samples(frame, 1), samples(frame, 2))

        var worst = (0.0, 0.0, 0.0)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let wanted = expected(x, y, size: size)
                let place = y / 2 * ((size.width + 1) / 2) + x / 2
                worst.0 = max(worst.0, abs(Double(luma[y * size.width + x]) - wanted.0))
                worst.1 = max(worst.1, abs(Double(blue[place]) - wanted.1))
                worst.2 = max(worst.2, abs(Double(red[place]) - wanted.2))
            }
        }
        #expect(worst.0 < 8 && worst.1 < 16 && worst.2 < 16, "\(worst)")
    }

    @Test func `gray pictures have no colour`() throws {
        let size = VideoSize(width: 64, height: 48)
        let buffer = try #require(try decode(coded(TJSAMP_GRAY, size: size), size: size))

        #expect(samples(VideoFrame(buffer: buffer, captureTime: .zero), 1).allSatisfy { $0 == 128 })
    }

    @Test func `standard Huffman tables need not be in the picture`() throws {
        let size = VideoSize(width: 64, height: 48)
        let whole = coded(TJSAMP_422, size: size)
        var bare: [UInt8] = []
        var index = 2
        // Segments up to the scan: all but the Huffman tables (DHT, FFC4).
        while index + 4 <= whole.count, whole[index + 1] != 0xDA {
            let length = Int(whole[index + 2]) << 8 | Int(whole[index + 3])
            if whole[index + 1] != 0xC4 { bare += whole[index..<index + 2 + length] }
            index += 2 + length
        }
        bare = whole[..<2] + bare + whole[index...]
        #expect(bare.count < whole.count)

        let (first, second) = (try decode(whole, size: size), try decode(bare, size: size))

        #expect(samples(try #require(first)) == samples(try #require(second)))
    }

    @Test func `pictures cut short at any place are refused, none crashes`() throws {
        let size = VideoSize(width: 64, height: 48)
        let whole = coded(TJSAMP_422, size: size)

        for length in stride(from: 0, to: whole.count - 8, by: 7) {
            #expect(try decode(Array(whole[..<length]), size: size) == nil, "\(length) of \(whole.count)")
        }
    }

    @Test func `overwritten pictures do not crash`() throws {
        let size = VideoSize(width: 64, height: 48)
        let whole = coded(TJSAMP_420, size: size)
        var random = SeededRandom(seed: 9)

        for _ in 0..<500 {
            var damaged = whole
            for _ in 0..<3 {
                damaged[Int(random.next() % UInt64(whole.count))] = UInt8(truncatingIfNeeded: random.next() >> 30)
            }
            _ = try decode(damaged, size: size)
        }
    }

    @Test func `a picture of another size is refused`() throws {
        let data = coded(TJSAMP_420, size: VideoSize(width: 64, height: 48))

        #expect(try decode(data, size: VideoSize(width: 48, height: 64)) == nil)
    }

    @Test func `bytes after the picture do no harm`() throws {
        let size = VideoSize(width: 64, height: 48)

        #expect(try decode(coded(TJSAMP_422, size: size) + [UInt8](repeating: 0, count: 500), size: size) != nil)
    }
}
