import Offhook

/// One camera, pattern or file that feeds every call that wants pictures, and is open while one does.
@MainActor final class CameraFeed {
    private(set) var choice: CameraChoice
    private var capturer: (any VideoCapturer)?
    private var sinks: [VideoChannel.ID: any VideoSink] = [:]
    private let splitter = VideoSplitter()
    private var preview: (sink: any VideoSink, clear: () -> Void)?

    /// Told in words, and as an event with its members.
    var tell: (_ words: String, _ event: String, _ members: KeyValuePairs<String, JSONValue>) -> Void = { _, _, _ in }

    /// Finds the camera or opens the file, and takes no picture yet.
    init(choice: CameraChoice) throws(FileFailure) {
        self.choice = choice
        capturer = try Self.capturer(for: choice)
    }

    /// Whether a screen is sent, which the far end is told.
    var isScreen: Bool {
        if case .screen = choice { true } else { false }
    }

    /// Whether there is anything to send.
    var hasPictures: Bool { capturer != nil }

    /// Shows what is sent to a person too, while anything is sent; `clear` is called when nothing is any more.
    func setPreview(_ sink: (any VideoSink)?, clear: @escaping () -> Void) {
        preview = sink.map { ($0, clear) }
    }

    /// Sends pictures to a video line from now on.
    func add(_ sink: any VideoSink, for channel: VideoChannel.ID) async throws(FileFailure) {
        if let earlier = sinks[channel] {
            guard earlier !== sink else { return }
            splitter.remove(earlier)
        }
        let isFirst = sinks.isEmpty
        sinks[channel] = sink
        splitter.add(sink)
        if isFirst { try await open() }
    }

    /// Sends no more pictures to a video line, and closes the camera after the last.
    func remove(_ channel: VideoChannel.ID) {
        guard let sink = sinks.removeValue(forKey: channel) else { return }
        splitter.remove(sink)
        if sinks.isEmpty { close() }
    }

    /// Takes another camera in the place of this one, in the middle of a call too.
    func change(to choice: CameraChoice) async throws(FileFailure) {
        let next = try Self.capturer(for: choice)
        close()
        (capturer, self.choice) = (next, choice)
        if !sinks.isEmpty { try await open() }
    }

    func close() {
        capturer?.setVideoSink(nil)
        if let camera = capturer as? V4L2Capturer {
            camera.delegate = nil
            camera.stop()
        }
        guard let preview else { return }
        splitter.remove(preview.sink)
        preview.clear()
    }

    private func open() async throws(FileFailure) {
        guard let capturer else { return }
        if let preview { splitter.add(preview.sink) }
        capturer.setVideoSink(splitter)
        guard let camera = capturer as? V4L2Capturer, case .v4l2(let device, _) = choice else { return }
        camera.delegate = self
        do {
            switch device {
            case .position(let position): try await camera.useCamera(at: position)
            case .named(let name): try await camera.useCamera(try Self.device(named: name))
            }
        } catch {
            throw FileFailure("\(error)")
        }
    }

    private static func capturer(for choice: CameraChoice) throws(FileFailure) -> (any VideoCapturer)? {
        switch choice {
        case .none: return nil
        case .pattern(let format):
            return TestPatternCapturer(
                size: format?.size ?? VideoSize(width: 1280, height: 720), frameRate: format?.frameRate ?? 30)
        case .file(let path):
            do { return try FileCapturer(path: path) } catch { throw FileFailure(error.reason) }
        case .screen(let format):
            var configuration = ScreenConfiguration()
            if let format { (configuration.maximumSize, configuration.frameRate) = (format.size, format.frameRate) }
            do { return try ScreenCapturer(configuration: configuration) } catch { throw FileFailure(error.reason) }
        case .v4l2(let device, let format):
            guard !V4L2Capturer.availableCameras().isEmpty else {
                throw FileFailure("there is no camera; plug one in, or type --camera pattern")
            }
            if case .named(let name) = device { _ = try self.device(named: name) }
            guard let format else { return V4L2Capturer() }
            return V4L2Capturer(configuration: CameraConfiguration(size: format.size, frameRate: format.frameRate))
        }
    }

    private static func device(named name: String) throws(FileFailure) -> CameraDevice {
        let cameras = V4L2Capturer.availableCameras()
        if let camera = cameras.first(where: { $0.path == name || $0.id == name })
            ?? cameras.first(where: { $0.name.lowercased().contains(name.lowercased()) })
        {
            return camera
        }
        let list = cameras.map { "\($0.path) (\($0.name))" }.joined(separator: ", ")
        throw FileFailure("there is no camera “\(name)”; there are \(list.isEmpty ? "none" : list)")
    }
}

extension CameraFeed: V4L2CapturerDelegate {
    func capturer(_ capturer: V4L2Capturer, wasInterruptedBy error: CameraError) {
        tell(error.reason, "cameraWasInterrupted", ["error": .text(error.reason)])
    }

    func capturerDidResume(_ capturer: V4L2Capturer) {
        let name = capturer.statistics.device?.name
        tell("Pictures of \(name ?? "the camera") come again.", "cameraDidResume", ["camera": JSONValue(name)])
    }
}
