import Dispatch
import Offhook
import OffhookTestKit
import Testing

// Code that the documentation prints; `DocumentationTests` looks for it here.

final class BrightnessMeter: VideoSink {
    private let latest = Lock(0.0)

    /// From 0, black, to 255, white.
    var brightness: Double { latest.withLock { $0 } }

    func handleVideoFrame(_ frame: VideoFrame) {
        var sum = 0
        frame.withPlane(0) { luma in
            for row in 0..<frame.rows(ofPlane: 0) {
                let start = row * frame.stride(ofPlane: 0)
                for column in 0..<frame.rowBytes(ofPlane: 0) { sum += Int(luma[start + column]) }
            }
        }
        let average = Double(sum) / Double(frame.width * frame.height)
        latest.withLock { $0 = average }
    }
}

func calm(_ camera: CameraDevice) throws {
    for control in try V4L2Capturer.controls(of: camera) { print(control.name, control.range, control.value) }
    // 50 Hz, against the flicker of lamps.
    try V4L2Capturer.setControl(.powerLineFrequency, to: 1, of: camera)
}

final class SlideShow: VideoCapturer {
    private let sink = Lock<(any VideoSink)?>(nil)
    private let queue = DispatchQueue(label: "slides")

    func setVideoSink(_ sink: (any VideoSink)?) {
        // On the queue, so that a slide on its way has arrived when this returns.
        queue.sync { self.sink.withLock { $0 = sink } }
    }

    func show(gray level: UInt8) {
        queue.async {
            guard let sink = self.sink.withLock({ $0 }) else { return }
            let buffer = VideoFrameBuffer(size: VideoSize(width: 640, height: 480))
            buffer.withMutablePlane(0) { $0.update(repeating: level) }
            for plane in 1...2 { buffer.withMutablePlane(plane) { $0.update(repeating: 128) } }
            sink.handleVideoFrame(VideoFrame(buffer: buffer, captureTime: .now))
        }
    }
}

@Suite struct `A sink of the documentation` {
    @Test(arguments: VideoSinkConformance.checks(for: BrightnessMeter.self))
    func conforms(_ check: ConformanceCheck<BrightnessMeter>) async throws { try await check(BrightnessMeter()) }

    @Test func `measures how bright a slide is`() {
        let meter = BrightnessMeter()
        let slides = SlideShow()
        slides.setVideoSink(meter)

        slides.show(gray: 77)
        slides.setVideoSink(nil)

        #expect(meter.brightness == 77)
    }
}

/// A window for one call's pictures.
final class CallWindow: SDLRendererDelegate {
    let renderer: SDLRenderer
    let onClose: () -> Void

    init(title: String, onClose: @escaping () -> Void) throws {
        var configuration = WindowConfiguration(title: title)
        configuration.lastPicture = .cleared(after: .seconds(5))
        renderer = try SDLRenderer(configuration: configuration)
        self.onClose = onClose
        renderer.delegate = self
    }

    /// Shows what comes on a channel, and what the camera sends there.
    func connect(_ channel: VideoChannel, of video: VideoInterface, camera: any VideoCapturer) {
        video.remoteVideoSource(for: channel.id)?.setVideoSink(renderer)
        guard let sink = video.localVideoSink(for: channel.id) else { return }
        camera.setVideoSink(VideoSplitter([sink, renderer.selfViewSink]))
    }

    func rendererDidClose(_ renderer: SDLRenderer) { onClose() }
}

/// Shares the screen in a call that has video.
func shareScreen(in call: Call, on channel: VideoChannel, of video: VideoInterface) async throws -> ScreenCapturer {
    var configuration = ScreenConfiguration()
    configuration.frameRate = 5
    let screen = try ScreenCapturer(configuration: configuration)
    screen.setVideoSink(video.localVideoSink(for: channel.id))
    try await call.setPresentation(true)
    return screen
}

func showWhatBobSends(
    source: any VideoSource, camera: any VideoCapturer, localSink: any VideoSink
) throws -> SDLRenderer {
    let window = try SDLRenderer(configuration: .init(title: "Bob"))
    source.setVideoSink(window)
    camera.setVideoSink(VideoSplitter([localSink, window.selfViewSink]))
    return window
}

func shareScreen(on channel: VideoChannel, of video: VideoInterface) throws -> ScreenCapturer {
    let screen = try ScreenCapturer()
    screen.setVideoSink(video.localVideoSink(for: channel.id))
    return screen
}
