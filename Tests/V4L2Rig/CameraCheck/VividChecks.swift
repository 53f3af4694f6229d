import CRig
import Dispatch
import Offhook

/// The kernel's virtual cameras: `/dev/video0` single-planar, `/dev/video1` multi-planar.
struct VividChecks {
    private enum Control {
        static let droppedShare: UInt32 = 0xF0F040
        static let disconnect: UInt32 = 0xF0F041
        static let damaged: UInt32 = 0xF0F042
        static let fatal: UInt32 = 0xF0F046
        static let wrapSequence: UInt32 = 0xF0F026
        static let wrapTimestamp: UInt32 = 0xF0F027
    }

    private let capturer: V4L2Capturer
    private let watcher = Watcher()
    private let cameras = V4L2Capturer.availableCameras()

    init() {
        capturer = V4L2Capturer(
            configuration: CameraConfiguration(size: VideoSize(width: 640, height: 480), frameRate: 25),
            callbackQueue: DispatchQueue(label: "news"))
    }

    private func set(_ control: UInt32, _ value: Int32 = 1) throws {
        let status = rig_set_control("/dev/video0", control, value)
        try expect(status == 0, "control \(control) cannot be set: \(status)")
    }

    private func format(_ pixelFormat: CameraPixelFormat, of camera: CameraDevice) throws -> CameraFormat {
        let size = VideoSize(width: 640, height: 480)
        guard let format = camera.formats.first(where: { $0.pixelFormat == pixelFormat && $0.size == size }) else {
            throw Report.Failure("no \(pixelFormat) among \(camera.formats.map(\.pixelFormat))")
        }
        return format
    }

    private func error(_ body: () async throws -> Void) async throws -> CameraError {
        do {
            try await body()
        } catch let error as CameraError {
            return error
        }
        throw Report.Failure("no error was thrown")
    }

    func run(_ report: inout Report) async {
        guard cameras.count == 2 else {
            await report.check("two cameras are listed") { throw Report.Failure("\(cameras.map(\.path))") }
            return
        }
        let (single, multiple) = (cameras[0], cameras[1])
        capturer.delegate = watcher
        capturer.setVideoSink(watcher)
        await report.check("controls are listed with their values, set while pictures come, and mistakes told") {
            let controls = try V4L2Capturer.controls(of: single)
            guard let brightness = controls.first(where: { $0.id == .brightness }) else {
                throw Report.Failure("\(controls.map(\.name))")
            }
            try expect(brightness.range == 0...255 && brightness.kind == .number, "\(brightness)")
            let menus = controls.compactMap { if case .menu(let choices) = $0.kind { choices } else { nil } }
            try expect(menus.contains { $0.count > 2 && $0.values.allSatisfy { !$0.isEmpty } }, "\(menus)")
            try await capturer.useCamera(single)
            _ = try await watcher.frames(3)
            try V4L2Capturer.setControl(.brightness, to: 200, of: single)
            let now = try V4L2Capturer.controls(of: single).first { $0.id == .brightness }?.value
            try expect(now == 200, "\(String(describing: now))")
            try V4L2Capturer.setControl(.brightness, to: brightness.defaultValue, of: single)
            for (identifier, value) in [(CameraControl.ID.brightness, 256), (.zoom, 1)] {
                let trouble = try await error { try V4L2Capturer.setControl(identifier, to: value, of: single) }
                try expect(trouble.code == .controlNotSettable, "\(trouble)")
                print("    \(trouble)")
            }
            watcher.clear()
            _ = try await watcher.frames(3)
        }
        await report.check("cameras are listed with position, bus and formats") {
            try expect(cameras.map(\.path) == ["/dev/video0", "/dev/video1"], "\(cameras.map(\.path))")
            try expect(cameras.map(\.position) == [.front, .back], "\(cameras.map(\.position))")
            try expect(Set(cameras.map(\.id)).count == 2, "\(cameras.map(\.id))")
            let format = try format(.yuyv, of: single)
            try expect(format.frameRates.contains(25), "\(format)")
        }
        await formats(&report, single, multiple)
        await injections(&report, single)
        await access(&report, single)
        await departures(&report, single)
        capturer.stop()
    }

    private func formats(_ report: inout Report, _ single: CameraDevice, _ multiple: CameraDevice) async {
        let reference = Lock<[[Int]]>([])
        let list: [(CameraDevice, CameraPixelFormat)] = [
            (single, .yuyv), (single, .uyvy), (single, .nv12), (single, .nv21), (single, .yu12), (single, .rgb24),
            (multiple, .nv12Split), (multiple, .yu12Split), (multiple, .yuyv),
        ]
        for (camera, pixelFormat) in list {
            let isFirst = pixelFormat == .yuyv && camera == single
            let count = isFirst ? 50 : 10
            let kind = camera == single ? "single-planar" : "multi-planar"
            await report.check("\(count) pictures of \(kind) \(pixelFormat) 640x480") {
                watcher.clear()
                try await capturer.useCamera(camera, format: try format(pixelFormat, of: camera))
                let frames = try await watcher.frames(count)
                let statistics = capturer.statistics
                try expect(statistics.framesLost == 0 && statistics.framesDamaged == 0, "\(statistics)")
                try expect(frames.allSatisfy { $0.size == VideoSize(width: 640, height: 480) }, "wrong size")
                let seen = bars(of: frames[count - 1])
                if isFirst {
                    reference.withLock { $0 = seen }
                    try expect(Set(seen).count == 8, "the bars are \(seen)")
                    try expect(seen[0][0] > 170 && seen[7][0] < 40, "the bars are \(seen)")
                    try expect(abs(statistics.measuredFrameRate - 25) < 1, "\(statistics.measuredFrameRate) a second")
                    try expect(intervals(frames).allSatisfy { $0 > 0.02 && $0 < 0.06 }, "\(intervals(frames))")
                } else {
                    let wanted = reference.withLock { $0 }
                    try expect(isNear(seen, wanted, by: 4), "the bars are \(seen), not \(wanted)")
                }
            }
        }
    }

    private func injections(_ report: inout Report, _ camera: CameraDevice) async {
        await report.check("dropped pictures are counted") {
            try await capturer.useCamera(camera)
            try set(Control.droppedShare, 20)
            try await waitForFrames(40)
            try set(Control.droppedShare, 0)
            let lost = capturer.statistics.framesLost
            try expect(lost > 0 && lost < 40, "\(lost) counted as lost")
        }
        await report.check("a picture flagged as damaged is left out and counted") {
            try await capturer.useCamera(camera)
            try await waitForFrames(3)
            try set(Control.damaged)
            try await waitForFrames(6)
            try expect(capturer.statistics.framesDamaged == 1, "\(capturer.statistics)")
        }
        await report.check("a broken stream starts again by itself, without a word") {
            watcher.clear()
            try await capturer.useCamera(camera)
            try await waitForFrames(3)
            try set(Control.fatal)
            try await waitForFrames(10)
            try expect(watcher.interruptionCount == 0, "it was told")
        }
        await report.check("sequence numbers and times that wrap do no harm") {
            try set(Control.wrapSequence)
            try set(Control.wrapTimestamp)
            try await capturer.useCamera(camera)
            watcher.clear()
            let frames = try await watcher.frames(140)
            try set(Control.wrapSequence, 0)
            try set(Control.wrapTimestamp, 0)
            try expect(capturer.statistics.framesLost == 0, "\(capturer.statistics)")
            try expect(intervals(frames).allSatisfy { $0 > 0 && $0 < 0.2 }, "\(intervals(frames))")
        }
    }

    /// Waits for so many more pictures.
    private func waitForFrames(_ count: Int) async throws {
        watcher.clearFrames()
        _ = try await watcher.frames(count)
    }

    private func access(_ report: inout Report, _ camera: CameraDevice) async {
        let other = V4L2Capturer(callbackQueue: DispatchQueue(label: "other"))
        await report.check("a camera in use is told") {
            try await capturer.useCamera(camera)
            let error = try await error { try await other.useCamera(camera) }
            try expect(error.code == .busy, "\(error)")
            print("    \(error)")
        }
        await report.check("a camera that was stopped is free at once") {
            capturer.stop()
            try await other.useCamera(camera)
            other.stop()
        }
        await report.check("a camera without a sink is closed, and opened again for the next one") {
            try await capturer.useCamera(camera)
            try await waitForFrames(2)
            capturer.setVideoSink(nil)
            watcher.clear()
            var isFree = false
            let end = ContinuousClock.now + .seconds(10)
            while !isFree, ContinuousClock.now < end {
                isFree = (try? await other.useCamera(camera)) != nil
                if !isFree { try await Task.sleep(for: .milliseconds(100)) }
            }
            try expect(isFree, "it stayed open")
            other.stop()
            capturer.setVideoSink(watcher)
            _ = try await watcher.frames(5)
        }
        await report.check("a camera that may not be opened is told") {
            capturer.stop()
            try expect(rig_become_nobody() == 0, "the user cannot be changed")
            defer { _ = rig_become_root() }
            let error = try await error { try await capturer.useCamera(at: .front) }
            try expect(error.code == .notPermitted, "\(error)")
            print("    \(error)")
        }
        await report.check("a format that the camera lacks is told") {
            let odd = CameraFormat(
                pixelFormat: CameraPixelFormat("MJPG"), size: VideoSize(width: 640, height: 480), frameRates: [])
            let error = try await error { try await capturer.useCamera(camera, format: odd) }
            try expect(error.code == .formatNotSupported, "\(error)")
            print("    \(error)")
        }
    }

    private func departures(_ report: inout Report, _ camera: CameraDevice) async {
        await report.check("a disconnected camera is told once, and pictures go on when it is back") {
            try await capturer.useCamera(camera)
            try await waitForFrames(5)
            watcher.clear()
            try set(Control.disconnect)
            let error = try await watcher.interruption()
            try expect(error.code == .vanished, "\(error)")
            print("    \(error)")
            try await watcher.resumption()
            try expect(watcher.interruptionCount == 1, "told \(watcher.interruptionCount) times")
        }
        await report.check("a camera that is taken away is told, and missing after that") {
            try await waitForFrames(5)
            watcher.clear()
            try writeLine("vivid.0", to: "/sys/bus/platform/drivers/vivid/unbind")
            let error = try await watcher.interruption()
            try expect(error.code == .vanished, "\(error)")
            let left = try await watcher.first("news of the cameras left") { news -> [CameraDevice]? in
                for case .cameras(let cameras) in news where cameras.isEmpty { return cameras }
                return nil
            }
            try expect(left.isEmpty && V4L2Capturer.availableCameras().isEmpty, "\(left)")
            let other = V4L2Capturer(callbackQueue: DispatchQueue(label: "other"))
            let missing = try await self.error { try await other.useCamera(at: .front) }
            try expect(missing.code == .notFound, "\(missing)")
            print("    \(missing)")
        }
        await report.check("pictures go on when it is put back") {
            try writeLine("vivid.0", to: "/sys/bus/platform/drivers/vivid/bind")
            try await watcher.resumption()
            try await waitForFrames(10)
            try expect(watcher.interruptionCount == 1, "told again")
            try expect(capturer.statistics.interruptions == 2, "\(capturer.statistics)")
        }
    }
}
