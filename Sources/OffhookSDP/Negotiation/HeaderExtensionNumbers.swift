/// The numbers of RTP header extensions in a session: none ever stands for another extension in our offers (RFC 8285 §7), and
/// one extension has one number on all lines, which may share a transport (RFC 9143 §15).
struct HeaderExtensionNumbers: Sendable {
    private var uris: [UInt16: String] = [:]

    /// Takes note of the numbers of a description of the peer, those of extensions that nobody here knows included.
    mutating func note(_ description: SessionDescription) {
        for media in description.media where media.port != 0 || media.isBundleOnly {
            for line in description.headerExtensions(of: media) where line.id <= 255 { uris[line.id] = line.uri }
        }
    }

    /// The number of an extension on a line that has not agreed on one; nil where all are taken.
    ///
    /// - Parameter agreed: what has been agreed on for the lines.
    mutating func number(of uri: String, agreed: [[String: UInt16]]) -> UInt16? {
        let isFree = { (number: UInt16) in
            agreed.allSatisfy { $0.allSatisfy { $0.value != number || $0.key == uri } }
        }
        let known = uris.filter { $0.value == uri }.keys.min()
        guard
            let number = known.flatMap({ isFree($0) ? $0 : nil })
                ?? (UInt16(1)...14).first(where: { uris[$0] == nil && isFree($0) })
        else { return nil }
        uris[number] = uri
        return number
    }
}
