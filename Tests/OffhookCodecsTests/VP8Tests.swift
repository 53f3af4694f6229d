import OffhookBasics
import OffhookCodecs
import OffhookCrypto
import OffhookMedia
import Testing

@Suite struct `VP8` {
    struct Encoded {
        var bytes: [UInt8]
        var picture: VP8Encoder.Picture
    }

    static func configuration(bitrate: Int = 2_000_000) -> VP8EncoderConfiguration {
        var configuration = VP8EncoderConfiguration()
        configuration.bitrate = bitrate
        configuration.dropsFrames = false
        return configuration
    }

    static func encode(_ frame: VideoFrame, with encoder: VP8Encoder) throws -> Encoded {
        var encoded: Encoded?
        try encoder.encode(frame) { bytes, picture in
            encoded = Encoded(bytes: bytes.withUnsafeBytes { Array($0) }, picture: picture)
        }
        return try #require(encoded)
    }

    static let sizes = [(64, 48), (63, 47), (1, 1), (17, 33), (97, 61), (128, 72)]
        .map { VideoSize(width: $0, height: $1) }

    // R153 for the odd sizes.
    @Test(arguments: sizes, PixelFormat.allCases) func `comes back as it went in`(
        _ size: VideoSize, _ format: PixelFormat
    ) throws {
        let encoder = VP8Encoder(configuration: Self.configuration())
        let decoder = VP8Decoder()

        for number in 0..<4 {
            let frame = picture(number, size: size, format: format)
            let encoded = try Self.encode(frame, with: encoder)
            let decoded = try #require(try decoder.decode(encoded.bytes.span.bytes, captureTime: frame.captureTime))

            #expect(encoded.picture.isKeyFrame == (number == 0))
            #expect(encoded.picture.size == size)
            #expect(decoded.size == size)
            #expect(decoded.captureTime == frame.captureTime)
            let original = picture(number, size: size)
            for plane in 0..<3 {
                // A single sample may be off by its quantizer.
                let bound = size.width == 1 ? 25.0 : 33
                #expect(signalToNoise(original, decoded, plane: plane) > bound, "plane \(plane) of picture \(number)")
            }
        }
    }

    // R150.
    @Test func `makes exactly one key frame of each request`() throws {
        let encoder = VP8Encoder(configuration: Self.configuration(bitrate: 300_000))
        var keyFrames: [Int] = []

        for number in 0..<120 {
            if number == 40 {
                encoder.requestKeyFrame()
                encoder.requestKeyFrame()
            }
            if number == 60 { encoder.setBitrate(100_000) }
            if number == 80 { encoder.requestKeyFrame() }
            if try Self.encode(picture(number), with: encoder).picture.isKeyFrame { keyFrames.append(number) }
        }

        #expect(keyFrames == [0, 40, 80])
    }

    @Test func `makes no key frame where the whole scene changes`() throws {
        let encoder = VP8Encoder(configuration: Self.configuration())
        var keyFrames = 0

        for number in 0..<20 {
            let frame = picture(number)
            fill(frame.buffer, plane: 0) { x, y in UInt8((x * 37 + y * 91 + number * 53) % 200 + 20) }
            if try Self.encode(frame, with: encoder).picture.isKeyFrame { keyFrames += 1 }
        }

        #expect(keyFrames == 1)
    }

    @Test func `follows a size that changes in mid-stream`() throws {
        let encoder = VP8Encoder(configuration: Self.configuration())
        let decoder = VP8Decoder()
        var number = 0

        for size in Self.sizes + Self.sizes.reversed() {
            for step in 0..<2 {
                number += 1
                let encoded = try Self.encode(picture(number, size: size), with: encoder)
                let decoded = try decoder.decode(bytes: encoded.bytes)
                #expect(decoded?.size == size)
                if step == 1 { #expect(!encoded.picture.isKeyFrame) }
            }
        }
    }

    @Test(arguments: [
        // The limit holds in either orientation, proportions are kept, nothing is enlarged.
        ((64, 48), (32, 24), (32, 24)), ((64, 48), (24, 32), (32, 24)), ((48, 64), (32, 24), (24, 32)),
        ((64, 48), (640, 480), (64, 48)), ((63, 47), (63, 47), (63, 47)), ((160, 90), (64, 48), (64, 36)),
        ((90, 160), (64, 48), (36, 64)), ((200, 10), (50, 50), (50, 2)),
    ]) func `scales to a limit`(_ from: (Int, Int), _ limit: (Int, Int), _ to: (Int, Int)) throws {
        for format in PixelFormat.allCases {
            var configuration = Self.configuration()
            configuration.sizeLimit = VideoSize(width: limit.0, height: limit.1)
            let encoder = VP8Encoder(configuration: configuration)
            let frame = picture(0, size: VideoSize(width: from.0, height: from.1), format: format)

            let encoded = try Self.encode(frame, with: encoder)

            #expect(encoded.picture.size == VideoSize(width: to.0, height: to.1))
            let header = VP8FrameHeader(parsing: encoded.bytes.span.bytes)
            #expect(header?.keyFrameSize == VideoSize(width: to.0, height: to.1))
        }
    }

    @Test func `makes no picture of a screen smaller to suit the bit rate`() throws {
        var configuration = Self.configuration()
        configuration.sizeLimit = VideoSize(width: 32, height: 24)
        configuration.screenSizeLimit = VideoSize(width: 64, height: 48)
        let encoder = VP8Encoder(configuration: configuration)
        var sizes: [VideoSize] = []

        for content in [VideoContent.camera, .screen, .camera] {
            var frame = picture(0, size: VideoSize(width: 128, height: 96), format: .i420)
            frame.content = content
            sizes.append(try Self.encode(frame, with: encoder).picture.size)
        }

        #expect(sizes.map(\.width) == [32, 64, 32])
    }

    @Test(arguments: VideoRotation.allCases, PixelFormat.allCases) func `turns pictures upright`(
        _ rotation: VideoRotation, _ format: PixelFormat
    ) throws {
        for limit in [nil, VideoSize(width: 32, height: 16)] {
            var configuration = Self.configuration()
            configuration.sizeLimit = limit
            let frame = picture(0, size: VideoSize(width: 64, height: 32), format: format, rotation: rotation)
            // Bright where the picture's top is, once it is upright.
            fill(frame.buffer, plane: 0) { x, y in
                switch rotation {
                case .none: y < 16 ? 220 : 30
                case .quarter: x < 32 ? 30 : 220
                case .half: y < 16 ? 30 : 220
                case .threeQuarters: x < 32 ? 220 : 30
                }
            }
            if rotation == .quarter {
                // A quarter turn clockwise brings the left side to the top.
                fill(frame.buffer, plane: 0) { x, _ in x < 32 ? 220 : 30 }
            } else if rotation == .threeQuarters {
                fill(frame.buffer, plane: 0) { x, _ in x < 32 ? 30 : 220 }
            }

            let encoded = try Self.encode(frame, with: VP8Encoder(configuration: configuration))
            let decoded = try #require(try VP8Decoder().decode(bytes: encoded.bytes))

            let isOnItsSide = rotation == .quarter || rotation == .threeQuarters
            let scale = limit == nil ? 1 : 2
            #expect(decoded.width == (isOnItsSide ? 32 : 64) / scale)
            #expect(decoded.height == (isOnItsSide ? 64 : 32) / scale)
            let luma = samples(of: decoded, plane: 0)
            #expect(luma[..<decoded.width].allSatisfy { $0 > 180 })
            #expect(luma.suffix(decoded.width).allSatisfy { $0 < 80 })
        }
    }

    /// The sizes of noisy pictures, 0 for one left out, of which those from a number on have another bit rate.
    static func byteCounts(
        _ bitrate: Int, then: Int, from change: Int, count: Int, size: VideoSize
    ) throws -> [Int] {
        var configuration = Self.configuration(bitrate: bitrate)
        configuration.dropsFrames = true
        let encoder = VP8Encoder(configuration: configuration)
        var random = SeededRandom(seed: 8)
        return try (0..<count).map { number in
            if number == change { encoder.setBitrate(then) }
            let frame = picture(number, size: size)
            let noise = random.bytes(4096)
            frame.buffer.withMutablePlane(0) { bytes in
                for index in 0..<bytes.count { bytes[index] = bytes[index] &+ noise[(index + number) & 4095] >> 4 }
            }
            var count = 0
            try encoder.encode(frame) { bytes, _ in count = bytes.byteCount }
            return count
        }
    }

    @Test func `holds the bit rate it is given`() throws {
        let byteCounts = try Self.byteCounts(
            200_000, then: 100_000, from: 75, count: 150, size: VideoSize(width: 160, height: 120))

        // 30 pictures a second; the first second of either half settles.
        let first = Double(byteCounts[30..<75].reduce(0, +)) * 8 / 1.5
        let second = Double(byteCounts[105..<150].reduce(0, +)) * 8 / 1.5
        #expect((120_000...280_000).contains(first))
        #expect((60_000...140_000).contains(second))
    }

    @Test func `follows a bit rate that falls from the next picture on, and leaves none out`() throws {
        let byteCounts = try Self.byteCounts(
            150_000, then: 40_000, from: 170, count: 190, size: VideoSize(width: 128, height: 72))

        let budget = 40_000 / 8 / 30
        #expect(byteCounts[170] < budget * 2, "\(byteCounts[165...])")
        #expect(byteCounts[170..<180].reduce(0, +) < budget * 14, "\(byteCounts[165...])")
        #expect(byteCounts[170...].allSatisfy { $0 > 0 }, "\(byteCounts[165...])")
    }

    @Test(arguments: [
        "00-comprehensive-001", "00-comprehensive-002", "00-comprehensive-006", "00-comprehensive-010",
        "00-comprehensive-011", "00-comprehensive-013", "00-comprehensive-015", "00-comprehensive-017",
        "00-comprehensive-018", "01-intra-1416", "02-inter-1402", "03-segmentation-02", "03-segmentation-03",
        "03-segmentation-1407", "03-segmentation-1408", "03-segmentation-1410", "03-segmentation-1425",
        "03-segmentation-1441", "05-sharpness-1431", "05-sharpness-1438",
    ]) func `decodes test vectors bit by bit`(_ name: String) throws {
        let frames = try ivfFrames(fixture("vp8/vp80-\(name).ivf"))
        let expected = String(decoding: try fixture("vp8/vp80-\(name).ivf.md5"), as: UTF8.self)
            .split(separator: "\n").map { String($0.prefix(32)) }
        let decoder = VP8Decoder()

        let hashes = try frames.compactMap { frame in
            try decoder.decode(bytes: frame).map { decoded in
                DigestAlgorithm.md5.hexadecimalHash((0..<3).flatMap { samples(of: decoded, plane: $0) })
            }
        }

        #expect(hashes == expected)
    }

    @Test func `waits for a key frame at first and after damage`() throws {
        let encoder = VP8Encoder(configuration: Self.configuration())
        let frames = try (0..<6).map { number in
            if number == 4 { encoder.requestKeyFrame() }
            return try Self.encode(picture(number), with: encoder).bytes
        }
        let decoder = VP8Decoder()
        func decode(_ bytes: [UInt8]) throws(VideoCodecError) -> VideoFrame? {
            try decoder.decode(bytes: bytes)
        }

        #expect(throws: VideoCodecError.needsKeyFrame) { try decode(frames[1]) }
        #expect(try decode(frames[0]) != nil)
        #expect(throws: VideoCodecError.needsKeyFrame) { try decode([]) }
        #expect(throws: VideoCodecError.needsKeyFrame) { try decode(frames[1]) }
        #expect(throws: VideoCodecError.needsKeyFrame) { try decode(frames[3]) }
        #expect(try decode(frames[4]) != nil)
        #expect(try decode(frames[5]) != nil)
    }

    @Test(arguments: [(0, 0), (0, 8), (16383, 16383), (5000, 4000)]) func `refuses a size before anything is allocated`(
        _ width: Int, _ height: Int
    ) throws {
        let encoder = VP8Encoder(configuration: Self.configuration())
        var bytes = try Self.encode(picture(0), with: encoder).bytes
        (bytes[6], bytes[7]) = (UInt8(width & 255), UInt8(width >> 8))
        (bytes[8], bytes[9]) = (UInt8(height & 255), UInt8(height >> 8))

        #expect(throws: VideoCodecError.unacceptableSize(VideoSize(width: width, height: height))) {
            try VP8Decoder().decode(bytes: bytes)
        }
    }

    @Test func `survives damaged streams`() throws {
        var random = SeededRandom(seed: 6386)
        for name in ["00-comprehensive-017", "03-segmentation-03", "01-intra-1416"] {
            let frames = try ivfFrames(fixture("vp8/vp80-\(name).ivf"))
            for _ in 0..<6 {
                let decoder = VP8Decoder(maximumPixels: 640 * 480)
                for frame in frames {
                    var damaged = frame
                    for _ in 0..<Int(random.next() % 4) where !damaged.isEmpty {
                        damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
                    }
                    if random.next() % 4 == 0 { damaged.removeLast(Int(random.next() % UInt64(damaged.count + 1))) }
                    _ = try? decoder.decode(bytes: damaged)
                }
                #expect(throws: Never.self) { try decoder.decode(bytes: frames[0]) }
            }
        }
    }

    @Test func `takes pictures from a pool and gives them back`() throws {
        let pool = VideoFramePool()
        let decoder = VP8Decoder(pool: pool)
        let encoder = VP8Encoder(configuration: Self.configuration())

        for number in 0..<20 {
            let encoded = try Self.encode(picture(number), with: encoder)
            _ = try decoder.decode(bytes: encoded.bytes)
        }

        #expect(pool.allocationCount == 1)
    }

    @Test func `a pool outlived by its pictures frees them, and forgets sizes that are over`() {
        var pool: VideoFramePool? = VideoFramePool()
        let size = VideoSize(width: 16, height: 16)
        let kept = pool?.takeBuffer(size: size)
        _ = pool?.takeBuffer(size: VideoSize(width: 640, height: 16))
        _ = pool?.takeBuffer(size: size, pixelFormat: .nv12)
        #expect(pool?.allocationCount == 3)
        pool = nil
        #expect(kept?.size == size)
    }
}

extension VP8Decoder {
    @discardableResult
    fileprivate func decode(bytes: [UInt8]) throws(VideoCodecError) -> VideoFrame? {
        try decode(bytes.span.bytes, captureTime: .zero)
    }
}
