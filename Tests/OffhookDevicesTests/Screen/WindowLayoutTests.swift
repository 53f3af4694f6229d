import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

@Suite struct `Window layout` {
    @Test(
        arguments: [
            (VideoSize(width: 640, height: 360), VideoSize(width: 1280, height: 720), [0, 0, 1280, 720]),
            (VideoSize(width: 640, height: 480), VideoSize(width: 1280, height: 720), [160, 0, 960, 720]),
            (VideoSize(width: 1280, height: 720), VideoSize(width: 600, height: 600), [0, 131, 600, 338]),
            (VideoSize(width: 360, height: 640), VideoSize(width: 1280, height: 720), [437, 0, 405, 720]),
            // A picture without height, which a broken source may claim, is a pixel and no division by zero.
            (VideoSize(width: 640, height: 0), VideoSize(width: 100, height: 100), [49, 49, 1, 1]),
        ])
    func `the picture fills the window as far as its aspect allows`(
        _ picture: VideoSize, _ window: VideoSize, _ place: [Int]
    ) {
        let rectangle = WindowLayout(window: window).place(picture)

        #expect([rectangle.x, rectangle.y, rectangle.width, rectangle.height] == place)
    }

    @Test(
        arguments: [
            (VideoSize(width: 1280, height: 720), VideoSize(width: 1000, height: 800), [738, 643, 240, 135]),
            (VideoSize(width: 720, height: 1280), VideoSize(width: 1000, height: 800), [870, 586, 108, 192]),
        ])
    func `one's own picture is in the corner`(_ picture: VideoSize, _ window: VideoSize, _ place: [Int]) throws {
        let rectangle = try #require(WindowLayout(window: window).placeSelfView(picture))

        #expect([rectangle.x, rectangle.y, rectangle.width, rectangle.height] == place)
    }

    @Test func `a window too small for two pictures shows one`() {
        let layout = WindowLayout(window: VideoSize(width: 90, height: 90))

        #expect(layout.placeSelfView(VideoSize(width: 640, height: 480)) == nil)
    }

    @Test(
        arguments: [
            (VideoRotation.none, VideoSize(width: 64, height: 48)), (.half, VideoSize(width: 64, height: 48)),
            (.quarter, VideoSize(width: 48, height: 64)), (.threeQuarters, VideoSize(width: 48, height: 64)),
        ])
    func `a picture that lies on its side is as wide as it is high`(_ rotation: VideoRotation, _ size: VideoSize) {
        let frame = VideoFrame(
            buffer: VideoFrameBuffer(size: VideoSize(width: 64, height: 48)), rotation: rotation, captureTime: .zero)

        #expect(frame.uprightSize == size)
    }
}
