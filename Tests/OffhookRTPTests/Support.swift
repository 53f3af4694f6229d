import Foundation
import OffhookBasics
import OffhookRTP
import Testing

enum Fixture {
    static func url(_ path: String) throws -> URL {
        try #require(Bundle.module.url(forResource: "Fixtures/" + path, withExtension: nil))
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: url(path)))
    }

    static func object(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: url(path))
        return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    static func cases(_ path: String) throws -> [[String: Any]] {
        try #require(object(path)["cases"] as? [[String: Any]])
    }

    static func files(in folder: String) throws -> [[UInt8]] {
        try FileManager.default.contentsOfDirectory(at: url(folder), includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }.map { [UInt8](try Data(contentsOf: $0)) }
    }
}

extension [UInt8] {
    /// Reads `hex:80c8…` or `80c8…`.
    init?(hexadecimal text: String) {
        let digits = Array<Character>(text.hasPrefix("hex:") ? String(text.dropFirst(4)) : text)
        guard digits.count % 2 == 0 else { return nil }
        self = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { return nil }
            append(byte)
        }
    }

    init(copying span: RawSpan) {
        self = span.withUnsafeBytes { [UInt8]($0) }
    }

    var packetKind: PacketKind {
        PacketKind(classifying: span.bytes)
    }

    var stunHeader: STUNHeader? {
        STUNHeader(parsing: span.bytes)
    }

    var vp8FrameHeader: VP8FrameHeader? {
        VP8FrameHeader(parsing: span.bytes)
    }

    func parsedDescriptor() throws -> (descriptor: VP8PayloadDescriptor, size: Int) {
        try VP8PayloadDescriptor.parse(span.bytes)
    }

    /// The bytes of each extension element, by identifier.
    func extensionElements() throws -> [UInt8: [UInt8]] {
        var elements: [UInt8: [UInt8]] = [:]
        try parsedHeader().forEachExtensionElement(in: span.bytes) { elements[$0] = Array(self[$1]) }
        return elements
    }

    func contributingSources() throws -> [SSRC] {
        let header = try parsedHeader()
        return (0..<16).compactMap { header.contributingSource($0, in: span.bytes) }
    }

    func parsedHeader() throws -> RTPHeader {
        try RTPHeader(parsing: span.bytes)
    }

    func parseReports(into packets: inout [RTCPPacket]) throws {
        try RTCPPacket.parse(span.bytes, into: &packets)
    }

    func parsedReports() throws -> [RTCPPacket] {
        var packets: [RTCPPacket] = []
        try parseReports(into: &packets)
        return packets
    }
}

extension RTCPPacket {
    var written: [UInt8] {
        let buffer = PacketBuffer()
        write(to: buffer)
        return [UInt8](copying: buffer.bytes)
    }
}

extension RTPSession {
    /// Extensions that go both ways.
    func setHeaderExtensions(_ identifiers: HeaderExtensionIdentifiers, mediaIdentification: String?) {
        setHeaderExtensions(sent: identifiers, received: identifiers, mediaIdentification: mediaIdentification)
    }
}
