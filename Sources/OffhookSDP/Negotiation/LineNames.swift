/// The names (`a=mid`) that our offers give to lines: none that stands or has stood for another line of the session.
///
/// A line that was off and is used again gets a new name (RFC 8829 §5.2.2): to a browser it is another stream.
struct LineNames: Sendable {
    /// Names that are higher numbers are no peer's that counts its lines.
    private static let limit = 1 << 30

    private var highest = -1
    /// Names given to lines that have not come into use under them.
    private var given: [Int: String] = [:]

    /// Takes note of the names of a description of the peer, which may be some that an offer of ours had that came to nothing.
    mutating func note(_ description: SessionDescription) {
        for (index, media) in description.media.enumerated() {
            guard let name = media.mid else { continue }
            given = given.filter { $0.key == index || $0.value != name }
            guard let number = Int(name), number < Self.limit else { continue }
            highest = max(highest, number)
        }
    }

    /// The name for a line that is not in use; `former` is the one it had when it was.
    mutating func name(of index: Int, former: String?) -> String {
        if let name = given[index], name != former { return name }
        highest += 1
        given[index] = String(highest)
        return String(highest)
    }
}
