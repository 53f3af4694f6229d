public import OffhookMedia

/// How a window looks and behaves. Every setting has a working default.
public struct WindowConfiguration: Hashable, Sendable {
    /// What becomes of the last picture when no further one comes.
    public enum LastPicture: Hashable, Sendable {
        /// It stays until ``SDLRenderer/clear()`` or the next one.
        case kept
        /// It gives way to the background when nothing has come for so long.
        case cleared(after: Duration)
    }

    /// What the title bar says.
    public var title = "Offhook"
    /// The size to open with, in the desktop's units.
    public var size = VideoSize(width: 960, height: 540)
    /// Whether the window fills the screen from the start.
    public var isFullScreen = false
    /// What becomes of the far end's last picture.
    public var lastPicture = LastPicture.kept
    /// Whether one's own picture is shown as in a mirror, which is how people know themselves. The far end's never is.
    public var mirrorsSelfView = true
    /// How much of the window's width, and of its height, one's own picture takes at most: from 0.05 to 0.5.
    public var selfViewShare = 0.24

    /// The defaults.
    public init() {}

    /// The defaults, with a title.
    public init(title: String) {
        self.title = title
    }
}
