import Foundation
import OffhookBasics
import OffhookSDP
import Testing

/// The candidate lines that pion, aiortc and libwebrtc test themselves with, each with the verdict of RFC 8839 §5.1.
@Suite struct `Published candidate lines` {
    /// Without what the grammar asks for.
    static let refused = [
        "candidate:", "6815297761 1 udp 659136 192.0.2.2 31102 typ",
        "4207374051 1 udp INVALID 10.0.75.1 53634 typ host",
        "1986380506 1 udp 99999999999 10.0.75.1 53634 typ host",
    ]
    /// Read, but no address that can be sent to: names, which are passed over (RFC 8839 §5.1), and what is none.
    static let nameless = [".local", ".invalid", "a.test", "192.0#.2.15", "191.228.2@338.68"]

    @Test func `are read or refused by the grammar, and printed as they were`() throws {
        struct Table: Decodable {
            struct Row: Decodable { var candidate: String }
            var cases: [Row]
        }
        let table = try JSONDecoder().decode(Table.self, from: Data(Fixtures.contents("ice/candidates.json")))
        #expect(table.cases.count == 32)
        for line in table.cases.map(\.candidate) {
            var text = line[...]
            if text.hasPrefix("a=") { text = text.dropFirst(2) }
            if text.hasPrefix("candidate:") { text = text.dropFirst("candidate:".count) }
            guard let candidate = ICECandidateAttribute(parsing: text) else {
                #expect(Self.refused.contains(line), "\(line) is refused")
                continue
            }
            #expect(!Self.refused.contains(line), "\(line) is read")
            let fields = text.split(separator: " ")
            #expect(candidate.foundation == String(fields[0]))
            #expect(candidate.component == UInt16(fields[1]))
            #expect(candidate.transport == fields[2].lowercased())
            #expect(candidate.priority == UInt32(fields[3]))
            #expect(candidate.address == String(fields[4]))
            #expect(candidate.port == UInt16(fields[5]))
            #expect(candidate.kind == fields[7].lowercased())
            #expect(
                (candidate.endpoint == nil) == Self.nameless.contains { candidate.address.hasSuffix($0) }, "\(line)")
            #expect(ICECandidateAttribute(parsing: candidate.text[...]) == candidate, "\(line)")
        }
    }
}
