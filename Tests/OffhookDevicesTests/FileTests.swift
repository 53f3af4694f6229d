import Dispatch
import Glibc
import OffhookBasics
import OffhookCodecs
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Picture files` {
    private let folder = TemporaryFolder()

    private func picture(_ number: Int, size: VideoSize = VideoSize(width: 162, height: 122)) -> VideoFrame {
        let buffer = VideoFrameBuffer(size: size)
        TestPatternPainter(size: size).draw(TestPattern(frameNumber: number, clock: 1), into: buffer)
        return VideoFrame(buffer: buffer, captureTime: .zero)
    }

    @Test func `Y4M comes back as it was written`() throws {
        let path = folder.file("a.y4m")
        let renderer = try FileRenderer(path: path, frameRate: 29.97)
        let pictures = (0..<3).map { picture($0) }
        for picture in pictures { renderer.handleVideoFrame(picture) }
        renderer.close()

        let reader = try Y4MReader(try InputFile(opening: path))

        #expect(reader.size == VideoSize(width: 162, height: 122))
        #expect(abs(reader.frameRate - 29.97) < 0.001)
        // The fourth is the first again.
        for wanted in pictures + [pictures[0]] {
            let frame = try #require(reader.next(captureTime: .zero))
            #expect(samples(frame.buffer) == samples(wanted.buffer))
        }
        #expect(renderer.frameCount == 3)
        #expect(renderer.error == nil)
    }

    @Test func `Y4M of an odd size has whole chroma rows`() throws {
        let path = folder.file("odd.y4m")
        let renderer = try FileRenderer(path: path)
        renderer.handleVideoFrame(picture(0, size: VideoSize(width: 161, height: 121)))

        #expect(
            readFile(path).count == "YUV4MPEG2 W161 H121 F30:1 Ip A1:1 C420jpeg\nFRAME\n".utf8.count + 161 * 121 + 2
                * 81 * 61)
    }

    @Test func `Y4M scales pictures to the first one's size and turns them upright`() throws {
        let path = folder.file("b.y4m")
        let renderer = try FileRenderer(path: path)
        renderer.handleVideoFrame(picture(1, size: VideoSize(width: 320, height: 240)))
        renderer.handleVideoFrame(picture(2, size: VideoSize(width: 400, height: 300)))
        var turning = picture(3, size: VideoSize(width: 320, height: 240))
        turning.rotation = .half
        renderer.handleVideoFrame(turning)
        renderer.close()

        let reader = try Y4MReader(try InputFile(opening: path))
        let read = try (0..<3).map { _ in TestPatternReader().read(try #require(reader.next(captureTime: .zero))) }

        #expect(read.map { $0?.frameNumber } == [1, 2, 3])
        #expect(read.map { $0?.rotation } == [.some(.none), .some(.none), .half])
    }

    @Test(arguments: [
        ("", DeviceError.Code.notUnderstood), ("YUV4MPEG2 W2\n", .notUnderstood), ("DKIF", .notUnderstood),
        ("YUV4MPEG2 W16 H16 F30:1 C444\nFRAME\n", .notUnderstood), ("RIFF", .notUnderstood),
        ("YUV4MPEG2 W99999999999999999999 H16\nFRAME\n", .notUnderstood),
        ("YUV4MPEG2 W16 H16\nFRAME\n123", .notUnderstood),
    ])
    func `what is no picture file is refused in words`(_ content: String, _ code: DeviceError.Code) {
        let path = folder.file("bad")
        writeFile(path, Array(content.utf8))

        let error = #expect(throws: DeviceError.self) { try FileCapturer(path: path) }

        #expect(error?.code == code)
        #expect(error?.reason.hasPrefix(path) == true)
    }

    @Test func `a missing file and an unwritable folder are told in words`() {
        let missing = #expect(throws: DeviceError.self) { try FileCapturer(path: "/nonexistent/a.y4m") }
        #expect(missing?.reason == "/nonexistent/a.y4m cannot be opened: No such file or directory.")
        for path in ["/nonexistent/a.y4m", "/nonexistent/a.png"] {
            let error = #expect(throws: DeviceError.self) { try FileRenderer(path: path) }
            #expect(error?.code == .cannotOpen)
        }
        #expect(throws: DeviceError.self) { try IVFWriter(path: "/nonexistent/a.ivf") }
        #expect(throws: DeviceError.self) { try WAVRecorder(path: "/nonexistent/a.wav") }
        #expect(throws: DeviceError.self) { try FileRenderer(path: folder.file("a.gif")) }
    }

    /// Reads a pipe to its end, on a queue of its own.
    private func reading(_ path: String) -> () -> [UInt8] {
        let bytes = Lock<[UInt8]>([])
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue(label: "reader").async {
            let found = readFile(path)
            bytes.withLock { $0 = found }
            isDone.signal()
        }
        return {
            isDone.wait()
            return bytes.withLock { $0 }
        }
    }

    @Test func `a pipe stays a pipe and gets one PNG after the other`() throws {
        let path = folder.file("a.png")
        try #require(mkfifo(path, 0o600) == 0)
        let size = VideoSize(width: 162, height: 122)
        let received = reading(path)

        let writer = try PNGWriter(path: path)
        writer.write(VideoFrame(buffer: VideoFrameBuffer(size: size), captureTime: .zero))
        writer.write(VideoFrame(buffer: VideoFrameBuffer(size: size), captureTime: .zero))
        writer.close()

        let bytes = received()
        let end = Array("IEND".utf8)
        let pictures = (0..<max(bytes.count - 4, 0)).count { bytes[$0..<$0 + 4].elementsEqual(end) }
        #expect(pictures == 2)
        #expect(bytes.prefix(4).elementsEqual([0x89, 0x50, 0x4E, 0x47]))
        #expect(writer.error == nil)
        var status = stat()
        try #require(stat(path, &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test func `a film goes into a pipe, and ends where nobody reads it any more`() throws {
        let path = folder.file("a.y4m")
        try #require(mkfifo(path, 0o600) == 0)
        let size = VideoSize(width: 64, height: 48)
        let frame = VideoFrame(buffer: VideoFrameBuffer(size: size), captureTime: .zero)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        let writer = try FileRenderer(path: path)

        writer.handleVideoFrame(frame)
        var bytes = [UInt8](repeating: 0, count: 10)
        let count = read(reader, &bytes, bytes.count)
        close(reader)
        writer.handleVideoFrame(frame)
        writer.close()

        #expect(count == 10)
        #expect(bytes == Array("YUV4MPEG2 ".utf8))
        #expect(writer.error?.code == .cannotWrite)
        #expect(writer.frameCount == 1)
    }

    @Test func `a device that is full is told`() throws {
        let file = try OutputFile(creating: "/dev/full")

        #expect(!file.append([1, 2, 3]))
        #expect(file.error?.code == .diskFull)
    }

    @Test func `a link to a picture leads to the new picture`() throws {
        let path = folder.file("a.png")
        writeFile(path, [])
        let link = folder.file("link.png")
        try #require(symlink(path, link) == 0)

        let writer = try PNGWriter(path: link)
        writer.write(VideoFrame(buffer: VideoFrameBuffer(size: VideoSize(width: 16, height: 16)), captureTime: .zero))

        #expect(readFile(path).count > 8)
        var status = stat()
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    }

    @Test func `PNG holds the newest picture`() throws {
        let path = folder.file("a.png")
        let renderer = try FileRenderer(path: path)
        for number in 0..<4 { renderer.handleVideoFrame(picture(number)) }
        renderer.close()

        let bytes = readFile(path)
        #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        #expect(bytes[16..<24].elementsEqual([0, 0, 0, 162, 0, 0, 0, 122]))
        let luma = try #require(decodePNGAsGray(path, size: VideoSize(width: 162, height: 122)))
        let buffer = VideoFrameBuffer(size: VideoSize(width: 162, height: 122))
        buffer.withMutablePlane(0) { plane in
            for row in 0..<122 {
                for column in 0..<162 { plane[row * buffer.stride(ofPlane: 0) + column] = luma[row * 162 + column] }
            }
        }
        #expect(TestPatternReader().read(VideoFrame(buffer: buffer, captureTime: .zero))?.frameNumber == 3)
        #expect(renderer.error == nil)
    }

    // MARK: IVF

    private func coded(_ count: Int) throws -> [[UInt8]] {
        let encoder = VP8Encoder()
        var frames: [[UInt8]] = []
        for number in 0..<count {
            let frame = VideoFrame(
                buffer: picture(number).buffer, captureTime: Instant(nanoseconds: Int64(number) * 33_333_333))
            _ = try encoder.encode(frame) { data, _ in frames.append(data.withUnsafeBytes { Array($0) }) }
        }
        return frames
    }

    @Test func `IVF is whole after each frame`() throws {
        let path = folder.file("a.ivf")
        let writer = try IVFWriter(path: path)
        let frames = try coded(4)

        for (index, frame) in frames.enumerated() {
            writer.write(frame, timestamp: 5_000_000_000 + UInt64(index) * 3000)
            // Not closed: this is what a killed process leaves.
            let bytes = readFile(path)
            #expect(bytes[0..<8].elementsEqual(Array("DKIF".utf8) + [0, 0, 32, 0]))
            #expect(bytes[8..<16].elementsEqual(Array("VP80".utf8) + [162, 0, 122, 0]))
            #expect(bytes.littleEndian(at: 16, as: UInt32.self) == 90000)
            #expect(bytes.littleEndian(at: 24, as: UInt32.self) == UInt32(index + 1))
            #expect(bytes.count == 32 + frames[...index].reduce(0) { $0 + 12 + $1.count })
        }
        let last = readFile(path).count - frames[3].count - 8
        #expect(readFile(path).littleEndian(at: last, as: UInt64.self) == 9000)
    }

    @Test func `IVF plays, at its rate and from the start again, and bears a cut end`() throws {
        let path = folder.file("b.ivf")
        let writer = try IVFWriter(path: path)
        for (index, frame) in try coded(4).enumerated() { writer.write(frame, timestamp: UInt64(index) * 6000) }
        writer.close()
        writeFile(path, Array(readFile(path).dropLast(3)))

        let reader = try IVFReader(try InputFile(opening: path))

        #expect(reader.size == VideoSize(width: 162, height: 122))
        #expect(abs(reader.frameRate - 15) < 0.01)
        let numbers = (0..<4).map { _ in
            reader.next(captureTime: .zero).flatMap { TestPatternReader().read($0)?.frameNumber }
        }
        #expect(numbers == [0, 1, 2, 0])
    }

    @Test func `the capturer plays a file`() async throws {
        let path = folder.file("c.y4m")
        let renderer = try FileRenderer(path: path, frameRate: 100)
        for number in 0..<3 { renderer.handleVideoFrame(picture(number)) }
        renderer.close()
        let collector = PictureCollector()
        let capturer = try FileCapturer(path: path)

        capturer.setVideoSink(collector)
        let frames = await collector.frames.first(5)
        capturer.setVideoSink(nil)

        #expect(frames.prefix(5).map { TestPatternReader().read($0)?.frameNumber } == [0, 1, 2, 0, 1])
    }
}
