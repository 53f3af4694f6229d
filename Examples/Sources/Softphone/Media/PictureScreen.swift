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
    private weak var front: CallPictures?

    /// Opens what was chosen; nil where pictures go to no screen.
    init?(_ choice: DisplayChoice) throws(FileFailure) {
        guard case .window = choice else { return nil }
        do {
            let window = try SDLRenderer()
            (renderer, self.window) = (window, window)
        } catch {
            throw FileFailure(error.reason)
        }
        window?.delegate = self
    }

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
        window?.setTitle(title)
    }

    /// Shows no more of a call.
    func remove(_ pictures: CallPictures) {
        pictures.isShown = false
        guard front === pictures else { return }
        front = nil
        window?.clear()
        window?.setTitle("Offhook")
    }

    func clearSelfView() {
        window?.clearSelfView()
    }

    func close() {
        window?.close()
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
