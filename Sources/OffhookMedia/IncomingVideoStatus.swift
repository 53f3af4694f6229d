/// What the INVITE of an incoming call tells of video, frozen when the call is handed to the app.
public enum IncomingVideoStatus: String, Hashable, Sendable, CaseIterable, Codable {
    /// A usable video line is offered: a port, a codec in common, and media flowing at least one way.
    case supported
    /// Nobody can tell yet: the INVITE came without SDP, or the call is known from a push only.
    case indefinite
    /// No video line, or none that could be used.
    case off
}
