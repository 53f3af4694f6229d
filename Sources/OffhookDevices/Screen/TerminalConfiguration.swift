/// How a ``TerminalRenderer`` draws. Every setting has a working default.
public struct TerminalConfiguration: Hashable, Sendable {
    /// What the terminal can show.
    public enum Colors: Hashable, Sendable {
        /// 16 million colours, two to a character.
        case full
        /// The palette of 256 colours, two to a character.
        case palette
        /// None: characters that are dark or bright by their shape.
        case none

        /// What the environment says (`COLORTERM`, `TERM`).
        static func detected(_ environment: (String) -> String?) -> Colors {
            let (color, terminal) = (environment("COLORTERM") ?? "", environment("TERM") ?? "")
            if color == "truecolor" || color == "24bit" || terminal.hasSuffix("-direct") { return .full }
            if terminal.isEmpty || terminal == "dumb" || terminal.hasPrefix("vt") { return .none }
            return .palette
        }
    }

    /// Where the terminal is: standard output, unless told otherwise.
    public var descriptor: Int32 = 1
    /// What it can show; nil for what the environment says.
    public var colors: Colors?
    /// Rows at the bottom that are left for text, which scrolls there alone.
    public var reservedRows = 0
    /// Pictures a second at most, from 0.1 to 60.
    public var frameRate = 10.0

    /// The defaults.
    public init() {}
}
