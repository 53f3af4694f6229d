internal import OffhookMedia

/// Which lines of an answer share a transport, and which of ours each line uses.
struct BundlePlan: Sendable {
    /// The lines of each bundle, the one whose transport it is first.
    let bundles: [[Int]]
    /// For each line that is likely to be taken, the kind of the stream whose transport it uses.
    private(set) var transports: [Int: StreamKind] = [:]

    init(_ reading: OfferReading, kinds: [StreamKind]) {
        bundles = reading.bundles
        let single = kinds.compactMap { kind in reading.index(of: kind) }.filter { index in
            !reading.bundles.contains { $0.contains(index) }
        }
        let units = reading.bundles + single.sorted().map { [$0] }
        // What goes on has the first choice.
        for unit in units {
            guard let kind = Self.continued(unit, reading), !transports.values.contains(kind) else { continue }
            for index in unit { transports[index] = kind }
        }
        for unit in units where transports[unit[0]] == nil {
            guard let own = reading.lines[unit[0]].kind else { continue }
            let kind = transports.values.contains(own) ? own.other : own
            for index in unit { transports[index] = kind }
        }
    }

    /// The first line in the line's bundle.
    func taggedIndex(of index: Int) -> Int {
        bundles.first { $0.contains(index) }?.first ?? index
    }

    /// The transport that lines go on with; nil where they begin on a new one.
    ///
    /// A bundle goes on although its first line is gone (RFC 9143 §7.5.3) where the next one tells of the same end of the peer;
    /// Chromium tells of another, and begins anew without a word of it in ICE's credentials.
    private static func continued(_ unit: [Int], _ reading: OfferReading) -> StreamKind? {
        let media = reading.agreement.media
        func former(_ index: Int) -> NegotiatedMedia? {
            guard index < media.count, media[index].isEnabled, media[index].kind == reading.lines[index].kind else {
                return nil
            }
            return media[index]
        }
        let tagged = reading.lines[unit[0]]
        if let old = former(unit[0]) {
            return old.transportIndex == unit[0] || tagged.hasTransport(of: old) ? old.transportKind : nil
        }
        return unit.dropFirst().lazy.compactMap(former).first { tagged.hasTransport(of: $0) }?.transportKind
    }
}

extension StreamKind {
    /// The other of the two.
    var other: StreamKind { self == .audio ? .video : .audio }
}

extension PeerLine {
    /// Whether the peer's end is the one that was agreed on before: by the address and ICE's credentials.
    fileprivate func hasTransport(of media: NegotiatedMedia) -> Bool {
        guard let ice, let old = media.remoteICE else {
            return rtpDestination != .none && rtpDestination == media.remoteRTP
        }
        guard ice.userFragment == old.userFragment, ice.password == old.password else { return false }
        // A candidate of active TCP has no port of its own (RFC 6544 §4.5).
        let known = Set(old.candidates.filter { $0.transport == "udp" }.map { "\($0.address) \($0.port)" })
        return rtpDestination == media.remoteRTP
            || ice.candidates.contains { $0.transport == "udp" && known.contains("\($0.address) \($0.port)") }
    }
}
