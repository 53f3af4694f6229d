package import OffhookRTP
package import OffhookSDP

/// Tells apart the streams that share a transport: by the `mid` that a packet bears, by its payload type where only one
/// line has that, and by its source where it was told apart before (RFC 9143 §9.2).
package struct BundleSources {
    private static let limit = 64

    private var lines: [SSRC: StreamKind] = [:]

    package init() {}

    /// The line that a packet of this source is for; nil where nothing tells.
    ///
    /// `named` is the line whose `mid` the packet bears, `fitting` are those that know its payload type.
    package mutating func line(of source: SSRC, named: StreamKind?, fitting: [StreamKind]) -> StreamKind? {
        guard let kind = named ?? (fitting.count == 1 ? fitting.first : nil) else { return lines[source] }
        if lines[source] != kind {
            // Whoever makes up sources without end only makes us forget.
            if lines.count >= Self.limit { lines.removeAll() }
            lines[source] = kind
        }
        return kind
    }
}
