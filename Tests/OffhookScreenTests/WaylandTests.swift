import Foundation
import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookDevices

extension `On screen` {
    @Suite(.enabled(if: WaylandDesktop.missing == nil, Comment(rawValue: WaylandDesktop.missing ?? "")))
    struct `A window on a Wayland desktop` {
        /// The only window of a desktop of that size.
        private func window(
            _ desktop: VideoSize, shell: WaylandDesktop.Shell = .kiosk
        ) async throws -> (WaylandDesktop, SDLRenderer) {
            let desktop = try await WaylandDesktop(size: desktop, shell: shell)
            var configuration = WindowConfiguration(title: "Test")
            configuration.size = VideoSize(width: 320, height: 240)
            return (desktop, try SDLRenderer(configuration: configuration))
        }

        private func expect(
            _ desktop: WaylandDesktop, _ expected: [(x: Int, y: Int, color: Color)],
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            for (x, y, color) in expected {
                try await eventually(
                    { desktop.screen.color(x, y) }, is: { $0?.isLike(color) ?? false }, sourceLocation: sourceLocation)
            }
        }

        @Test(arguments: ["software", "opengl"])
        func `shows the pictures in the size that the desktop gives it`(_ drawing: String) async throws {
            let before = ProcessInfo.processInfo.environment["SDL_RENDER_DRIVER"] ?? ""
            setenv("SDL_RENDER_DRIVER", drawing, 1)
            defer { setenv("SDL_RENDER_DRIVER", before, 1) }
            let (desktop, window) = try await window(VideoSize(width: 640, height: 480))
            defer { window.close() }

            window.handleVideoFrame(quarters(VideoSize(width: 160, height: 60)))
            window.selfViewSink.handleVideoFrame(quarters(VideoSize(width: 320, height: 240)))

            // 640x240 in the middle of 640x480; one's own picture in the corner, mirrored.
            try await expect(
                desktop,
                [
                    (160, 180, .red), (480, 180, .green), (160, 300, .blue), (440, 300, .white),
                    (320, 116, .background), (320, 363, .background),
                    (512, 380, .green), (588, 380, .red), (512, 437, .white), (588, 437, .blue),
                ])
            try await eventually({ window.size }, is: { $0 == VideoSize(width: 640, height: 480) })
            try await eventually({ window.frameCounts.shown }, is: { $0 == 1 })
        }

        @Test func `shows one picture after the other`() async throws {
            let (desktop, window) = try await window(VideoSize(width: 320, height: 240))
            defer { window.close() }

            for turn in 1...12 {
                window.handleVideoFrame(
                    quarters(VideoSize(width: 320, height: 240), rotation: turn % 2 == 0 ? .none : .half))
                try await eventually({ window.frameCounts.shown }, is: { $0 == turn })
            }

            try await expect(desktop, [(80, 60, .red), (240, 180, .white)])
            window.clear()
            try await expect(desktop, [(80, 60, .background), (240, 180, .background)])
        }

        @Test func `has the size that it asks for, fills the screen, and goes back`() async throws {
            let (desktop, window) = try await window(VideoSize(width: 640, height: 480), shell: .desktop)
            defer { window.close() }
            window.handleVideoFrame(quarters(VideoSize(width: 640, height: 480)))
            try await eventually({ window.size }, is: { $0 == VideoSize(width: 320, height: 240) })

            window.setSize(VideoSize(width: 200, height: 160))
            try await eventually({ window.size }, is: { $0 == VideoSize(width: 200, height: 160) })
            window.setFullScreen(true)

            try await expect(desktop, [(60, 3, .red), (636, 3, .green), (60, 476, .blue), (636, 476, .white)])
            #expect(window.isFullScreen)
            window.setFullScreen(false)
            try await eventually({ window.size }, is: { $0 == VideoSize(width: 200, height: 160) })
            #expect(!window.isFullScreen)
        }

        @Test func `takes keys, and goes`() async throws {
            let (desktop, window) = try await window(VideoSize(width: 400, height: 300))
            let typed = Lock("")
            let listener = KeyListener { character in typed.withLock { $0.append(character) } }
            window.delegate = listener
            window.handleVideoFrame(quarters(VideoSize(width: 400, height: 300)))
            try await expect(desktop, [(60, 5, .red), (395, 295, .white)])

            // An a and the key for going back, by their numbers on a usual keyboard.
            let person = try #require(WindowManager(desktop.screen.display))
            person.pressKeyInTopWindow(38)
            person.pressKeyInTopWindow(22)
            try await eventually({ typed.withLock { $0 } }, is: { $0 == "a\u{8}" })
            window.close()

            // The shell's own background is black.
            try await expect(desktop, [(60, 5, Color(red: 0, green: 0, blue: 0))])
        }

        @Test func `whose server goes away ends, and leaves the process be`() async throws {
            var (desktop, window): (WaylandDesktop?, SDLRenderer) = try await window(VideoSize(width: 320, height: 240))
            window.handleVideoFrame(quarters(VideoSize(width: 320, height: 240)))
            try await eventually({ window.frameCounts.shown }, is: { $0 == 1 })

            let listener = KeyListener { _ in }
            window.delegate = listener

            desktop = nil

            #expect(desktop == nil)
            try await eventually({ listener.isClosed }, is: { $0 })
            #expect(!window.isOpen)
        }
    }
}

private final class KeyListener: SDLRendererDelegate, Sendable {
    private let onKey: @Sendable (Character) -> Void
    private let hasClosed = Lock(false)

    init(_ onKey: @escaping @Sendable (Character) -> Void) { self.onKey = onKey }

    var isClosed: Bool { hasClosed.withLock { $0 } }

    func rendererDidClose(_ renderer: SDLRenderer) { hasClosed.withLock { $0 = true } }
    func renderer(_ renderer: SDLRenderer, didType character: Character) { onKey(character) }
}
