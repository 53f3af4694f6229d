import OffhookBasics
import OffhookDevices
import OffhookMedia
import Testing

@Suite struct `Recording worker` {
    private let folder = TemporaryFolder()
    private let size = VideoSize(width: 320, height: 180)

    private func makeWorker(keyFrameInterval: Duration? = nil) throws -> RecordingWorker {
        RecordingWorker(
            writer: try WebMWriter(path: folder.file("call.webm")), keyFrameInterval: keyFrameInterval)
    }

    private func finish(_ worker: inout RecordingWorker) throws -> WebMFile {
        worker.finish()
        return try #require(WebMFile(readFile(folder.file("call.webm"))))
    }

    private func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: 7_000_000_000) + .milliseconds(milliseconds)
    }

    /// Takes a picture as soon as it is there.
    private func takePicture(
        _ worker: inout RecordingWorker, _ time: Int, isKeyFrame: Bool = false, size: VideoSize? = nil,
        of side: RecordingWorker.Side = .remote
    ) -> Bool {
        worker.takePicture(
            [1, 2, 3], isKeyFrame: isKeyFrame, size: size ?? self.size, time: at(time), of: side, at: at(time))
    }

    private func takeSound(
        _ worker: inout RecordingWorker, _ time: Int, of side: RecordingWorker.Side = .remote,
        bytes: [UInt8] = [8, 9, 9]
    ) {
        worker.takeSound(bytes, duration: .milliseconds(20), time: at(time), of: side)
    }

    @Test func `begins a picture track with a key frame, and asks for one twice a second until it comes`() throws {
        var worker = try makeWorker()
        var asked: [Int] = []
        for time in stride(from: 0, to: 1200, by: 100) where takePicture(&worker, time) { asked.append(time) }
        _ = takePicture(&worker, 1200, isKeyFrame: true)
        let askedLater = takePicture(&worker, 1300)

        let file = try finish(&worker)
        #expect(asked == [0, 500, 1000])
        #expect(!askedLater)
        #expect(file.blocks.map(\.time) == [0, 100])
        #expect(file.blocks.map(\.isKeyFrame) == [true, false])
    }

    @Test func `asks for a key frame each interval, to seek to`() throws {
        var worker = try makeWorker(keyFrameInterval: .seconds(2))
        var asked: [Int] = []
        for time in stride(from: 0, to: 5000, by: 100) {
            let isKeyFrame = asked.last == time - 100 || time == 0
            if takePicture(&worker, time, isKeyFrame: isKeyFrame) { asked.append(time) }
        }

        #expect(asked == [2000, 4100])
        #expect(try finish(&worker).cues.map(\.time) == [0, 2100, 4200])
    }

    @Test func `asks for a key frame of ours beside each of the far end's, where seeking goes to`() throws {
        var worker = try makeWorker()
        var asked: [Int] = []
        for time in stride(from: 0, to: 3000, by: 100) {
            _ = takePicture(&worker, time, isKeyFrame: [0, 1000, 1200].contains(time))
            if takePicture(&worker, time + 10, isKeyFrame: time == 0, of: .local) { asked.append(time + 10) }
            if asked.last == time + 10 { _ = takePicture(&worker, time + 50, isKeyFrame: true, of: .local) }
        }

        #expect(asked == [1010, 1510])
    }

    @Test func `waits for a key frame after pictures were lost`() throws {
        var worker = try makeWorker()
        _ = takePicture(&worker, 0, isKeyFrame: true)
        worker.forgetPicture(of: .remote)
        let isAsked = takePicture(&worker, 100)
        _ = takePicture(&worker, 200, isKeyFrame: true)

        #expect(isAsked)
        #expect(try finish(&worker).blocks.map(\.time) == [0, 200])
    }

    @Test func `puts both sides on one line of time, in order however they come`() throws {
        var worker = try makeWorker()
        takeSound(&worker, 0)
        for time in stride(from: 20, to: 600, by: 20) {
            takeSound(&worker, time)
            // The encoder of our picture takes 100 ms.
            if time >= 120 { _ = takePicture(&worker, time - 100, isKeyFrame: time == 120, of: .local) }
            worker.advance(to: at(time))
        }

        let file = try finish(&worker)
        #expect(file.tracks == ["2 A_OPUS 1 48000", "3 V_VP8 320 180"])
        #expect(file.blocks.map(\.time) == file.blocks.map(\.time).sorted())
        #expect(file.blocks.filter { $0.track == 3 }.map(\.time) == Array(stride(from: 20, to: 500, by: 20)))
        #expect(file.blocks.filter { $0.track == 2 }.map(\.time) == Array(stride(from: 0, to: 600, by: 20)))
    }

    @Test func `keeps the order of a track whose clock is put back`() throws {
        var worker = try makeWorker()
        for (time, isKeyFrame) in [(500, true), (200, false), (240, false), (600, false)] {
            _ = takePicture(&worker, time, isKeyFrame: isKeyFrame)
        }
        takeSound(&worker, 300)

        let pictures = try finish(&worker).blocks.filter { $0.track == 1 }
        #expect(pictures.map(\.isKeyFrame) == [true, false, false, false])
        #expect(pictures.map(\.time) == [0, 1, 2, 100])
    }

    @Test func `writes what is older than its patience, without an end`() throws {
        var worker = try makeWorker()
        for time in stride(from: 0, to: 3000, by: 20) {
            takeSound(&worker, time)
            worker.advance(to: at(time))
        }

        let last = try #require(WebMFile(readFile(folder.file("call.webm")))).blocks.last?.time ?? 0
        #expect(last >= 2000)
    }

    @Test func `fills pauses and losses of sound with silence, where they were`() throws {
        var worker = try makeWorker()
        for time in stride(from: 0, to: 100, by: 20) { takeSound(&worker, time) }
        // A pause, told by a packet that says nothing; then one lost packet.
        takeSound(&worker, 100, bytes: [0x78])
        for time in [300, 320, 360] { takeSound(&worker, time) }
        for time in stride(from: 0, to: 1000, by: 100) { worker.advance(to: at(time)) }

        let blocks = try finish(&worker).blocks
        #expect(blocks.prefix(19).map(\.time) == Array(stride(from: 0, to: 380, by: 20)))
        let silent = blocks.filter { $0.bytes == [0xF8, 0xFF, 0xFE] }.map(\.time)
        #expect(silent.filter { $0 < 380 } == Array(stride(from: 100, to: 300, by: 20)) + [340])
    }

    @Test func `fills a hold as it goes on, and drops sound that comes after its silence`() throws {
        var worker = try makeWorker()
        for time in [0, 20] { takeSound(&worker, time) }
        for time in stride(from: 0, to: 2000, by: 100) { worker.advance(to: at(time)) }
        takeSound(&worker, 100)
        takeSound(&worker, 2000)

        let blocks = try finish(&worker).blocks
        #expect(blocks.map(\.time) == Array(stride(from: 0, to: 2020, by: 20)))
        #expect(blocks.filter { $0.bytes == [8, 9, 9] }.map(\.time) == [0, 20, 2000])
    }

    @Test func `tells the largest size and stereo, whenever they come`() throws {
        var worker = try makeWorker()
        _ = takePicture(&worker, 0, isKeyFrame: true)
        takeSound(&worker, 0)
        _ = takePicture(&worker, 100, isKeyFrame: true, size: VideoSize(width: 1280, height: 720))
        _ = takePicture(&worker, 200, isKeyFrame: true, size: VideoSize(width: 160, height: 90))
        takeSound(&worker, 20, bytes: [0xFC, 1, 2])

        #expect(try finish(&worker).tracks == ["1 V_VP8 1280 720", "2 A_OPUS 2 48000"])
    }
}
