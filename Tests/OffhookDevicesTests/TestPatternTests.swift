import OffhookBasics
import OffhookCodecs
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Test pattern` {
    private func draw(_ pattern: TestPattern, size: VideoSize, by painter: TestPatternPainter? = nil) -> VideoFrame {
        let buffer = VideoFrameBuffer(size: size)
        (painter ?? TestPatternPainter(size: size)).draw(pattern, into: buffer)
        return VideoFrame(buffer: buffer, captureTime: .zero)
    }

    @Test(arguments: [
        VideoSize(width: 160, height: 120), VideoSize(width: 161, height: 121), VideoSize(width: 176, height: 144),
        VideoSize(width: 640, height: 480), VideoSize(width: 1279, height: 719), VideoSize(width: 1920, height: 1080),
    ])
    func `is read as it was drawn`(_ size: VideoSize) {
        let painter = TestPatternPainter(size: size)
        for number in [0, 1, 0x55_5555, 0xFF_FFFF] {
            let pattern = TestPattern(frameNumber: number, clock: UInt64(number) * 2_654_435_761)

            #expect(TestPatternReader().read(draw(pattern, size: size, by: painter)) == pattern)
        }
    }

    @Test(arguments: VideoRotation.allCases)
    func `is read turned, and tells how`(_ rotation: VideoRotation) throws {
        let pattern = TestPattern(frameNumber: 77, clock: 123_456_789)
        let upright = draw(pattern, size: VideoSize(width: 320, height: 240))
        // What has to be turned clockwise by so much was turned the other way.
        var turning = upright
        turning.rotation = try #require(VideoRotation(rawValue: (360 - rotation.rawValue) % 360))
        let turned = try #require(UprightPicture().make(of: turning))

        let read = TestPatternReader().read(VideoFrame(buffer: turned, captureTime: .zero))

        #expect(read == TestPattern(frameNumber: 77, clock: 123_456_789, rotation: rotation))
    }

    @Test(arguments: [(640, 360), (320, 180), (426, 240), (960, 720)])
    func `is read scaled`(_ width: Int, _ height: Int) throws {
        let pattern = TestPattern(frameNumber: 4711, clock: 99)
        let frame = draw(pattern, size: VideoSize(width: 1280, height: 720))
        let scaled = try #require(UprightPicture().make(of: frame, size: VideoSize(width: width, height: height)))

        #expect(TestPatternReader().read(VideoFrame(buffer: scaled, captureTime: .zero)) == pattern)
    }

    @Test func `one bar is enough`() {
        let pattern = TestPattern(frameNumber: 5, clock: 6)
        let size = VideoSize(width: 320, height: 240)
        for damaged in [0..<40, 200..<240] {
            let frame = draw(pattern, size: size)
            frame.buffer.withMutablePlane(0) { luma in
                for row in damaged {
                    for column in 0..<320 { luma[row * frame.stride(ofPlane: 0) + column] = 90 }
                }
            }

            #expect(TestPatternReader().read(frame) == pattern)
        }
    }

    @Test func `other pictures are not read`() {
        var random = SeededRandom(seed: 3)
        for _ in 0..<50 {
            let buffer = VideoFrameBuffer(size: VideoSize(width: 64, height: 48))
            buffer.withMutablePlane(0) { luma in
                for index in 0..<luma.count { luma[index] = UInt8(truncatingIfNeeded: random.next() >> 20) }
            }

            #expect(TestPatternReader().read(VideoFrame(buffer: buffer, captureTime: .zero)) == nil)
        }
    }

    @Test func `age is told across the clock's wrap`() {
        let drawn = Instant(nanoseconds: ((1 << 40) - 5) * 1000)
        let pattern = TestPattern(frameNumber: 0, drawnAt: drawn)

        #expect(pattern.age(at: drawn + .milliseconds(40)) == .milliseconds(40))
    }

    @Test func `survives VP8 of 1280x720 at 300 kbit/s`() throws {
        try survives(size: VideoSize(width: 1280, height: 720), bitrate: 300_000)
    }

    @Test func `survives VP8 of 160x120 at 60 kbit/s`() throws {
        try survives(size: VideoSize(width: 160, height: 120), bitrate: 60_000)
    }

    private func survives(size: VideoSize, bitrate: Int) throws {
        var configuration = VP8EncoderConfiguration()
        configuration.bitrate = bitrate
        let encoder = VP8Encoder(configuration: configuration)
        let decoder = VP8Decoder()
        let painter = TestPatternPainter(size: size)
        var (coded, bytes) = (0, 0)
        for number in 0..<60 {
            let time = Instant(nanoseconds: Int64(number) * 33_333_333)
            let pattern = TestPattern(frameNumber: number, drawnAt: time)
            let buffer = VideoFrameBuffer(size: size)
            painter.draw(pattern, into: buffer)
            var decoded: VideoFrame?
            _ = try encoder.encode(VideoFrame(buffer: buffer, captureTime: time)) { data, _ in
                bytes += data.byteCount
                decoded = try? decoder.decode(data, captureTime: time)
            }
            guard let decoded else { continue }
            coded += 1
            #expect(TestPatternReader().read(decoded) == pattern)
        }

        // The encoder may leave out pictures to keep the rate, but not most.
        #expect(coded > 30)
        #expect(bytes < bitrate / 8 * 2 * 3 / 2)
    }

    @Test func `comes at its rate with numbers one after another`() async {
        let collector = PictureCollector()
        let capturer = TestPatternCapturer(size: VideoSize(width: 160, height: 120), frameRate: 100)

        capturer.setVideoSink(collector)
        let frames = await collector.frames.first(5)
        capturer.setVideoSink(nil)
        let count = collector.frames.count

        let numbers = frames.compactMap { TestPatternReader().read($0)?.frameNumber }
        #expect(numbers == Array(0..<frames.count))
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.captureTime - $0.captureTime >= .milliseconds(9) })
        #expect(collector.frames.count == count)
    }
}
