import OffhookSIP
import Testing

@Suite struct `Messages of other stacks' tests` {
    /// Where RFC 3261 sees it otherwise than the stack the file is from.
    static let disagreements = [
        "jain-sip/tc025.sip": "From is missing (RFC 3261 §20)",
        "jain-sip/tc119.sip": "a line folds within a URI (RFC 3261 §25.1)",
        "jain-sip/tc121.sip": "a line folds within a URI (RFC 3261 §25.1)",
        "jain-sip/tc127.sip": "a line folds within a URI (RFC 3261 §25.1)",
        "jain-sip/tc314.sip": "a line folds within a URI (RFC 3261 §25.1)",
        "jain-sip/tc338.sip": "mark-up of the source file stands in the status line",
        "jain-sip/tc349.sip": "headers escaped in a Request-URI may be passed over (RFC 4475 §3.1.2.11)",
        "jain-sip/tc352.sip": "blanks within angle brackets may be passed over (RFC 4475 §3.1.2.14)",
        "jain-sip/tc366.sip": "From, To, Call-ID and CSeq are there twice (RFC 4475 §3.3.8)",
    ]

    @Test(arguments: Fixture.stacks) func `get their stack's verdict`(file: String) throws {
        let verdict = try #require(try Fixture.json("stacks/verdicts.json", as: [String: String].self)[file])
        // Saved with LF alone, but Content-Length counts CR LF.
        let bytes = Fixture.withCarriageReturns(try Fixture.bytes("stacks/\(file)"))
        let outcome = Result { () throws(SIPParseError) in try SIPMessage(parsing: bytes) }

        if let message = try? outcome.get() {
            #expect(try SIPMessage(parsing: message.write()) == message)
        }
        if verdict == "no-crash" { return }
        let isAccepted = (verdict == "accept") != (Self.disagreements[file] != nil)
        switch outcome {
        case .success: #expect(isAccepted)
        case .failure(let error): #expect(!isAccepted, "\(error.problem)")
        }
    }

    private struct HeaderCase: Decodable {
        let header: String
        let parse: String
    }

    @Test func `agree on single header fields`() throws {
        for entry in try Fixture.json("stacks/jain-sip/headers.json", as: [HeaderCase].self) {
            let message = try SIPMessage(
                parsing: Array(
                    """
                    SIP/2.0 200 OK
                    v: SIP/2.0/UDP a;branch=z9hG4bK1
                    i: 1
                    CSeq: 1 OPTIONS
                    \(entry.header.hasPrefix("From") ? "" : "f: <sip:a@b>\n")\
                    \(entry.header.hasPrefix("To") ? "" : "t: <sip:a@b>\n")\
                    \(entry.header)


                    """.utf8))
            let name = SIPHeaderName(String(entry.header.prefix { $0 != ":" }))
            #expect(!message.headers.values(name).isEmpty, "\(entry.header)")
        }
    }

    private struct URICase: Decodable {
        let uri: String
    }

    private struct URICases: Decodable {
        let cases: [URICase]
    }

    @Test func `agree on URIs`() throws {
        let jain = try Fixture.json("stacks/jain-sip/uris.json", as: [URICase].self)
        let re = try Fixture.json("stacks/re/uris.json", as: URICases.self).cases
        // `/wss/` after the port is a slip of one vendor that RFC 3261 §19.1.1 has no room for.
        for entry in jain + re where !entry.uri.contains("/wss/") {
            let uri = try #require(URI(parsing: entry.uri), "\(entry.uri)")
            #expect(uri.description == entry.uri)
        }
    }
}
