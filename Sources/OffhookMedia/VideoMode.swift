/// What an app wants of a call's video.
public enum VideoMode: String, Hashable, Sendable, CaseIterable, Codable {
    /// Send and receive pictures.
    case sendReceive
    /// Receive pictures and send none.
    case receiveOnly
    /// Send pictures and receive none.
    case sendOnly
    /// Keep the video line, let nothing flow.
    case inactive
    /// No video line: port 0.
    case disabled

    /// The direction this mode asks for; nil where it asks for no line at all.
    public var direction: MediaDirection? {
        switch self {
        case .sendReceive: .sendReceive
        case .receiveOnly: .receiveOnly
        case .sendOnly: .sendOnly
        case .inactive: .inactive
        case .disabled: nil
        }
    }
}
