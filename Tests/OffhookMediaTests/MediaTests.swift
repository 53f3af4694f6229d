import OffhookBasics
import OffhookMedia
import Testing

@Suite struct `Media values` {
    @Test(arguments: MediaDirection.allCases)
    func `a direction mirrored twice is itself`(direction: MediaDirection) {
        #expect(direction.mirrored.mirrored == direction)
        if direction != .undefined { #expect(direction.mirrored.sends == direction.receives) }
    }

    @Test(
        arguments: [
            VideoSize(width: 63, height: 47), VideoSize(width: 1, height: 1), VideoSize(width: 1280, height: 720),
        ], PixelFormat.allCases)
    func `planes of odd pictures round up and do not overlap`(size: VideoSize, format: PixelFormat) {
        let buffer = VideoFrameBuffer(size: size, pixelFormat: format)
        for plane in 0..<format.planeCount {
            buffer.withMutablePlane(plane) { samples in
                for index in samples.indices { samples[index] = UInt8(plane + 1) }
            }
        }
        let frame = VideoFrame(buffer: buffer, captureTime: .zero)

        #expect(frame.rows(ofPlane: 1) == (size.height + 1) / 2)
        #expect(frame.rowBytes(ofPlane: 1) == (size.width + 1) / 2 * (format == .nv12 ? 2 : 1))
        for plane in 0..<format.planeCount {
            let isWhole = frame.withPlane(plane) { samples in
                samples.count == frame.stride(ofPlane: plane) * frame.rows(ofPlane: plane)
                    && samples.indices.allSatisfy { samples[$0] == UInt8(plane + 1) }
            }
            #expect(isWhole)
        }
    }

    @Test func `an audio frame knows how long it sounds`() {
        #expect(AudioFrame(samples: [Int16](repeating: 0, count: 1920), channelCount: 2).duration == .milliseconds(20))
    }
}
