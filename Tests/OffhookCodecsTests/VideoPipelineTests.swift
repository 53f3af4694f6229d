import Dispatch
import OffhookBasics
import OffhookCodecs
import OffhookMedia
import Testing

@Suite struct `Video pipelines` {
    /// Keeps what an encoder pipeline makes.
    final class Output: Sendable {
        private let collected = Lock<[EncodedVideoFrame]>([])
        var frames: [EncodedVideoFrame] { collected.withLock { $0 } }
        func take(_ frame: EncodedVideoFrame) { collected.withLock { $0.append(frame) } }
    }

    static func configuration() -> VP8EncoderConfiguration {
        var configuration = VP8EncoderConfiguration()
        configuration.bitrate = 1_000_000
        configuration.dropsFrames = false
        return configuration
    }

    static func encoded(_ count: Int, keyFrames: Set<Int> = []) -> [EncodedVideoFrame] {
        let output = Output()
        let pipeline = VideoEncoderPipeline(configuration: configuration()) { output.take($0) }
        for number in 0..<count {
            if keyFrames.contains(number) { pipeline.requestKeyFrame() }
            pipeline.handleVideoFrame(picture(number))
            pipeline.drain()
        }
        return output.frames
    }

    @Test func `carry pictures from sink to sink in order`() {
        let needed = Lock(0)
        let decoder = VideoDecoderPipeline { needed.withLock { $0 += 1 } }
        let sink = CollectingSink()
        decoder.setVideoSink(sink)

        let frames = Self.encoded(12, keyFrames: [7])
        for frame in frames {
            decoder.decode(frame.bytes, isKeyFrame: frame.isKeyFrame, captureTime: frame.captureTime)
            decoder.drain()
        }

        #expect(frames.map(\.isKeyFrame) == (0..<12).map { $0 == 0 || $0 == 7 })
        #expect(sink.frames.map(\.captureTime) == (0..<12).map { picture($0).captureTime })
        #expect(needed.withLock { $0 } == 0)
        #expect(decoder.counters.framesDecoded == 12)
        #expect(decoder.counters.keyFramesDecoded == 2)
        #expect(decoder.counters.size == VideoSize(width: 64, height: 48))
        #expect(decoder.counters.decodeTime > .zero)
    }

    @Test func `drop all but the newest picture while one is being encoded, and count them`() {
        let entered = DispatchSemaphore(value: 0)
        let released = DispatchSemaphore(value: 0)
        let output = Output()
        let pipeline = VideoEncoderPipeline(configuration: Self.configuration()) { frame in
            output.take(frame)
            if output.frames.count == 1 {
                entered.signal()
                released.wait()
            }
        }

        pipeline.handleVideoFrame(picture(0))
        entered.wait()
        for number in 1...5 { pipeline.handleVideoFrame(picture(number)) }
        released.signal()
        pipeline.drain()

        #expect(output.frames.map(\.captureTime) == [0, 5].map { picture($0).captureTime })
        let counters = pipeline.counters
        #expect(counters.framesTaken == 6)
        #expect(counters.framesReplaced == 4)
        #expect(counters.framesEncoded == 2)
        #expect(counters.keyFramesEncoded == 1)
        #expect(counters.bytesEncoded == output.frames.reduce(0) { $0 + $1.bytes.count })
        #expect(counters.encodeTime > .zero)
    }

    @Test(arguments: [(15.0, 30), (10.0, 20), (30.0, 60), (25.0, 50), (60.0, 60)]) func `thin out to a frame rate`(
        _ rate: Double, _ expected: Int
    ) {
        let output = Output()
        let pipeline = VideoEncoderPipeline(configuration: Self.configuration()) { output.take($0) }
        pipeline.setTarget(bitrate: 500_000, sizeLimit: VideoSize(width: 32, height: 32), frameRate: rate)

        for number in 0..<60 {
            pipeline.handleVideoFrame(picture(number, interval: .nanoseconds(33_333_333)))
            pipeline.drain()
        }

        #expect(abs(output.frames.count - expected) <= 2)
        #expect(pipeline.counters.framesOverRate == 60 - output.frames.count)
        #expect(pipeline.counters.size == VideoSize(width: 32, height: 24))
        #expect(pipeline.counters.targetBitrate == 500_000)
    }

    @Test func `deliver nothing after they were stopped or detached`() {
        let output = Output()
        let encoder = VideoEncoderPipeline(configuration: Self.configuration()) { output.take($0) }
        encoder.handleVideoFrame(picture(0))
        encoder.stop()
        let encodedBefore = output.frames.count
        encoder.handleVideoFrame(picture(1))
        encoder.drain()
        #expect(output.frames.count == encodedBefore)

        let decoder = VideoDecoderPipeline {}
        let sink = CollectingSink()
        decoder.setVideoSink(sink)
        for frame in Self.encoded(8) {
            decoder.decode(frame.bytes, isKeyFrame: frame.isKeyFrame, captureTime: frame.captureTime)
        }
        decoder.setVideoSink(nil)
        let decodedBefore = sink.frames.count
        decoder.drain()
        #expect(sink.frames.count == decodedBefore)
        #expect(decoder.counters.framesDecoded == 8)
    }

    @Test func `a sink may detach itself from inside its own delivery`() {
        final class OnceSink: VideoSink {
            let decoder: VideoDecoderPipeline
            let count = Lock(0)
            init(_ decoder: VideoDecoderPipeline) { self.decoder = decoder }
            func handleVideoFrame(_ frame: VideoFrame) {
                count.withLock { $0 += 1 }
                decoder.setVideoSink(nil)
            }
        }
        let decoder = VideoDecoderPipeline {}
        let sink = OnceSink(decoder)
        decoder.setVideoSink(sink)
        for frame in Self.encoded(3) {
            decoder.decode(frame.bytes, isKeyFrame: frame.isKeyFrame, captureTime: frame.captureTime)
        }
        decoder.drain()
        #expect(sink.count.withLock { $0 } == 1)
    }

    @Test func `ask for a key frame with every frame that is of no use`() {
        let needed = Lock(0)
        let decoder = VideoDecoderPipeline { needed.withLock { $0 += 1 } }
        let sink = CollectingSink()
        decoder.setVideoSink(sink)
        var frames = Self.encoded(8, keyFrames: [5])
        frames[2].bytes.removeLast(frames[2].bytes.count)

        for frame in frames {
            decoder.decode(frame.bytes, isKeyFrame: frame.isKeyFrame, captureTime: frame.captureTime)
            decoder.drain()
        }

        #expect(needed.withLock { $0 } == 3)
        #expect(decoder.counters.framesRefused == 3)
        #expect(sink.frames.count == 5)
    }

    @Test func `start anew at a key frame when decoding falls behind`() {
        let entered = DispatchSemaphore(value: 0)
        let released = DispatchSemaphore(value: 0)
        let needed = Lock(0)
        let decoder = VideoDecoderPipeline(capacity: 3) { needed.withLock { $0 += 1 } }
        let sink = CollectingSink()
        decoder.setVideoSink(sink)
        let frames = Self.encoded(10, keyFrames: [6])
        let isFirst = Lock(true)

        for frame in frames {
            decoder.decode(isKeyFrame: frame.isKeyFrame, captureTime: frame.captureTime) { lend in
                let waits = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if waits {
                    entered.signal()
                    released.wait()
                }
                lend(frame.bytes.span.bytes)
            }
            if frame.captureTime == frames[0].captureTime { entered.wait() }
            if frame.captureTime == frames[5].captureTime {
                released.signal()
                decoder.drain()
            }
            if frame.captureTime > frames[5].captureTime { decoder.drain() }
        }

        // 0, 1 and 2 wait; 3, 4 and 5 find no room.
        #expect(sink.frames.map(\.captureTime) == [0, 1, 2, 6, 7, 8, 9].map { frames[$0].captureTime })
        #expect(decoder.counters.framesDropped == 3)
        #expect(needed.withLock { $0 } == 3)
    }

    @Test func `work side by side on few threads`() async {
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    let output = Output()
                    let pipeline = VideoEncoderPipeline(configuration: Self.configuration()) { output.take($0) }
                    for number in 0..<6 {
                        pipeline.handleVideoFrame(picture(number))
                        pipeline.setTarget(bitrate: 100_000 * (number + 1), sizeLimit: nil, frameRate: 30)
                        if number == 3 { pipeline.requestKeyFrame() }
                        _ = pipeline.counters
                    }
                    pipeline.drain()
                    return output.frames.count
                }
            }
            for await count in group { #expect((1...6).contains(count)) }
        }
    }

    @Test func `a splitter feeds every sink until it is taken away`() {
        let splitter = VideoSplitter()
        let first = CollectingSink()
        let second = CollectingSink()
        splitter.add(first)
        splitter.add(second)
        splitter.add(second)

        splitter.handleVideoFrame(picture(0))
        splitter.remove(first)
        splitter.handleVideoFrame(picture(1))

        #expect(first.frames.map(\.captureTime) == [picture(0).captureTime])
        #expect(second.frames.map(\.captureTime) == [picture(0), picture(1)].map(\.captureTime))
    }
}
