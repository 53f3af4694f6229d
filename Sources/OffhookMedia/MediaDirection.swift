/// Which way media flows on a stream, always as the local side sees it (RFC 3264 §5.1).
public enum MediaDirection: String, Hashable, Sendable, CaseIterable, Codable {
    /// Not negotiated yet.
    case undefined
    /// Media flows both ways.
    case sendReceive
    /// We send and receive nothing.
    case sendOnly
    /// We receive and send nothing.
    case receiveOnly
    /// Nothing flows; RTCP goes on.
    case inactive

    /// Whether we send.
    public var sends: Bool { self == .sendReceive || self == .sendOnly }

    /// Whether we receive.
    public var receives: Bool { self == .sendReceive || self == .receiveOnly }

    /// The direction with exactly these flows.
    public init(sends: Bool, receives: Bool) {
        self =
            switch (sends, receives) {
            case (true, true): .sendReceive
            case (true, false): .sendOnly
            case (false, true): .receiveOnly
            case (false, false): .inactive
            }
    }

    /// The same flows as the far end sees them.
    public var mirrored: MediaDirection {
        switch self {
        case .sendOnly: .receiveOnly
        case .receiveOnly: .sendOnly
        case .undefined, .sendReceive, .inactive: self
        }
    }

    /// The flows that both directions have.
    public func intersection(_ other: MediaDirection) -> MediaDirection {
        MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
    }
}
