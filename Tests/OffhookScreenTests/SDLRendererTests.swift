import Dispatch
import Foundation
import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

/// All that needs a screen, one after another, since there is one.
@Suite(.serialized, .enabled(if: VirtualScreen.isAvailable, "Xvfb is not installed")) struct `On screen` {}

extension `On screen` {
    @Suite struct `A window` {
        let screen: VirtualScreen

        init() throws {
            screen = try #require(VirtualScreen.shared)
        }

        /// A window as large as the screen.
        private func window(_ change: (inout WindowConfiguration) -> Void = { _ in }) throws -> SDLRenderer {
            var configuration = WindowConfiguration(title: "Test")
            configuration.size = VideoSize(width: 640, height: 480)
            change(&configuration)
            return try SDLRenderer(configuration: configuration)
        }

        private func expect(
            _ expected: Color, at x: Int, _ y: Int, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            try await eventually(
                { screen.color(x, y) }, is: { $0?.isLike(expected) ?? false }, sourceLocation: sourceLocation)
        }

        @Test(arguments: PixelFormat.allCases)
        func `shows a picture with its aspect kept`(_ pixelFormat: PixelFormat) async throws {
            let window = try window()
            defer { window.close() }

            window.handleVideoFrame(quarters(VideoSize(width: 160, height: 60), pixelFormat: pixelFormat))

            // 640x240 in the middle of 640x480.
            try await expect(.red, at: 160, 180)
            try await expect(.green, at: 480, 180)
            try await expect(.blue, at: 160, 300)
            try await expect(.white, at: 480, 300)
            try await expect(.red, at: 1, 123)
            try await expect(.white, at: 638, 357)
            for y in [2, 116, 363, 477] { try await expect(.background, at: 320, y) }
            try await eventually({ window.frameCounts.shown }, is: { $0 == 1 })
        }

        @Test(
            arguments: [
                (VideoRotation.quarter, [Color.blue, .red, .white, .green]),
                (.half, [.white, .blue, .green, .red]), (.threeQuarters, [.green, .white, .red, .blue]),
            ])
        func `shows a picture upright`(_ rotation: VideoRotation, _ colors: [Color]) async throws {
            let window = try window()
            defer { window.close() }

            window.handleVideoFrame(quarters(VideoSize(width: 120, height: 120), rotation: rotation))

            // 480x480 in the middle.
            let places = [(200, 120), (440, 120), (200, 360), (440, 360)]
            for (place, color) in zip(places, colors) { try await expect(color, at: place.0, place.1) }
        }

        @Test func `shows one's own picture in the corner, as in a mirror`() async throws {
            let window = try window()
            defer { window.close() }

            window.handleVideoFrame(quarters(VideoSize(width: 640, height: 480)))
            window.selfViewSink.handleVideoFrame(quarters(VideoSize(width: 320, height: 240)))

            // 153x115 at 474, 352 with a margin of 13.
            try await expect(.green, at: 512, 380)
            try await expect(.red, at: 588, 380)
            try await expect(.white, at: 512, 437)
            try await expect(.blue, at: 588, 437)
            // The far end's picture is no mirror image.
            try await expect(.red, at: 100, 100)
            try await expect(.green, at: 600, 100)
        }

        @Test func `shows one's own picture as it is where that is wanted`() async throws {
            let window = try window { $0.mirrorsSelfView = false }
            defer { window.close() }

            window.selfViewSink.handleVideoFrame(quarters(VideoSize(width: 320, height: 240)))
            try await expect(.red, at: 512, 380)
            window.clearSelfView()

            try await expect(.background, at: 512, 380)
        }

        @Test func `follows its size`() async throws {
            let window = try window()
            defer { window.close() }
            window.handleVideoFrame(quarters(VideoSize(width: 160, height: 120)))
            try await expect(.white, at: 600, 440)

            window.setSize(VideoSize(width: 200, height: 400))

            // 200x150 in the middle of 200x400.
            try await expect(.background, at: 100, 110)
            try await expect(.red, at: 50, 150)
            try await expect(.white, at: 150, 250)
            try await eventually({ window.size }, is: { $0 == VideoSize(width: 200, height: 400) })
        }

        @Test func `follows the size of the pictures`() async throws {
            let window = try window()
            defer { window.close() }
            window.handleVideoFrame(quarters(VideoSize(width: 64, height: 48)))
            try await expect(.red, at: 10, 10)

            window.handleVideoFrame(quarters(VideoSize(width: 2, height: 480)))

            try await expect(.background, at: 10, 10)
            try await expect(.red, at: 319, 100)
        }

        @Test func `keeps the last picture, or clears it`() async throws {
            let kept = try window()
            kept.handleVideoFrame(quarters(VideoSize(width: 64, height: 48)))
            try await expect(.red, at: 10, 10)
            kept.clear()
            try await expect(.background, at: 10, 10)
            kept.close()

            let cleared = try window { $0.lastPicture = .cleared(after: .milliseconds(20)) }
            defer { cleared.close() }
            cleared.handleVideoFrame(quarters(VideoSize(width: 64, height: 48)))

            try await eventually({ cleared.frameCounts.shown }, is: { $0 == 1 })
            try await expect(.background, at: 10, 10)
        }

        @Test func `writes the picture to a file`() throws {
            let window = try window()
            defer { window.close() }
            let path = FileManager.default.temporaryDirectory.appending(path: "offhook-snapshot-\(window.size).png")
                .path()
            defer { try? FileManager.default.removeItem(atPath: path) }

            let isWrittenEarly = try window.writeSnapshot(to: path)
            window.handleVideoFrame(quarters(VideoSize(width: 40, height: 20), rotation: .quarter))
            let isWritten = try window.writeSnapshot(to: path)

            #expect(!isWrittenEarly)
            #expect(isWritten)
            let bytes = try #require(FileManager.default.contents(atPath: path))
            // Width and height in the head of a PNG file.
            #expect(bytes[16..<24].elementsEqual([0, 0, 0, 20, 0, 0, 0, 40]))
        }

        @Test func `tells that a person closed it`() async throws {
            let window = try window()
            let listener = Listener()
            window.delegate = listener
            let client = try #require(WindowManager(screen.display))

            client.closeTopWindow()

            try await eventually({ listener.isClosed }, is: { $0 })
            #expect(!window.isOpen)
            // Nothing happens to what still comes.
            window.handleVideoFrame(quarters(VideoSize(width: 64, height: 48)))
            window.setFullScreen(true)
            window.close()
        }

        @Test func `tells what was typed, and asks for the full screen by F11`() async throws {
            let window = try window { $0.size = VideoSize(width: 320, height: 240) }
            defer { window.close() }
            let listener = Listener()
            window.delegate = listener
            let client = try #require(WindowManager(screen.display))

            // By the keys' numbers on a usual keyboard.
            client.pressKeyInTopWindow(38)
            client.pressKeyInTopWindow(22)
            client.pressKeyInTopWindow(95)

            try await eventually({ listener.typed }, is: { $0 == "a\u{8}" })
            try await eventually({ window.isFullScreen }, is: { $0 })
            window.setFullScreen(false)
            try await eventually({ window.isFullScreen }, is: { !$0 })
        }

        @Test func `is one of several`() async throws {
            let back = try window()
            let front = try window { $0.size = VideoSize(width: 640, height: 100) }
            back.handleVideoFrame(quarters(VideoSize(width: 64, height: 48)))
            front.clear()
            // In the middle, as no window manager puts it elsewhere.
            try await expect(.background, at: 100, 230)
            try await expect(.red, at: 100, 100)

            front.close()

            try await expect(.red, at: 100, 230)
            back.close()
        }

        @Test func `is closed before the process ends`() throws {
            let window = try window()

            // What is called then.
            WindowThread.shared.closeAll()

            #expect(!window.isOpen)
            let next = try self.window()
            next.close()
        }

        @Test func `says what to do where there is no display`() async throws {
            setenv("DISPLAY", ":64000", 1)
            defer { setenv("DISPLAY", screen.display, 1) }

            let error = #expect(throws: DeviceError.self) { _ = try SDLRenderer() }

            #expect(error?.code == .noDisplay)
            #expect(error?.reason.contains("set DISPLAY") == true)
        }
    }
}

/// Keeps what a window tells.
private final class Listener: SDLRendererDelegate, Sendable {
    private let state = Lock((isClosed: false, typed: ""))

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var typed: String { state.withLock { $0.typed } }

    func rendererDidClose(_ renderer: SDLRenderer) {
        state.withLock { $0.isClosed = true }
    }

    func renderer(_ renderer: SDLRenderer, didType character: Character) {
        state.withLock { $0.typed.append(character) }
    }
}
