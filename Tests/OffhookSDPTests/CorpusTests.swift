import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Descriptions that other projects and the RFCs published, with their verdicts.
@Suite struct `Published descriptions` {
    /// Files of which no verdict is asked, with the reason. They are still read and must not crash.
    static let notApplicable: [String: String] = [
        "gortc/spd_session_ex2.sdp": "says v=1337 to test a library's accessor; RFC 8866 §5.1 knows version 0 only",
        "rfc7006/section-3.1.json": "the example's video port is 66544, an error of the RFC",
        "rfc8859/section-14.2.1.1.json": "the example leaves out all of the m-lines but the media type",
    ]

    /// The descriptions in a file: one, or those of an RFC section.
    static func descriptions(_ folder: String, _ file: String) throws -> [(bytes: [UInt8], isWhole: Bool)] {
        guard file.hasSuffix(".json") else { return [(try Fixtures.contents("\(folder)/\(file)"), true)] }
        return try Fixtures.example("\(folder)/\(file)").map { (Array($0.sdp.utf8), !$0.elided) }
    }

    @Test(arguments: ["sdp", "offer-answer"])
    func `all that must parse do, and print to what parses to the same`(folder: String) throws {
        for entry in try Fixtures.manifest(folder) {
            for (bytes, isWhole) in try Self.descriptions(folder, entry.file) {
                let description: SessionDescription
                do {
                    description = try SessionDescription(parsing: bytes)
                } catch {
                    let isExpected = entry.parse != "accept" && folder == "sdp" || !isWhole
                    #expect(isExpected || Self.notApplicable[entry.file] != nil, "\(entry.file): \(error)")
                    continue
                }
                let again = try SessionDescription(parsing: description.write())
                #expect(again == description, "\(entry.file)")
            }
        }
    }

    @Test func `what is valid elsewhere is valid here unless it breaks the grammar`() throws {
        // Those without a verdict whose names do not hint at a fault, and which are refused here all the same.
        let refused: [String: SDPParseError] = [
            "firefox/sdp_unittests-003-kBrokenFmtp.sdp": .malformedLine(8),  // a NUL inside the line
            "libwebrtc-corpus/unittest-6.sdp": .unsupportedVersion,  // a part of a description: begins with m=
            "libwebrtc-corpus/unittest-7.sdp": .unsupportedVersion,
            "pion/unmarshal_test-006-in.sdp": .malformedConnection(line: 4),  // c= without an address
            "pion/unmarshal_test-015.sdp": .malformedOrigin(line: 2),  // o= and nothing
            "webrtc-sdp/03.sdp": .malformedLine(1),  // begins with comments of a test file
            "webrtc-sdp/11.sdp": .malformedLine(1),
        ]
        for entry in try Fixtures.manifest("sdp") where entry.parse == "no-crash" {
            do {
                _ = try SessionDescription(parsing: Fixtures.contents("sdp/\(entry.file)"))
                #expect(refused[entry.file] == nil, "\(entry.file) parses")
            } catch let error as SDPParseError {
                #expect(refused[entry.file] == error, "\(entry.file): \(error)")
            }
        }
    }

    @Test func `seeds that broke other parsers neither crash nor hang`() throws {
        for entry in try Fixtures.manifest("fuzz") {
            exercise(try Fixtures.contents("fuzz/\(entry.file)"))
        }
    }
}

/// Does everything that can be done with bytes from the network.
func exercise(_ bytes: [UInt8]) {
    guard let description = try? SessionDescription(parsing: bytes) else { return }
    for policy in [MediaSecurityPolicy.bestEffort, .sdes, .dtls] {
        var capabilities = MediaCapabilities.secured(policy)
        capabilities.canBundle = policy == .bestEffort
        capabilities.canUseKeyIdentifiers = true
        var answerer = OfferAnswer(capabilities)
        if answerer.receiveOffer(description).rejection == nil { _ = answerer.makeAnswer(.video()) }
        var offerer = OfferAnswer(capabilities)
        _ = offerer.makeOffer(.video())
        _ = offerer.receiveAnswer(description)
        _ = offerer.makeOffer(.video(.receiveOnly))
    }
}
