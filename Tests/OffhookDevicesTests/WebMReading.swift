/// What a WebM file has, read by the letter of RFC 8794 and RFC 9559: identifiers, lengths and contents.
struct WebMFile {
    struct Block: Equatable {
        var track: Int
        var time: Int
        var isKeyFrame: Bool
        var bytes: [UInt8]
    }

    struct Cue: Equatable {
        var time: Int
        var track: Int
        /// The time of the cluster that it points to; nil where there is none.
        var clusterTime: Int?
    }

    private struct Element {
        var identifier: UInt32
        var start: Int
        var content: Range<Int>
        var isUnknownLength = false
    }

    private let bytes: [UInt8]
    private var elements: [Element] = []
    private var segment = Element(identifier: 0, start: 0, content: 0..<0)

    /// Nil where the bytes are not a row of whole elements.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard let top = children(of: 0..<bytes.count), top.count == 2, top[0].identifier == 0x1A45_DFA3,
            top[1].identifier == 0x1853_8067, let inside = children(of: top[1].content)
        else { return nil }
        segment = top[1]
        elements = inside
    }

    private func number(_ range: Range<Int>) -> Int {
        bytes[range].reduce(0) { $0 << 8 | Int($1) }
    }

    private func children(of range: Range<Int>) -> [Element]? {
        var found: [Element] = []
        var place = range.lowerBound
        while place < range.upperBound {
            let start = place
            let identifierSize = bytes[place].leadingZeroBitCount + 1
            guard identifierSize <= 4, place + identifierSize < range.upperBound else { return nil }
            let identifier = UInt32(number(place..<place + identifierSize))
            place += identifierSize
            let lengthSize = bytes[place].leadingZeroBitCount + 1
            guard lengthSize <= 8, place + lengthSize <= range.upperBound else { return nil }
            let mask = (1 << (7 * lengthSize)) - 1
            let length = number(place..<place + lengthSize) & mask
            place += lengthSize
            let isUnknown = length == mask
            let end = isUnknown ? range.upperBound : place + length
            guard end <= range.upperBound else { return nil }
            found.append(
                Element(identifier: identifier, start: start, content: place..<end, isUnknownLength: isUnknown))
            place = end
        }
        return found
    }

    private func children(_ identifier: UInt32) -> [Element] {
        elements.filter { $0.identifier == identifier }.flatMap { children(of: $0.content) ?? [] }
    }

    private func value(_ identifier: UInt32, in range: Range<Int>) -> Range<Int>? {
        children(of: range)?.first { $0.identifier == identifier }?.content
    }

    /// Whether the file says how long its content is.
    var isFinished: Bool { !segment.isUnknownLength }

    /// In milliseconds; nil where it is not told.
    var duration: Double? {
        guard let information = elements.first(where: { $0.identifier == 0x1549_A966 }),
            let value = value(0x4489, in: information.content)
        else { return nil }
        return Double(bitPattern: UInt64(number(value)))
    }

    /// Number, codec, and width and height or channels and sampling rate.
    var tracks: [String] {
        children(0x1654_AE6B).map { entry in
            let codec = value(0x86, in: entry.content).map { String(decoding: bytes[$0], as: UTF8.self) } ?? ""
            var words = ["\(value(0xD7, in: entry.content).map(number) ?? 0)", codec]
            if let video = value(0xE0, in: entry.content) {
                words += [UInt32(0xB0), 0xBA].map { "\(value($0, in: video).map(number) ?? 0)" }
            }
            if let audio = value(0xE1, in: entry.content), let rate = value(0xB5, in: audio) {
                words += ["\(value(0x9F, in: audio).map(number) ?? 0)"]
                words += ["\(Int(Double(bitPattern: UInt64(number(rate)))))"]
            }
            return words.joined(separator: " ")
        }
    }

    private var clusters: [(element: Element, time: Int)] {
        elements.filter { $0.identifier == 0x1F43_B675 }.map { ($0, value(0xE7, in: $0.content).map(number) ?? 0) }
    }

    /// For each cluster its time and how long after that its last block is.
    var clusterLengths: [Int] {
        clusters.map { cluster in
            (blocks(of: cluster.element, cluster.time).map(\.time).max() ?? cluster.time) - cluster.time
        }
    }

    var blocks: [Block] { clusters.flatMap { blocks(of: $0.element, $0.time) } }

    private func blocks(of cluster: Element, _ time: Int) -> [Block] {
        (children(of: cluster.content) ?? []).filter { $0.identifier == 0xA3 }.map { block in
            let start = block.content.lowerBound
            let relative = Int(Int16(truncatingIfNeeded: number(start + 1..<start + 3)))
            return Block(
                track: Int(bytes[start] & 0x7F), time: time + relative, isKeyFrame: bytes[start + 3] & 0x80 != 0,
                bytes: Array(bytes[start + 4..<block.content.upperBound]))
        }
    }

    var cues: [Cue] {
        children(0x1C53_BB6B).map { point in
            let place = value(0xB7, in: point.content) ?? 0..<0
            let position = value(0xF1, in: place).map(number) ?? -1
            return Cue(
                time: value(0xB3, in: point.content).map(number) ?? -1,
                track: value(0xF7, in: place).map(number) ?? -1,
                clusterTime: clusters.first { $0.element.start - segment.content.lowerBound == position }?.time)
        }
    }

    /// The identifiers that the list at the front points to, where that is what is there.
    var sought: [UInt32] {
        children(0x114D_9B74).compactMap { seek in
            guard let identifier = value(0x53AB, in: seek.content).map(number),
                let position = value(0x53AC, in: seek.content).map(number),
                elements.contains(where: {
                    $0.identifier == UInt32(identifier) && $0.start - segment.content.lowerBound == position
                })
            else { return nil }
            return UInt32(identifier)
        }
    }
}
