import Dispatch
import Offhook

/// Two USB webcams of the real driver: the second one sends JPEG without Huffman tables.
struct USBChecks {
    private let capturer: V4L2Capturer
    private let watcher = Watcher()

    init() {
        // Thirty large pictures a second are more than the emulated processor can decode.
        capturer = V4L2Capturer(
            configuration: CameraConfiguration(size: VideoSize(width: 1280, height: 720), frameRate: 15),
            callbackQueue: DispatchQueue(label: "news"))
    }

    private func tell(_ command: String, camera: Int = 0) throws {
        try writeLine(command, to: "/run/usbcam\(camera)")
    }

    private func waitForFrames(_ count: Int) async throws -> [VideoFrame] {
        watcher.clearFrames()
        return try await watcher.frames(count)
    }

    private func expectSuccession(_ frames: [VideoFrame]) throws {
        let numbers = frames.map(cameraNumber)
        try expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == ($0 + 1) & 0xFFFF }, "pictures \(numbers)")
    }

    func run(_ report: inout Report) async {
        capturer.delegate = watcher
        capturer.setVideoSink(watcher)
        await report.check("two cameras are listed, and their metadata nodes are not") {
            let cameras = V4L2Capturer.availableCameras()
            try expect(cameras.count == 2, "\(cameras.map(\.path))")
            // What follows damages the first and takes it away: it must be the one that listens on /run/usbcam0.
            try expect(cameras.map(\.name) == ["Test USB camera", "Second"], "\(cameras.map(\.name))")
            try expect(cameras.map(\.position) == [.front, .back], "\(cameras.map(\.position))")
            try expect(cameras.allSatisfy { $0.id.contains("serial=") }, "\(cameras.map(\.id))")
        }
        await report.check("30 pictures of MJPEG 1280x720, chosen for the size") {
            try await capturer.useCamera(at: .front)
            let format = capturer.statistics.format
            try expect(
                format?.pixelFormat == .mjpeg && format?.size == VideoSize(width: 1280, height: 720),
                "\(String(describing: format))")
            let frames = try await waitForFrames(30)
            try expectSuccession(frames)
            try expect(frames.allSatisfy { $0.size == VideoSize(width: 1280, height: 720) }, "wrong size")
            let statistics = capturer.statistics
            try expect(statistics.framesLost == 0 && statistics.framesDamaged == 0, "\(statistics)")
            try expect(abs(statistics.measuredFrameRate - 15) < 1, "\(statistics.measuredFrameRate) a second")
        }
        await damages(&report)
        await otherCamera(&report)
        await departures(&report)
        capturer.stop()
    }

    private func damages(_ report: inout Report) async {
        await report.check("pictures cut short are left out and counted") {
            try tell("truncate 3")
            let end = ContinuousClock.now + .seconds(10)
            while capturer.statistics.framesDamaged < 3, ContinuousClock.now < end { _ = try await waitForFrames(1) }
            _ = try await waitForFrames(5)
            try expect(capturer.statistics.framesDamaged == 3, "\(capturer.statistics)")
        }
        await report.check("pictures partly overwritten do no harm") {
            try tell("garble 5")
            _ = try await waitForFrames(15)
        }
    }

    private func otherCamera(_ report: inout Report) async {
        await report.check("another camera takes over without a gap, and without Huffman tables") {
            watcher.clear()
            _ = try await waitForFrames(5)
            try await capturer.useCamera(at: .back)
            try expect(capturer.statistics.format?.pixelFormat == .mjpeg, "\(capturer.statistics)")
            let frames = try await watcher.first("pictures of both") { news in
                news.frames.count >= 25 ? news.frames : nil
            }
            let longest = intervals(frames).max() ?? 0
            try expect(longest < 1, "\(longest) s without a picture")
            try expectSuccession(Array(frames.suffix(8)))
            try expect(capturer.statistics.framesDamaged == 0, "\(capturer.statistics)")
        }
        await report.check("20 pictures of YUYV 640x480") {
            guard let camera = V4L2Capturer.availableCameras().first,
                let format = camera.formats.first(where: { $0.pixelFormat == .yuyv && $0.size.width == 640 })
            else { throw Report.Failure("no such format") }
            try await capturer.useCamera(camera, format: format)
            try expectSuccession(try await waitForFrames(20))
            try expect(capturer.statistics.framesLost == 0, "\(capturer.statistics)")
        }
    }

    private func departures(_ report: inout Report) async {
        await report.check("an unplugged camera is told once, and known again when it is plugged in") {
            try await capturer.useCamera(at: .front)
            _ = try await waitForFrames(5)
            let before = capturer.statistics.device
            watcher.clear()
            try tell("unplug")
            let error = try await watcher.interruption()
            try expect(error.code == .vanished, "\(error)")
            print("    \(error)")
            _ = try await watcher.first("news of the camera left") { news -> Int? in
                for case .cameras(let cameras) in news where cameras.count == 1 { return 1 }
                return nil
            }
            try tell("plug")
            try await watcher.resumption()
            try expectSuccession(try await waitForFrames(10))
            try expect(
                watcher.interruptionCount == 1 && capturer.statistics.interruptions == 1, "\(capturer.statistics)")
            let after = capturer.statistics.device
            try expect(before?.name == after?.name, "\(String(describing: after))")
        }
        await report.check("a silent camera is told once, and pictures go on when it speaks again") {
            watcher.clear()
            try tell("hang")
            let error = try await watcher.interruption()
            try expect(error.code == .stalled, "\(error)")
            print("    \(error)")
            try await Task.sleep(for: .seconds(3))
            try expect(watcher.interruptionCount == 1, "told \(watcher.interruptionCount) times")
            try tell("resume")
            try await watcher.resumption()
            _ = try await waitForFrames(10)
        }
    }
}
