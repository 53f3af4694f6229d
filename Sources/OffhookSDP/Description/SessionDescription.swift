package import OffhookMedia

/// A session description (RFC 8866): what one side tells of the streams it can send and receive.
///
/// All lines are kept in order, unknown attributes as they came, so what was parsed prints as it was but for line ends
/// (always CR LF), the place of the `o=` line (always second) and bytes that are no UTF-8 (replaced).
package struct SessionDescription: Hashable, Sendable, SDPSection {
    /// How much a description may hold; a hostile one costs no more than this.
    package enum Limits {
        package static let bytes = 262_144
        package static let lines = 8192
        package static let media = 64
    }

    package var origin: Origin
    /// The session's lines after `v=` and `o=`.
    package var lines: [SDPLine]
    package var media: [MediaDescription]

    package init(origin: Origin, lines: [SDPLine] = [], media: [MediaDescription] = []) {
        self.origin = origin
        self.lines = lines
        self.media = media
    }

    /// The text of `s=`; a single blank or `-` stands for no name.
    package var name: String? { texts(of: .sessionName).first }

    /// The `a=group` lines (RFC 5888).
    package var groups: [GroupAttribute] { values(of: "group").compactMap { GroupAttribute(parsing: $0) } }

    /// `a=ice-lite` (RFC 8839 §5.3).
    package var isICELite: Bool { hasAttribute("ice-lite") }

    /// The stream's direction as the describing side sees it: its own, else the session's, else both ways (RFC 8866 §6.7).
    package func direction(of media: MediaDescription) -> MediaDirection {
        media.statedDirection ?? statedDirection ?? .sendReceive
    }

    /// The stream's `c=` line, else the session's.
    package func connection(of media: MediaDescription) -> ConnectionData? {
        media.statedConnection ?? statedConnection
    }

    /// The stream's `a=extmap` lines, else the session's (RFC 8285 §5).
    package func headerExtensions(of media: MediaDescription) -> [HeaderExtensionAttribute] {
        let own = media.headerExtensions
        return own.isEmpty ? headerExtensions : own
    }

    /// The stream's `b=` lines, and those of the session whose kind the stream does not limit.
    package func bandwidths(of media: MediaDescription) -> [Bandwidth] {
        let own = media.bandwidths
        return own + bandwidths.filter { session in !own.contains { $0.kind == session.kind } }
    }

    /// What the stream's lines, else the session's, say of ICE; nil without user fragment and password.
    package func ice(of media: MediaDescription) -> ICEDescription? {
        guard let userFragment = media.iceUserFragment ?? iceUserFragment,
            let password = media.icePassword ?? icePassword
        else { return nil }
        let options = media.iceOptions
        return ICEDescription(
            userFragment: userFragment, password: password, options: options.isEmpty ? iceOptions : options,
            isLite: isICELite || media.hasAttribute("ice-lite"), candidates: media.candidates,
            isComplete: media.hasAttribute("end-of-candidates") || hasAttribute("end-of-candidates"),
            isMismatch: media.hasAttribute("ice-mismatch"))
    }

    /// What the stream's lines, else the session's, say of DTLS; nil without a fingerprint that can be read.
    package func dtls(of media: MediaDescription) -> DTLSDescription? {
        let own = media.fingerprints
        let fingerprints = own.isEmpty ? self.fingerprints : own
        guard !fingerprints.isEmpty else { return nil }
        return DTLSDescription(
            fingerprints: fingerprints, setup: media.setup ?? setup, tlsID: media.tlsID ?? tlsID)
    }
}
