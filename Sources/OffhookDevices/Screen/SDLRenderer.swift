public import Dispatch
internal import OffhookBasics
public import OffhookMedia

/// A window with the far end's picture, and one's own in its corner.
///
/// ```swift
/// let window = try SDLRenderer(configuration: .init(title: "Bob"))
/// source.setVideoSink(window)
/// camera.setVideoSink(VideoSplitter([localSink, window.selfViewSink]))
/// ```
///
/// The picture fills the window as far as its aspect allows, upright whatever ``VideoFrame/rotation`` says. F11, Alt+Enter
/// or a double click switch to the full screen and back, Escape back.
///
/// All methods may be called on any thread. Pictures are left for the window, the newest in place of an older one, and
/// never waited for: a thread that all windows of the process share draws them. That thread alone calls SDL, which is
/// loaded (`libSDL2-2.0.so.0`) with the first window and put away after the last. So an app that uses SDL for itself needs a
/// sink of its own. Whether X11 or Wayland is used is SDL's choice, as is the way of drawing; SDL's environment variables
/// (`SDL_VIDEODRIVER`, `SDL_RENDER_DRIVER`) decide otherwise.
public final class SDLRenderer: VideoSink {
    /// How the window looks and behaves.
    public let configuration: WindowConfiguration
    /// Takes one's own picture, for the window's corner.
    public let selfViewSink: any VideoSink

    private let mailbox: WindowMailbox
    private let number: UInt32
    private let newsQueue: DispatchQueue
    private let listener = DelegateBox<any SDLRendererDelegate>()
    private let look: Lock<(isFullScreen: Bool, size: VideoSize)>

    /// Takes one's own picture.
    private final class SelfView: VideoSink {
        private let mailbox: WindowMailbox

        init(_ mailbox: WindowMailbox) { self.mailbox = mailbox }

        func handleVideoFrame(_ frame: VideoFrame) {
            if mailbox.put(frame, as: .selfView, at: MonotonicClock.now) { WindowThread.shared.wake() }
        }
    }

    /// Opens a window; returns once it is there, which takes a moment for the first.
    ///
    /// - Parameters:
    ///   - configuration: how it looks and behaves.
    ///   - callbackQueue: where the delegate is called, one at a time even if the queue is concurrent.
    /// - Throws: `libraryMissing` where SDL is not installed, `noDisplay` where there is nothing to open a window on.
    public init(configuration: WindowConfiguration = .init(), callbackQueue: DispatchQueue = .main) throws(DeviceError)
    {
        let mailbox = WindowMailbox()
        number = try WindowThread.shared.open(configuration, mailbox)
        self.configuration = configuration
        self.mailbox = mailbox
        newsQueue = .news(on: callbackQueue)
        selfViewSink = SelfView(mailbox)
        look = Lock((configuration.isFullScreen, configuration.size))
        mailbox.setReporter { [weak self] news in self?.take(news) }
    }

    deinit {
        close()
    }

    /// Hears of the window's end and of keys. Kept weakly.
    public var delegate: (any SDLRendererDelegate)? {
        get { listener.delegate }
        set { listener.set { [weak newValue] in newValue } }
    }

    /// Leaves a picture for the window.
    public func handleVideoFrame(_ frame: VideoFrame) {
        if mailbox.put(frame, as: .remote, at: MonotonicClock.now) { WindowThread.shared.wake() }
    }

    /// Shows the background in place of the far end's last picture, until the next one.
    public func clear() {
        if mailbox.put(nil, as: .remote, at: MonotonicClock.now) { WindowThread.shared.wake() }
    }

    /// Shows nothing in the corner, until the next picture of one's own.
    public func clearSelfView() {
        if mailbox.put(nil, as: .selfView, at: MonotonicClock.now) { WindowThread.shared.wake() }
    }

    /// Whether the window is there. A closed one is not opened again: make another renderer.
    public var isOpen: Bool { mailbox.isOpen }

    /// How many of the far end's pictures were drawn, and how many gave way to a newer one before.
    public var frameCounts: (shown: Int, replaced: Int) { mailbox.counts }

    /// Whether the window fills the screen.
    public var isFullScreen: Bool { look.withLock { $0.isFullScreen } }

    /// The size of what is drawn on, in pixels.
    public var size: VideoSize { look.withLock { $0.size } }

    /// Fills the screen, or goes back to a window.
    public func setFullScreen(_ isFullScreen: Bool) {
        WindowThread.shared.change(number) { $0.setFullScreen(isFullScreen) }
    }

    /// Changes what the title bar says.
    public func setTitle(_ title: String) {
        WindowThread.shared.change(number) { $0.setTitle(title) }
    }

    /// Changes the window's size, in the desktop's units.
    public func setSize(_ size: VideoSize) {
        WindowThread.shared.change(number) { $0.setSize(size) }
    }

    /// Writes the far end's picture, upright and in its own size, to a PNG file.
    ///
    /// - Returns: False where there is no picture.
    public func writeSnapshot(to path: String) throws(DeviceError) -> Bool {
        guard let frame = mailbox.pictures.remote.frame else { return false }
        let writer = try PNGWriter(path: path)
        writer.write(frame)
        if let error = writer.error { throw error }
        return true
    }

    /// Closes the window; pictures that come later are dropped. The delegate is not told of what its own side did.
    public func close() {
        guard mailbox.close() else { return }
        WindowThread.shared.close(number)
    }

    private func take(_ news: WindowMailbox.News) {
        switch news {
        case .fullScreen(let isFullScreen): look.withLock { $0.isFullScreen = isFullScreen }
        case .size(let size): look.withLock { $0.size = size }
        case .closed: tell { $1.rendererDidClose($0) }
        case .typed(let character): tell { $1.renderer($0, didType: character) }
        }
    }

    private func tell(_ news: @escaping @Sendable (SDLRenderer, any SDLRendererDelegate) -> Void) {
        newsQueue.async { [weak self] in
            guard let self, let delegate = listener.delegate else { return }
            news(self, delegate)
        }
    }
}
