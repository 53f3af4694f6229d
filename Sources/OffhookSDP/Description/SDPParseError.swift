/// Why bytes are no session description. Line numbers start at 1.
package enum SDPParseError: Error, Hashable, Sendable {
    /// No line at all.
    case empty
    /// Longer than ``SessionDescription/Limits/bytes``, or more lines or streams than the limits there.
    case tooLarge
    /// The first line is not `v=0`.
    case unsupportedVersion
    /// No `o=` line before the first stream.
    case missingOrigin
    /// Not `<type>=<value>`, or a NUL or carriage return inside.
    case malformedLine(Int)
    /// A line that may not stand in this section or not twice.
    case misplacedLine(Int)
    /// The `o=` line is empty.
    case malformedOrigin(line: Int)
    /// The `c=` line has too few fields.
    case malformedConnection(line: Int)
    /// The `m=` line has too few fields, or a port that is no port.
    case malformedMedia(line: Int)
}
