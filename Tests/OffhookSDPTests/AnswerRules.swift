import OffhookMedia
import OffhookSDP

/// What every answer owes its offer, whatever either says: RFC 3264 §6, RFC 8829 §5.3, RFC 9143 §7.3, RFC 8858 §4.3,
/// RFC 8285 §7, RFC 4588 §8.6, RFC 8842 §5.3, RFC 4568 §5.1.2.
struct AnswerRules {
    let offer: SessionDescription
    let answer: SessionDescription
    private var broken: [String] = []

    /// The rules that an answer breaks, as sentences; none where all is well.
    static func broken(_ answer: SessionDescription, to offer: SessionDescription) -> [String] {
        var rules = AnswerRules(offer: offer, answer: answer)
        rules.checkLines()
        rules.checkBundles()
        return rules.broken
    }

    private init(offer: SessionDescription, answer: SessionDescription) {
        self.offer = offer
        self.answer = answer
    }

    private mutating func need(_ isKept: Bool, _ index: Int?, _ rule: String) {
        guard !isKept else { return }
        broken.append(index.map { "line \($0): \(rule)" } ?? rule)
    }

    // MARK: Line by line

    private mutating func checkLines() {
        need(answer.media.count == offer.media.count, nil, "as many lines as the offer")
        for (index, pair) in zip(offer.media, answer.media).enumerated() {
            let (asked, given) = pair
            need(given.kind == asked.kind && given.profile == asked.profile, index, "kind and profile are the offer's")
            need(given.mid == asked.mid, index, "mid is the offer's")
            need(!given.formats.isEmpty, index, "some format stands in the line")
            for name in ["bundle-only", "rtcp-mux-only", "simulcast", "rid", "msid-semantic"] {
                need(!given.hasAttribute(name), index, "no \(name)")
            }
            if given.port == 0 {
                for name in ["candidate", "ice-ufrag", "fingerprint", "setup", "crypto", "rtpmap", "ssrc"] {
                    need(!given.hasAttribute(name), index, "a refused line has no \(name)")
                }
            } else {
                need(asked.port != 0 || asked.isBundleOnly, index, "what the offer has off stays off")
                need(StreamKind(rawValue: asked.kind) != nil, index, "audio or video")
                checkFormats(index)
                checkTransport(index)
            }
        }
        for kind in ["audio", "video"] {
            need(answer.media.count { $0.kind == kind && $0.port != 0 } <= 1, nil, "one line of \(kind) at most")
        }
    }

    private mutating func checkFormats(_ index: Int) {
        let (asked, given) = (offer.media[index], answer.media[index])
        let maps = { (media: MediaDescription) in
            Dictionary(
                media.rtpMaps.map { ($0.payloadType, "\($0.encodingName.lowercased())/\($0.clockRate)") },
                uniquingKeysWith: { first, _ in first })
        }
        let (askedMaps, givenMaps) = (maps(asked), maps(given))
        for number in given.payloadTypes {
            need(asked.payloadTypes.contains(number), index, "\(number) is a format of the offer")
            if let map = askedMaps[number] { need(givenMaps[number] == map, index, "\(number) stands for the same") }
            need(givenMaps[number] != nil, index, "\(number) is mapped")
        }
        for number in givenMaps.keys { need(given.payloadTypes.contains(number), index, "\(number) is listed") }
        for line in given.formatParameters {
            need(given.formats.contains(line.format), index, "parameters are of a listed format")
            guard let original = line.parameters.number("apt") else { continue }
            need(given.formats.contains(String(original)), index, "repeats are of a listed format")
            let offered = asked.formatParameters.first { $0.format == line.format }?.parameters.number("apt")
            need(offered == original, index, "repeats are of the same format as in the offer")
        }
        let direction = answer.direction(of: given)
        need(offer.direction(of: asked).mirrored.intersection(direction) == direction, index, "direction fits")
        for line in given.feedback {
            let isOffered = asked.feedback.contains { offered in
                (offered.payloadType == nil || offered.payloadType == line.payloadType) && offered.kind == line.kind
                    && offered.parameter.hasPrefix(line.parameter)
            }
            need(isOffered, index, "feedback \(line.text) is offered")
        }
        checkExtensions(index)
    }

    private mutating func checkExtensions(_ index: Int) {
        let given = answer.media[index].headerExtensions
        let asked =
            offer.media[index].headerExtensions.isEmpty ? offer.headerExtensions : offer.media[index].headerExtensions
        need(Set(given.map(\.id)).count == given.count, index, "each extension has a number of its own")
        need(Set(given.map(\.uri)).count == given.count, index, "each extension stands once")
        for line in given {
            need((1...255).contains(line.id), index, "the number of an extension can be sent")
            let offered = asked.first { $0.uri == line.uri && $0.id == line.id }
            need(offered != nil, index, "extension \(line.text) is offered")
            let direction = line.direction ?? .sendReceive
            need(
                (offered?.direction ?? .sendReceive).mirrored.intersection(direction) == direction, index,
                "the direction of \(line.text) fits")
        }
    }

    private mutating func checkTransport(_ index: Int) {
        let (asked, given) = (offer.media[index], answer.media[index])
        need(answer.connection(of: given) != nil, index, "an address")
        let tagged = offer.taggedLine(of: index)
        let mayMux = [asked, tagged].contains { $0?.hasRTCPMux == true }
        need(mayMux || !given.hasRTCPMux, index, "rtcp-mux is offered")
        need(!asked.hasAttribute("rtcp-mux-only") || given.hasRTCPMux, index, "rtcp-mux-only is answered with rtcp-mux")
        need(mayMux || !given.hasReducedSizeRTCP || asked.hasReducedSizeRTCP, index, "rtcp-rsize is offered")
        let usesDTLS = !given.fingerprints.isEmpty
        need(!asked.profile.uppercased().hasPrefix("UDP/TLS/") || usesDTLS, index, "a fingerprint")
        if usesDTLS {
            // In a bundle that of the first line holds for all.
            let isBundled = given.mid.map { mid in answer.groups.contains { $0.mids.contains(mid) } } == true
            let remote = offer.dtls(of: isBundled ? tagged ?? asked : asked)
            need(remote != nil, index, "the offer has a fingerprint, too")
            let fitting: [SetupRole] =
                switch remote?.setup {
                case .passive: [.active]
                case .active, nil: [.passive]
                case .activeOrPassive, .holdConnection: [.active, .passive]
                }
            need(given.setup.map { fitting.contains($0) } == true, index, "the role fits")
            need(given.cryptoLines.isEmpty, index, "keys from one source")
        } else {
            need(given.setup == nil, index, "no role without DTLS")
            need(given.cryptoLines.count <= 1, index, "one key")
            for line in given.cryptoLines {
                need(asked.cryptoLines.contains { $0.tag == line.tag && $0.suite == line.suite }, index, "key offered")
            }
        }
        if given.iceUserFragment != nil {
            need(
                offer.ice(of: asked) != nil || tagged.map { offer.ice(of: $0) != nil } == true, index, "ICE is offered")
        }
    }

    // MARK: Bundles

    private mutating func checkBundles() {
        let offered = offer.groups.filter { $0.semantics == "BUNDLE" }
        let given = answer.groups.filter { $0.semantics == "BUNDLE" }
        need(answer.groups.count == given.count, nil, "no group but BUNDLE")
        need(given.count <= offered.count, nil, "no more groups than the offer has")
        var bundled: Set<Int> = []
        for group in given {
            need(!group.mids.isEmpty, nil, "no empty group")
            need(offered.contains { Set($0.mids).isSuperset(of: group.mids) }, nil, "a group is part of an offered one")
            let indexes = group.mids.compactMap { mid in answer.media.firstIndex { $0.mid == mid } }
            need(indexes.count == group.mids.count, nil, "the names of a group are those of lines")
            for index in indexes {
                need(answer.media[index].port != 0, index, "a refused line is in no group")
                bundled.insert(index)
            }
            checkShared(indexes)
            guard let tagged = indexes.first else { continue }
            need(offer.media[tagged].port != 0, tagged, "the first line of a group has an address in the offer")
            let order = offered.first { $0.mids.contains(group.mids[0]) }?.mids ?? []
            need(
                order.filter { group.mids.dropFirst().contains($0) } == Array(group.mids.dropFirst()), nil,
                "the order of a group is the offer's")
        }
        for (index, media) in answer.media.enumerated() where media.port != 0 {
            need(
                bundled.contains(index) || !offer.media[index].isBundleOnly, index, "bundle-only is bundled or refused")
        }
        let alone = answer.media.indices.filter { answer.media[$0].port != 0 && !bundled.contains($0) }
        let ports =
            alone.map { answer.media[$0].port }
            + given.compactMap { group in
                answer.media.first { $0.mid == group.mids.first }?.port
            }
        need(Set(ports).count == ports.count, nil, "transports differ")
    }

    /// Lines of one bundle have one address, one ICE and one certificate, and no two formats or extensions of one number.
    private mutating func checkShared(_ indexes: [Int]) {
        let lines = indexes.map { answer.media[$0] }
        need(Set(lines.map(\.port)).count <= 1, nil, "one port in a bundle")
        need(Set(lines.map { answer.connection(of: $0)?.host }).count <= 1, nil, "one address in a bundle")
        need(Set(lines.compactMap(\.iceUserFragment)).count <= 1, nil, "one user fragment in a bundle")
        need(Set(lines.compactMap(\.icePassword)).count <= 1, nil, "one password in a bundle")
        need(Set(lines.map(\.fingerprints)).count <= 1, nil, "one certificate in a bundle")
        need(Set(lines.compactMap(\.setup)).count <= 1, nil, "one role in a bundle")
        need(lines.first?.hasRTCPMux != false, nil, "rtcp-mux in a bundle")
        var uris: [UInt16: String] = [:]
        for line in lines.flatMap(\.headerExtensions) {
            need(uris[line.id, default: line.uri] == line.uri, nil, "\(line.id) is one extension in a bundle")
            uris[line.id] = line.uri
        }
    }
}

extension SessionDescription {
    /// The first line with an address in the line's bundle.
    func taggedLine(of index: Int) -> MediaDescription? {
        guard let mid = media[index].mid,
            let group = groups.first(where: { $0.semantics == "BUNDLE" && $0.mids.contains(mid) })
        else { return nil }
        return group.mids.lazy.compactMap { mid in media.first { $0.mid == mid && $0.port != 0 } }.first
    }
}
