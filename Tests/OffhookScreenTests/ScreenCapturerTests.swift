import Foundation
import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

extension `On screen` {
    @Suite struct `A screen` {
        let screen: VirtualScreen

        init() throws {
            screen = try #require(VirtualScreen.shared)
        }

        /// A window that covers the screen with the picture, already drawn.
        private func cover() async throws -> SDLRenderer {
            var configuration = WindowConfiguration(title: "Test")
            configuration.size = VideoSize(width: 640, height: 480)
            let window = try SDLRenderer(configuration: configuration)
            window.handleVideoFrame(quarters(VideoSize(width: 320, height: 240)))
            try await eventually({ screen.color(600, 440) }, is: { $0?.isLike(.white) ?? false })
            return window
        }

        private func expectQuarters(
            _ frame: VideoFrame, _ size: VideoSize, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(frame.size == size, sourceLocation: sourceLocation)
            guard frame.size == size else { return }
            let places = [(1, 1, Color.red), (3, 1, .green), (1, 3, .blue), (3, 3, .white)]
            for (column, row, expected) in places {
                let found = color(of: frame, size.width * column / 4, size.height * row / 4)
                #expect(found.isLike(expected), "found \(found)", sourceLocation: sourceLocation)
            }
        }

        @Test func `is taken as it is`() async throws {
            let window = try await cover()
            defer { window.close() }
            let frames = FrameKeeper()
            let capturer = try ScreenCapturer()

            capturer.setVideoSink(frames)
            try await eventually({ frames.count }, is: { $0 > 0 })
            capturer.setVideoSink(nil)

            let frame = try #require(frames.last)
            expectQuarters(frame, VideoSize(width: 640, height: 480))
            #expect(frame.content == .screen)
            #expect(capturer.sharesMemory)
            #expect(capturer.isConnected)
            #expect(capturer.screenSize == VideoSize(width: 640, height: 480))
        }

        @Test func `is the same through the connection as through shared memory`() async throws {
            let window = try await cover()
            defer { window.close() }
            let display = try XDisplay(name: screen.display)

            let shared = try #require(display.grab(nil))
            display.stopSharingMemory()
            let sent = try #require(display.grab(nil))

            #expect(!display.sharesMemory)
            #expect(shared.shows(sent))
        }

        @Test func `is taken in part, and smaller`() async throws {
            let window = try await cover()
            defer { window.close() }
            var configuration = ScreenConfiguration()
            // Half of the first and half of the second quarter, and more to the right than there is.
            configuration.area = ScreenArea(x: 480, y: 120, size: VideoSize(width: 1000, height: 240))
            configuration.maximumSize = VideoSize(width: 80, height: 80)
            let source = try ScreenSource(configuration)

            let frame = try #require(source.next(due: .zero))

            // 160x240 of the screen.
            #expect(frame.size == VideoSize(width: 53, height: 80))
            #expect(color(of: frame, 26, 20).isLike(.green))
            #expect(color(of: frame, 26, 60).isLike(.white))
        }

        @Test func `is not taken where there is none of it`() throws {
            var configuration = ScreenConfiguration()
            configuration.area = ScreenArea(x: 700, y: .max, size: VideoSize(width: .max, height: 5))

            let source = try ScreenSource(configuration)

            #expect(source.next(due: .zero) == nil)
            #expect(source.state.withLock { $0.isConnected })
        }

        @Test func `that stands still is sent for a second and then once a second`() async throws {
            let window = try await cover()
            defer { window.close() }
            let source = try ScreenSource(ScreenConfiguration())
            var sent: [Int] = []

            for tick in 0..<50 where source.next(due: .zero + .milliseconds(100 * tick)) != nil { sent.append(tick) }
            let isStill = sent == Array(0..<10) + [19, 29, 39, 49]
            window.handleVideoFrame(quarters(VideoSize(width: 320, height: 240), rotation: .half))
            try await eventually({ screen.color(600, 440) }, is: { $0?.isLike(.red) ?? false })
            let after = (50..<55).map { source.next(due: .zero + .milliseconds(100 * $0)) != nil }

            #expect(isStill, "sent at ticks \(sent)")
            #expect(after == Array(repeating: true, count: 5))
        }

        @Test func `shows the pointer`() async throws {
            let window = try await cover()
            defer { window.close() }
            let display = try XDisplay(name: screen.display)
            let picture = try #require(display.grab(nil))
            // Four pixels: opaque, half of white, nothing, and one that is outside the picture.
            let pointer = XPointer.Image(
                x: 637, y: 10, size: VideoSize(width: 4, height: 1),
                pixels: [0, 0, 0, 255, 128, 128, 128, 128, 0, 0, 0, 0, 255, 255, 255, 255])
            let image = try #require(display.pointerImage())
            var canvas = Array(UnsafeBufferPointer(start: picture.pixels, count: picture.stride * 480))

            canvas.withUnsafeMutableBufferPointer {
                pointer.draw(
                    into: $0.baseAddress!, stride: picture.stride, size: picture.size, at: (x: 0, y: 0))
            }

            #expect(image.pixels.count == image.size.width * image.size.height * 4)
            let row = (0..<3).map {
                Array(canvas[10 * picture.stride + (637 + $0) * 4..<10 * picture.stride + (637 + $0) * 4 + 3])
            }
            #expect(row[0] == [0, 0, 0])
            #expect(row[1][0] > 120 && row[1][1] > 230 && row[1][2] > 120)
            #expect(row[2][1] > 240 && row[2][0] < 12)
        }

        @Test func `of 16 bits is read too`() async throws {
            let coarse = try #require(VirtualScreen(width: 64, height: 48, depth: 16))
            var configuration = ScreenConfiguration()
            configuration.display = coarse.display
            configuration.showsPointer = false
            let source = try ScreenSource(configuration)

            let frame = try #require(source.next(due: .zero))

            // A screen that nobody has drawn on is black.
            #expect(frame.size == VideoSize(width: 64, height: 48))
            #expect(color(of: frame, 30, 20).isLike(Color(red: 0, green: 0, blue: 0)))
        }

        @Test func `is followed when it is resized`() throws {
            var configuration = ScreenConfiguration()
            configuration.showsPointer = false
            let source = try ScreenSource(configuration)
            let before = try #require(source.next(due: .zero))

            // What a server tells that can resize its screen, which this one cannot.
            try #require(WindowManager(screen.display)).tellScreenSize(width: 320, height: 240)
            let after = try #require(source.next(due: .zero + .milliseconds(100)))

            #expect(before.size == VideoSize(width: 640, height: 480))
            #expect(after.size == VideoSize(width: 320, height: 240))
            #expect(source.state.withLock { $0.size } == VideoSize(width: 320, height: 240))
        }

        @Test func `whose server goes away is told`() async throws {
            let screen = try #require(VirtualScreen(width: 64, height: 48, depth: 24))
            var configuration = ScreenConfiguration()
            configuration.display = screen.display
            let capturer = try ScreenCapturer(configuration: configuration)
            let frames = FrameKeeper()
            capturer.setVideoSink(frames)
            try await eventually({ frames.count }, is: { $0 > 0 })

            screen.stop()

            try await eventually({ capturer.isConnected }, is: { !$0 })
            capturer.setVideoSink(nil)
        }

        @Test func `that is not there is told in a sentence`() throws {
            var configuration = ScreenConfiguration()
            configuration.display = ":64000"

            let error = #expect(throws: DeviceError.self) { _ = try ScreenCapturer(configuration: configuration) }

            #expect(error?.code == .noDisplay)
            #expect(error?.reason.contains(":64000") == true)
        }
    }
}

/// Keeps the newest picture.
private final class FrameKeeper: VideoSink {
    private let state = Lock<(last: VideoFrame?, count: Int)>((nil, 0))

    var last: VideoFrame? { state.withLock { $0.last } }
    var count: Int { state.withLock { $0.count } }

    func handleVideoFrame(_ frame: VideoFrame) {
        state.withLock { $0 = (frame, $0.count + 1) }
    }
}
