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
