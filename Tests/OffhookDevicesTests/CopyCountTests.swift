import CTurboJPEG
import Foundation
import OffhookBasics
import OffhookCodecs
import OffhookMedia
import Testing

@testable import OffhookDevices

/// How often a picture's samples are written on their way from the driver's memory to what the encoder reads: by the
/// converter, as the capture thread uses it, through a splitter, to the pipeline of a call.
@Suite struct `From the driver to the encoder` {
    /// What a driver's buffer holds: zeros do, as nobody looks at the picture.
    private func pixels(_ format: CameraPixelFormat, _ size: VideoSize) -> [[UInt8]] {
        let (luma, chroma) = (size.width * size.height, size.width * size.height / 4)
        let counts: [Int] =
            switch format {
            case .yuyv, .uyvy: [luma * 2]
            case .rgb24, .bgr24: [luma * 3]
            case .nv12Split, .nv21Split: [luma, chroma * 2]
            case .yu12Split, .yv12Split: [luma, chroma, chroma]
            default: [luma + chroma * 2]
            }
        return counts.map { [UInt8](repeating: 0, count: $0) }
    }

    private func jpeg(_ subsampling: TJSAMP, _ size: VideoSize) throws -> [[UInt8]] {
        let handle = try #require(tjInitCompress())
        defer { tjDestroy(handle) }
        let pixels = [UInt8](repeating: 90, count: size.width * size.height * 3)
        var address: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        let status = tjCompress2(
            handle, pixels, Int32(size.width), 0, Int32(size.height), Int32(TJPF_RGB.rawValue), &address, &count,
            Int32(subsampling.rawValue), 80, 0)
        defer { tjFree(address) }
        try #require(status == 0)
        return [Array(UnsafeBufferPointer(start: try #require(address), count: Int(count)))]
    }

    /// Samples written for each of a picture's.
    private func passes(
        _ format: CameraPixelFormat, _ planes: [[UInt8]], size: VideoSize, rotation: VideoRotation = .none,
        limit: VideoSize? = nil
    ) throws -> Double {
        let converter = try #require(PixelConverter(.init(pixelFormat: format, size: size)))
        let pool = VideoFramePool()
        let encoded = Lock(0)
        var configuration = VP8EncoderConfiguration()
        configuration.dropsFrames = false
        configuration.sizeLimit = limit
        let pipeline = VideoEncoderPipeline(configuration: configuration) { _ in encoded.withLock { $0 += 1 } }
        let splitter = VideoSplitter([pipeline, NullVideoSink()])
        let count = 3
        var written = 0
        for number in 0..<count {
            let buffer = pool.takeBuffer(size: size)
            let memory = planes.map { plane in
                let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: plane.count, alignment: 64)
                memory.copyBytes(from: plane)
                return memory
            }
            defer { for plane in memory { plane.deallocate() } }
            try #require(converter.convert(memory.map { UnsafeRawBufferPointer($0) }, into: buffer))
            written += buffer.writtenSamples
            splitter.handleVideoFrame(
                VideoFrame(buffer: buffer, rotation: rotation, captureTime: .zero + .milliseconds(40 * number)))
            pipeline.drain()
        }
        #expect(encoded.withLock { $0 } == count)
        let all = written + converter.stagedSamples + pipeline.counters.reshapedSamples
        return Double(all) / Double(count * VideoFrameBuffer.sampleCount(of: size))
    }

    static let size = VideoSize(width: 640, height: 360)

    @Test(arguments: PixelConverter.pixelFormats.filter { $0 != .mjpeg && $0 != .jpeg })
    func `a picture is written once`(_ format: CameraPixelFormat) throws {
        #expect(try passes(format, pixels(format, Self.size), size: Self.size) == 1)
    }

    @Test(arguments: [(TJSAMP_420, 1.0), (TJSAMP_422, 1.0 + 2.0 / 3.0)])
    func `motion JPEG is decoded in place, but for colours that have to be halved`(
        _ subsampling: TJSAMP, _ expected: Double
    ) throws {
        let found = try passes(.mjpeg, jpeg(subsampling, Self.size), size: Self.size)
        #expect(abs(found - expected) < 0.001, "\(found)")
    }

    @Test func `what is turned or made smaller is written once more`() throws {
        let turned = try passes(.yuyv, pixels(.yuyv, Self.size), size: Self.size, rotation: .quarter)
        let smaller = try passes(
            .yuyv, pixels(.yuyv, Self.size), size: Self.size, limit: VideoSize(width: 320, height: 180))

        #expect(turned == 2)
        #expect(smaller == 1.25)
    }
}
