import OffhookBasics
import OffhookDevices
import OffhookMedia
import Testing

@Suite struct `WebM writer` {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("call.webm") }
    private let picture = WebMTrack(
        number: 1, name: "picture", isDefault: true, content: .vp8(VideoSize(width: 640, height: 360)))
    private let sound = WebMTrack(number: 2, name: "sound", isDefault: true, content: .opus(channelCount: 2))

    private func block(_ track: Int, _ time: Int, isKeyFrame: Bool = false) -> WebMWriter.Block {
        WebMWriter.Block(track: track, time: time, isKeyFrame: isKeyFrame, bytes: [UInt8(time & 0xFF), 1, 2, 3])
    }

    /// Three seconds of pictures and sound, with a key frame each second.
    private func write(to writer: WebMWriter, from start: Int = 0) {
        for time in stride(from: start, to: start + 3000, by: 20) {
            writer.write(block(2, time, isKeyFrame: true))
            if time % 40 == 0 { writer.write(block(1, time, isKeyFrame: time % 1000 == 0)) }
        }
    }

    @Test func `makes a file that tells tracks, duration and where to begin`() throws {
        let writer = try WebMWriter(path: path)
        writer.setTrack(sound)
        writer.setTrack(picture)
        write(to: writer)
        writer.close()

        let file = try #require(WebMFile(readFile(path)))
        #expect(file.isFinished)
        #expect(file.tracks == ["1 V_VP8 640 360", "2 A_OPUS 2 48000"])
        #expect(file.duration == 2980)
        #expect(file.sought == [0x1549_A966, 0x1654_AE6B, 0x1C53_BB6B])
        #expect(
            file.cues.filter { $0.track == 1 } == [0, 1000, 2000].map { .init(time: $0, track: 1, clusterTime: $0) })
        #expect(file.blocks.count == 150 + 75)
        #expect(file.blocks.filter { $0.track == 1 }.map(\.time) == Array(stride(from: 0, to: 3000, by: 40)))
        #expect(file.blocks.filter { $0.track == 1 && $0.isKeyFrame }.map(\.time) == [0, 1000, 2000])
        #expect(file.blocks.allSatisfy { $0.bytes == [UInt8($0.time & 0xFF), 1, 2, 3] })
    }

    @Test func `has clusters of half a second at most in the file, whole, at any time`() throws {
        let writer = try WebMWriter(path: path)
        writer.setTrack(sound)
        for time in stride(from: 0, to: 3000, by: 20) {
            writer.write(block(2, time, isKeyFrame: true))
            let file = try #require(WebMFile(readFile(path)))
            #expect(!file.isFinished)
            let last = file.blocks.last?.time ?? -20
            #expect(time - last <= 520)
            #expect(file.clusterLengths.allSatisfy { $0 < 500 })
            #expect(file.duration ?? 0 == Double(max(last, 0)))
        }
    }

    @Test func `takes a track that begins later, and a picture that grows`() throws {
        let writer = try WebMWriter(path: path)
        writer.setTrack(sound)
        writer.write(block(2, 0, isKeyFrame: true))
        writer.write(block(1, 5, isKeyFrame: true))
        writer.flush()
        #expect(WebMFile(readFile(path))?.tracks == ["2 A_OPUS 2 48000"])

        writer.setTrack(picture)
        writer.write(block(1, 900, isKeyFrame: true))
        var large = picture
        large.content = .vp8(VideoSize(width: 1280, height: 720))
        writer.setTrack(large)
        writer.close()

        let file = try #require(WebMFile(readFile(path)))
        #expect(file.tracks == ["1 V_VP8 1280 720", "2 A_OPUS 2 48000"])
        #expect(file.blocks.map(\.time) == [0, 900])
    }

    @Test func `keeps the times of a track from going back`() throws {
        let writer = try WebMWriter(path: path)
        writer.setTrack(picture)
        writer.setTrack(sound)
        for (track, time) in [(1, 100), (2, 100), (1, 100), (1, 90), (2, 80), (2, 101)] {
            writer.write(block(track, time, isKeyFrame: true))
        }
        writer.close()

        let blocks = try #require(WebMFile(readFile(path))).blocks
        #expect(blocks.filter { $0.track == 1 }.map(\.time) == [100, 101, 102])
        #expect(blocks.filter { $0.track == 2 }.map(\.time) == [100, 100, 101])
    }

    @Test func `writes blocks of any length`() throws {
        let writer = try WebMWriter(path: path)
        writer.setTrack(picture)
        let lengths = [0, 1, 122, 123, 124, 126, 127, 128, 16_378, 16_379, 16_380, 16_383, 2_097_147, 2_097_150]
        for (index, length) in lengths.enumerated() {
            writer.write(
                WebMWriter.Block(
                    track: 1, time: index * 40, isKeyFrame: false, bytes: [UInt8](repeating: 7, count: length)))
        }
        writer.close()

        #expect(try #require(WebMFile(readFile(path))).blocks.map(\.bytes.count) == lengths)
    }

    @Test func `says why a file cannot be made, or is full`() throws {
        let missing = #expect(throws: DeviceError.self) { try WebMWriter(path: folder.file("missing/call.webm")) }
        let full = #expect(throws: DeviceError.self) { try WebMWriter(path: "/dev/full") }

        #expect(missing?.code == .cannotOpen)
        #expect(full?.code == .diskFull)
    }
}
