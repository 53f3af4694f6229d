/// The payload type numbers that one line of ours has given, for the whole session.
///
/// A number that has once stood for a codec never stands for another in our offers (RFC 3264 §8.3.2). In answers the
/// numbers of the offer are repeated (§6.1), even one that stood for something else here: a peer with fixed numbers
/// sends with its own whatever we say.
struct PayloadNumbers: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var codec: String
        var number: UInt8
    }

    private var entries: [Entry] = []

    /// The number that stands for the codec now, if any.
    func number(of codec: String) -> UInt8? {
        guard let entry = entries.last(where: { $0.codec == codec }) else { return nil }
        return entries.last { $0.number == entry.number }?.codec == codec ? entry.number : nil
    }

    /// What a number of repeats stands for, in place of a codec.
    static func retransmissionKey(of original: UInt8) -> String { "rtx of \(original)" }

    func hasUsed(_ number: UInt8) -> Bool { entries.contains { $0.number == number } }

    mutating func bind(_ number: UInt8, to codec: String) {
        // One entry for each pair, so a session of many offers does not grow.
        entries.removeAll { $0.codec == codec && $0.number == number }
        entries.append(Entry(codec: codec, number: number))
    }
}

extension RTPMapAttribute {
    /// What makes two formats the same codec.
    var codecKey: String { "\(encodingName.lowercasedASCII)/\(clockRate)/\(channels)" }
}

extension CodecCapability {
    func map(payloadType: UInt8) -> RTPMapAttribute {
        RTPMapAttribute(payloadType: payloadType, encodingName: name, clockRate: clockRate, channels: channels)
    }
}

extension MediaDescription {
    /// From the number of a format to that of its repeats (RFC 4588 §8.6), as far as the line lists both.
    var retransmissionTypes: [UInt8: UInt8] {
        let listed = Set(payloadTypes)
        let repeats = Set(rtpMaps.lazy.filter { $0.encodingName.isEqualIgnoringCase("rtx") }.map(\.payloadType))
        var types: [UInt8: UInt8] = [:]
        for line in formatParameters {
            guard let number = line.format[...].number(UInt8.self), repeats.contains(number), listed.contains(number),
                let original = line.parameters.number("apt").flatMap({ UInt8(exactly: $0) }), listed.contains(original),
                original != number, types[original] == nil
            else { continue }
            types[original] = number
        }
        return types
    }
}
