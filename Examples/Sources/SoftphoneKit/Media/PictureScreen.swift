import Foundation
import Offhook

/// Where a person sees pictures, one place for all calls: of those the one that was brought to the front last.
@MainActor final class PictureScreen {
    /// A person closed the window.
    var onClose: () -> Void = {}
    /// A person typed on the window.
    var onKey: (Character) -> Void = { _ in }

    /// What takes the pictures of the call at the front.
    private let renderer: any VideoSink
    private let window: SDLRenderer?
    private let terminal: TerminalRenderer?
    private weak var front: CallPictures?
    private var title = "Offhook"
    private var snapshotCount = 0

    /// Opens what was chosen; nil where pictures go to no screen.
    init?(_ choice: DisplayChoice) throws(FileFailure) {
        switch choice {
        case .window:
            do {
                let window = try SDLRenderer()
                (renderer, self.window, terminal) = (window, window, nil)
            } catch {
                throw FileFailure(error.reason)
            }
            window?.delegate = self
        case .terminal:
            guard isatty(1) == 1 else {
                throw FileFailure("standard output is no terminal; type --display FILE.png, or none")
            }
            var configuration = TerminalConfiguration()
            configuration.reservedRows = Self.textRows
            let terminal = TerminalRenderer(configuration: configuration)
            (renderer, window, self.terminal) = (terminal, nil, terminal)
        case .none, .file, .codedFile: return nil
        }
    }

    /// What words have below a picture in a terminal.
    private static let textRows = 6

    /// Takes one's own pictures; nil where there is no room for them.
    var selfViewSink: (any VideoSink)? { window?.selfViewSink }

    /// A sink for one call's pictures, which is at the front until another is.
    func makeSink() -> CallPictures {
        CallPictures(renderer)
    }

    /// Shows the pictures of one call from now on, in place of another's.
    func bringToFront(_ pictures: CallPictures, title: String) {
        if front !== pictures { front?.isShown = false }
        front = pictures
        pictures.isShown = true
        setTitle(title)
    }

    /// Shows no more of a call.
    func remove(_ pictures: CallPictures) {
        pictures.isShown = false
        guard front === pictures else { return }
        front = nil
        window?.clear()
        setTitle("Offhook")
    }

    private func setTitle(_ title: String) {
        self.title = title
        window?.setTitle(title)
    }

    /// Shows in the title bar what is being typed; nil shows the title again.
    func setPrompt(_ text: String?) {
        window?.setTitle(text ?? title)
    }

    /// Whether keys are typed on it.
    var hasKeys: Bool { window != nil }

    func toggleFullScreen() {
        guard let window else { return }
        window.setFullScreen(!window.isFullScreen)
    }

    /// Keeps the far end's picture in a new file, and returns its name; nil where there is none.
    func takeSnapshot() throws -> String? {
        guard let window else { return nil }
        snapshotCount += 1
        let path = "offhook-\(snapshotCount).png"
        return try window.writeSnapshot(to: path) ? path : nil
    }

    func clearSelfView() {
        window?.clearSelfView()
    }

    func close() {
        window?.close()
        terminal?.close()
    }
}

extension PictureScreen: SDLRendererDelegate {
    func rendererDidClose(_ renderer: SDLRenderer) { onClose() }

    func renderer(_ renderer: SDLRenderer, didType character: Character) { onKey(character) }
}

/// Hands one call's pictures to the screen while that call is at the front.
final class CallPictures: VideoSink {
    private let renderer: any VideoSink
    private let shown = Lock(false)

    init(_ renderer: any VideoSink) {
        self.renderer = renderer
    }

    var isShown: Bool {
        get { shown.withLock { $0 } }
        set { shown.withLock { $0 = newValue } }
    }

    func handleVideoFrame(_ frame: VideoFrame) {
        if isShown { renderer.handleVideoFrame(frame) }
    }
}
