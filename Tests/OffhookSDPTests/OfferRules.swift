import OffhookMedia
import OffhookSDP

/// What an offer in mid-call owes to what was agreed before: RFC 3264 §8, RFC 8829 §5.2.2, RFC 8285 §7, RFC 9143 §7.5.
struct OfferRules {
    /// The rules that an offer breaks after one of our descriptions, as sentences; none where all is well.
    static func broken(_ offer: SessionDescription, after before: SessionDescription, _ agreed: [NegotiatedMedia])
        -> [String]
    {
        var broken: [String] = []
        func need(_ isKept: Bool, _ index: Int?, _ rule: String) {
            if !isKept { broken.append(index.map { "line \($0): \(rule)" } ?? rule) }
        }
        need(offer.media.count >= before.media.count, nil, "no line goes away")
        need(offer.origin.sessionID == before.origin.sessionID, nil, "the session stays")
        for (index, pair) in zip(before.media, offer.media).enumerated() {
            let (old, new) = pair
            let isInUse = index < agreed.count && agreed[index].isEnabled
            guard isInUse else {
                need(new.port != 0 || new.mid == old.mid, index, "the name of a line that is off stays")
                continue
            }
            need(new.kind == old.kind, index, "the kind stays")
            need(new.mid == old.mid || old.mid == nil, index, "the name stays")
            need(new.profile == old.profile, index, "the profile stays")
            let codecs = { (media: MediaDescription) in
                Dictionary(
                    media.rtpMaps.map { ($0.payloadType, "\($0.encodingName)/\($0.clockRate)") },
                    uniquingKeysWith: { first, _ in first })
            }
            let (was, now) = (codecs(old), codecs(new))
            if new.port != 0 {
                for (number, codec) in was { need(now[number] == codec, index, "\(number) stands for \(codec)") }
            }
            for (number, codec) in now {
                let others = offer.media.enumerated().filter { $0.offset != index && $0.element.port != 0 }
                let isAlone = !others.contains { codecs($0.element)[number] != nil }
                need(isAlone || was[number] == codec, index, "a new number is no other line's")
            }
            for line in old.headerExtensions where new.port != 0 {
                need(new.headerExtensions.contains { $0.uri == line.uri && $0.id == line.id }, index, line.text)
            }
            for line in new.headerExtensions {
                let other = offer.media.flatMap(\.headerExtensions).first { $0.id == line.id && $0.uri != line.uri }
                need(other == nil || !offer.isBundled(index), index, "\(line.id) is one extension in a bundle")
            }
            if new.port != 0 {
                need(new.sources == old.sources, index, "the sources stay")
                let fragments = [old, new].map(\.iceUserFragment)
                need(old.iceUserFragment == nil || fragments[0] == fragments[1], index, "ICE is not restarted")
                need(new.fingerprints == old.fingerprints, index, "the certificate stays")
            }
            let wasMuxed = agreed[index].hasRTCPMux
            need(new.port == 0 || new.hasRTCPMux == wasMuxed, index, "rtcp-mux stays")
        }
        for (index, media) in offer.media.enumerated() {
            need(!media.hasAttribute("bundle-only") || media.port == 0, index, "bundle-only is for port 0")
            need(offer.media.count { $0.mid != nil && $0.mid == media.mid } <= 1, index, "a name is that of one line")
        }
        for group in offer.groups {
            for mid in group.mids {
                let media = offer.media.first { $0.mid == mid }
                need(media != nil && media?.port != 0, nil, "\(mid) of a group is a line in use")
            }
        }
        return broken
    }
}

extension SessionDescription {
    fileprivate func isBundled(_ index: Int) -> Bool {
        media[index].mid.map { mid in groups.contains { $0.mids.contains(mid) } } ?? false
    }
}
