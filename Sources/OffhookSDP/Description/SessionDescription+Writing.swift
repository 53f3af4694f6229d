extension SessionDescription {
    /// The description's bytes, each line ended by CR LF.
    package func write() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512 + 512 * media.count)
        bytes.append(line: "v", "0")
        bytes.append(line: "o", origin.text)
        for line in lines { bytes.append(line) }
        for stream in media {
            let ports = stream.portCount == 1 ? "\(stream.port)" : "\(stream.port)/\(stream.portCount)"
            bytes.append(line: "m", ([stream.kind, ports, stream.profile] + stream.formats).joined(separator: " "))
            for line in stream.lines { bytes.append(line) }
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ line: SDPLine) {
        switch line {
        case .attribute(let attribute):
            append(line: "a", attribute.value.map { "\(attribute.name):\($0)" } ?? attribute.name)
        case .field(let field, let text):
            append(line: Unicode.Scalar(field.rawValue), text)
        case .unknown(let type, let text):
            append(line: Unicode.Scalar(type), text)
        }
    }

    fileprivate mutating func append(line type: Unicode.Scalar, _ text: String) {
        append(UInt8(truncatingIfNeeded: type.value))
        append(UInt8(ascii: "="))
        append(contentsOf: text.utf8)
        append(UInt8(ascii: "\r"))
        append(UInt8(ascii: "\n"))
    }
}
