/// A format of the peer's line with all that its attributes say of it.
struct PeerFormat: Hashable, Sendable {
    var map: RTPMapAttribute
    var parameters: FormatParameters
    var payloadType: UInt8 { map.payloadType }
}

extension MediaDescription {
    /// The formats in the line's order; a number with several rtpmaps gives several, one without any that of RFC 3551.
    ///
    /// - Parameter known: what numbers stand for where the line does not say, as when an answer repeats our numbers.
    func peerFormats(known: [UInt8: RTPMapAttribute] = [:]) -> [PeerFormat] {
        var maps = [[RTPMapAttribute]](repeating: [], count: 128)
        for map in rtpMaps where maps[Int(map.payloadType)].count < 4 { maps[Int(map.payloadType)].append(map) }
        var parameters: [UInt8: String] = [:]
        for line in formatParameters {
            guard let number = line.format[...].number(UInt8.self), number < 128 else { continue }
            parameters[number] = parameters[number].map { $0 + ";" + line.parameters.text } ?? line.parameters.text
        }
        return payloadTypes.flatMap { number in
            var named = maps[Int(number)]
            if named.isEmpty, let map = RTPMapAttribute.ofStaticPayloadType(number) ?? known[number] { named = [map] }
            return named.map { PeerFormat(map: $0, parameters: FormatParameters(parameters[number] ?? "")) }
        }
    }
}

/// The formats of the peer's line that we know too.
struct FormatMatch: Hashable, Sendable {
    struct Codec: Hashable, Sendable {
        var capability: CodecCapability
        var peer: PeerFormat
    }

    /// Each of our codecs once, in the peer's order.
    var codecs: [Codec] = []
    var telephoneEvents: [PeerFormat] = []

    init(_ formats: [PeerFormat], codecs known: [CodecCapability], hasTelephoneEvents: Bool) {
        for format in formats {
            guard let capability = known.first(where: { $0.matches(format.map) }),
                !codecs.contains(where: { $0.capability == capability || $0.peer.payloadType == format.payloadType })
            else { continue }
            codecs.append(Codec(capability: capability, peer: format))
        }
        if hasTelephoneEvents { telephoneEvents = events(among: formats) }
    }

    /// The events whose clock is that of a codec in common (RFC 4733 §2.1 wants the clock of the audio), each number and
    /// each clock once; where no clock fits, the first events there are, which is what telephones mean that pair Opus
    /// with events at 8000.
    private func events(among formats: [PeerFormat]) -> [PeerFormat] {
        let offered = formats.filter { format in
            format.map.encodingName.isEqualIgnoringCase("telephone-event")
                && !codecs.contains { $0.peer.payloadType == format.payloadType }
        }
        var chosen: [PeerFormat] = []
        // The clock of the first codec has the first choice among entries of one number.
        for clock in codecs.map(\.capability.clockRate) {
            guard !chosen.contains(where: { $0.map.clockRate == clock }),
                let event = offered.first(where: { event in
                    event.map.clockRate == clock && !chosen.contains { $0.payloadType == event.payloadType }
                })
            else { continue }
            chosen.append(event)
        }
        if chosen.isEmpty, let first = offered.first(where: { $0.map.clockRate == 8000 }) ?? offered.first {
            chosen = [first]
        }
        return chosen
    }
}
