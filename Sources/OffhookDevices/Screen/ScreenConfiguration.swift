public import OffhookMedia

/// A part of a screen, in pixels from its top left corner.
public struct ScreenArea: Hashable, Sendable {
    /// Pixels from the left.
    public var x: Int
    /// Pixels from the top.
    public var y: Int
    /// Width and height.
    public var size: VideoSize

    /// Makes an area.
    public init(x: Int, y: Int, size: VideoSize) {
        self.x = x
        self.y = y
        self.size = size
    }
}

/// What is wanted of a screen. Every setting has a working default.
public struct ScreenConfiguration: Hashable, Sendable {
    /// The display, as in `:0` or `host:10.0`; nil for what the environment says (`DISPLAY`).
    public var display: String?
    /// Pictures a second while something changes, from 0.1 to 60.
    public var frameRate = 10.0
    /// The part to take, as one of several monitors; what lies outside the screen is left out. Nil for all of it.
    public var area: ScreenArea?
    /// The largest picture, whose aspect is kept; nil for the screen's own size.
    public var maximumSize: VideoSize?
    /// Whether the pointer is in the picture.
    public var showsPointer = true

    /// The defaults.
    public init() {}
}
