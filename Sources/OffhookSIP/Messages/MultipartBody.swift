/// One part of a multipart body (RFC 2046 §5.1, RFC 5621 §3).
package struct BodyPart: Equatable, Sendable {
    package let headers: SIPHeaders
    package let body: [UInt8]

    /// Whether the part says that whoever does not know its type must refuse the request (RFC 3204 §4, RFC 5621 §3.1).
    package var isHandlingRequired: Bool {
        headers.contentDisposition?.parameters["handling"]?.equalsIgnoringCase("required") ?? false
    }
}

/// Splits multipart bodies.
package enum MultipartBody {
    /// How deep multipart bodies may lie in one another before the inner ones are left alone.
    private static let deepest = 4

    /// The parts of a `multipart/…` body in order; none if the type is another one or has no boundary.
    package static func parts(of body: [UInt8], contentType: MediaType?) -> [BodyPart] {
        guard let contentType, contentType.type.equalsIgnoringCase("multipart"),
            let boundary = contentType.parameters["boundary"], !boundary.isEmpty
        else { return [] }
        return Splitter(body: body, boundary: [0x2D, 0x2D] + Array(boundary.utf8)).parts()
    }

    static func body(ofType type: String, in body: [UInt8], contentType: MediaType?) -> [UInt8]? {
        find(type.lowercased(), in: body, contentType: contentType, depth: 0)
    }

    private static func find(_ type: String, in body: [UInt8], contentType: MediaType?, depth: Int) -> [UInt8]? {
        // An empty body is none, whatever its type (RFC 3261 §20.15).
        guard let contentType, !body.isEmpty else { return nil }
        if contentType.essence == type { return body }
        guard depth < deepest else { return nil }
        var parts = parts(of: body, contentType: contentType)
        // The last alternative is the one its sender likes best (RFC 2046 §5.1.4).
        if contentType.subtype.equalsIgnoringCase("alternative") { parts.reverse() }
        for part in parts {
            let partType = part.headers.contentType ?? MediaType("text", "plain")
            if let found = find(type, in: part.body, contentType: partType, depth: depth + 1) { return found }
        }
        return nil
    }

    private struct Splitter {
        let body: [UInt8]
        /// With the two hyphens before it.
        let boundary: [UInt8]

        func parts() -> [BodyPart] {
            var parts: [BodyPart] = []
            var partStart: Int?
            var lineStart = 0
            while lineStart < body.count {
                let lineEnd = endOfLine(from: lineStart)
                if isBoundary(lineStart..<lineEnd) {
                    if let partStart { parts.append(part(partStart..<endOfPart(before: lineStart, from: partStart))) }
                    if isLastBoundary(lineStart..<lineEnd) { return parts }
                    partStart = lineEnd
                }
                lineStart = lineEnd
            }
            return parts
        }

        /// Behind the next line feed.
        private func endOfLine(from start: Int) -> Int {
            var index = start
            while index < body.count, body[index] != Character8.lineFeed { index += 1 }
            return min(index + 1, body.count)
        }

        /// Whether the line is the boundary with nothing behind it but hyphens and white space.
        private func isBoundary(_ line: Range<Int>) -> Bool {
            guard line.count >= boundary.count, body[line.lowerBound] == 0x2D,
                body[line].starts(with: boundary)
            else { return false }
            var rest = body[line].dropFirst(boundary.count)
            if rest.starts(with: [0x2D, 0x2D]) { rest = rest.dropFirst(2) }
            return rest.allSatisfy { $0 <= Character8.space }
        }

        private func isLastBoundary(_ line: Range<Int>) -> Bool {
            body[line].dropFirst(boundary.count).starts(with: [0x2D, 0x2D])
        }

        /// The line end before a boundary belongs to it.
        private func endOfPart(before line: Int, from start: Int) -> Int {
            var end = line
            if end > start, body[end - 1] == Character8.lineFeed { end -= 1 }
            if end > start, body[end - 1] == Character8.carriageReturn { end -= 1 }
            return end
        }

        private func part(_ range: Range<Int>) -> BodyPart {
            let bytes = body.span.extracting(range)
            var reader = HeadReader(bytes)
            let headers = reader.readPartHeaders()
            return BodyPart(headers: headers, body: Array(body[range.lowerBound + reader.offset..<range.upperBound]))
        }
    }
}
