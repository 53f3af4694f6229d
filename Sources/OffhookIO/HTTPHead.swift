/// The first line and the header fields of an HTTP message (RFC 9112), read strictly.
struct HTTPHead: Equatable {
    enum Failure: Error, Equatable {
        case tooLong
        /// A line that is none: no CRLF at its end, a control character, a name that is no token, folding.
        case malformed
    }

    /// What the WebSocket handshake needs is some hundred bytes; cookies and the like may add to it.
    static let lengthLimit = 16_384

    var firstLine: String
    /// Names in lower case, in the order they came.
    var fields: [(name: String, value: String)]

    static func == (left: HTTPHead, right: HTTPHead) -> Bool {
        left.firstLine == right.firstLine && left.fields.elementsEqual(right.fields, by: ==)
    }

    /// Reads a head without the empty line at its end.
    init(parsing bytes: some Collection<UInt8>) throws(Failure) {
        var lines = try Self.lines(of: bytes)[...]
        guard let first = lines.popFirst(), !first.isEmpty else { throw .malformed }
        firstLine = String(decoding: first, as: UTF8.self)
        fields = []
        for line in lines { fields.append(try Self.field(line)) }
    }

    /// The only value of a field; nil where there is none, or more than one.
    func single(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }

    /// The elements of a comma-separated field, over all its lines.
    func list(_ name: String) -> [String] {
        fields.filter { $0.name == name }.flatMap { field in
            field.value.split(separator: ",").map { Self.trimmed($0.utf8) }.filter { !$0.isEmpty }
        }
    }

    /// Whether a comma-separated field has an element, whatever its case.
    func lists(_ element: String, in name: String) -> Bool {
        list(name).contains { $0.lowercased() == element }
    }

    private static func lines(of bytes: some Collection<UInt8>) throws(Failure) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        var isAfterReturn = false
        for byte in bytes {
            switch (isAfterReturn, byte) {
            case (true, 0x0A):
                isAfterReturn = false
                lines.append([])
            case (true, _), (false, 0x0A): throw .malformed
            case (false, 0x0D): isAfterReturn = true
            case (false, 0x09), (false, 0x20...0x7E), (false, 0x80...0xFF): lines[lines.count - 1].append(byte)
            default: throw .malformed
            }
        }
        if isAfterReturn { throw .malformed }
        if lines.last == [] { lines.removeLast() }
        return lines
    }

    private static func field(_ line: [UInt8]) throws(Failure) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0, line[..<colon].allSatisfy(isTokenByte)
        else {
            throw .malformed
        }
        return (String(decoding: line[..<colon], as: UTF8.self).lowercased(), trimmed(line[(colon + 1)...]))
    }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let start = bytes.firstIndex { !isBlank($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !isBlank($0) }.map { bytes.index(after: $0) } ?? start
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// Collects bytes until a whole head is there.
struct HTTPHeadReader {
    private var bytes: [UInt8] = []
    private var searched = 0

    /// Takes bytes; gives the head once it is whole, and what came after it.
    mutating func receive(_ more: [UInt8]) throws(HTTPHead.Failure) -> (head: HTTPHead, rest: [UInt8])? {
        bytes += more
        // The end may straddle what came before and what came now.
        var index = max(0, searched - 3)
        while index + 4 <= bytes.count {
            if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D, bytes[index + 3] == 0x0A {
                guard index <= HTTPHead.lengthLimit else { throw .tooLong }
                return (try HTTPHead(parsing: bytes[..<(index + 2)]), Array(bytes[(index + 4)...]))
            }
            index += 1
        }
        searched = bytes.count
        guard bytes.count <= HTTPHead.lengthLimit else { throw .tooLong }
        return nil
    }
}
