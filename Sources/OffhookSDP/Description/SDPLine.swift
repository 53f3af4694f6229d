/// One line of a description, other than `v=`, `o=` and `m=`, which the descriptions hold themselves.
package enum SDPLine: Hashable, Sendable {
    /// The letter of a line that is no attribute (RFC 8866 §5).
    package enum Field: UInt8, Hashable, Sendable {
        case sessionName = 0x73
        case information = 0x69
        case uri = 0x75
        case email = 0x65
        case phone = 0x70
        case connection = 0x63
        case bandwidth = 0x62
        case time = 0x74
        case repeatTimes = 0x72
        case timeZones = 0x7A
        case key = 0x6B

        /// Whether the line may stand below an `m=` line.
        var isAllowedInMedia: Bool {
            switch self {
            case .information, .connection, .bandwidth, .key: true
            case .sessionName, .uri, .email, .phone, .time, .repeatTimes, .timeZones: false
            }
        }
    }

    case attribute(SDPAttribute)
    case field(Field, String)
    /// A type letter that RFC 8866 does not know. §5 tells to refuse such a description; devices that add letters of
    /// their own (surveillance cameras do) mean the rest of it all the same, so the line is kept and not heeded.
    case unknown(UInt8, String)
}

/// An `a=` line: `a=<name>` or `a=<name>:<value>`, kept as it came.
package struct SDPAttribute: Hashable, Sendable {
    package var name: String
    package var value: String?

    package init(_ name: String, _ value: String? = nil) {
        self.name = name
        self.value = value
    }

    init(parsing text: Substring) {
        let (head, tail) = text.cut(at: ":")
        self.init(String(head), tail.map(String.init))
    }
}
