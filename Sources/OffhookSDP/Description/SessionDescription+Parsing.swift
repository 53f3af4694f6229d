internal import OffhookBasics

extension SessionDescription {
    /// Reads a description (RFC 8866 §5).
    ///
    /// Bare LF ends a line too, empty lines are passed over, the order of lines within a section is free, and `s=` and
    /// `t=` may be missing. Attributes that cannot be read are kept, and count as absent where they are asked for.
    package init(parsing bytes: [UInt8]) throws(SDPParseError) {
        guard bytes.count <= Limits.bytes else { throw .tooLarge }
        var parser = SDPParser()
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            var stop = end
            while stop > start, bytes[stop - 1] == UInt8(ascii: "\r") { stop -= 1 }
            try parser.read(bytes[start..<stop])
            start = end + 1
        }
        self = try parser.finish()
    }

    package init(parsing bytes: RawSpan) throws(SDPParseError) {
        guard bytes.byteCount <= Limits.bytes else { throw .tooLarge }
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.byteCount)
        for offset in 0..<bytes.byteCount { copy.append(bytes.loadByte(at: offset)) }
        try self.init(parsing: copy)
    }
}

/// Takes a description in, line by line.
private struct SDPParser {
    private var number = 0
    private var hasVersion = false
    private var origin: Origin?
    private var lines: [SDPLine] = []
    private var media: [MediaDescription] = []

    mutating func read(_ line: ArraySlice<UInt8>) throws(SDPParseError) {
        number += 1
        guard number <= SessionDescription.Limits.lines else { throw .tooLarge }
        guard let type = line.first else { return }
        guard line.count >= 2, line[line.startIndex + 1] == UInt8(ascii: "="),
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(type | 0x20),
            !line.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") })
        else { throw .malformedLine(number) }
        let text = String(decoding: line[(line.startIndex + 2)...], as: UTF8.self)
        guard hasVersion else {
            guard type == UInt8(ascii: "v"), text[...].trimmed == "0" else { throw .unsupportedVersion }
            hasVersion = true
            return
        }
        switch type {
        case UInt8(ascii: "v"):
            throw .misplacedLine(number)
        case UInt8(ascii: "o"):
            guard origin == nil, media.isEmpty else { throw .misplacedLine(number) }
            guard let read = Origin(parsing: text[...]) else { throw .malformedOrigin(line: number) }
            origin = read
        case UInt8(ascii: "m"):
            guard media.count < SessionDescription.Limits.media else { throw .tooLarge }
            guard let read = MediaDescription(parsing: text[...]) else { throw .malformedMedia(line: number) }
            media.append(read)
        case UInt8(ascii: "a"):
            append(.attribute(SDPAttribute(parsing: text[...])))
        default:
            guard let field = SDPLine.Field(rawValue: type) else {
                append(.unknown(type, text))
                return
            }
            guard media.isEmpty || field.isAllowedInMedia else { throw .misplacedLine(number) }
            if field == .connection, ConnectionData(parsing: text[...]) == nil {
                throw .malformedConnection(line: number)
            }
            append(.field(field, text))
        }
    }

    consuming func finish() throws(SDPParseError) -> SessionDescription {
        guard hasVersion else { throw .empty }
        guard let origin else { throw .missingOrigin }
        return SessionDescription(origin: origin, lines: lines, media: media)
    }

    private mutating func append(_ line: SDPLine) {
        if media.isEmpty {
            lines.append(line)
        } else {
            media[media.count - 1].lines.append(line)
        }
    }
}

extension MediaDescription {
    /// Reads what follows `m=`. A list without formats is let through: peers write it for refused streams.
    init?(parsing text: Substring) {
        let fields = text.fields()
        guard fields.count >= 3 else { return nil }
        let (portText, countText) = fields[1].cut(at: "/")
        guard let port = portText.number(UInt16.self) else { return nil }
        var portCount = 1
        if let countText {
            guard let count = countText.number(UInt16.self), count > 0 else { return nil }
            portCount = Int(count)
        }
        self.init(
            kind: String(fields[0]), port: port, portCount: portCount, profile: String(fields[2]),
            formats: fields[3...].map(String.init))
    }
}
