/// Hears of what a person does with a window. Called on the renderer's callback queue, one at a time.
public protocol SDLRendererDelegate: AnyObject {
    /// A person closed the window, or its display went away. It is gone, and pictures that still come are dropped.
    func rendererDidClose(_ renderer: SDLRenderer)
    /// A person typed on the window: text, or a newline, backspace (`\u{8}`) or escape (`\u{1B}`).
    func renderer(_ renderer: SDLRenderer, didType character: Character)
}

extension SDLRendererDelegate {
    /// Does nothing.
    public func rendererDidClose(_ renderer: SDLRenderer) {}
    /// Does nothing.
    public func renderer(_ renderer: SDLRenderer, didType character: Character) {}
}
