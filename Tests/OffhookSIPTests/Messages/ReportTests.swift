import OffhookBasics
import OffhookSIP
import Testing

@Suite struct `Faults seen in other software` {
    private func request(_ name: String) throws -> SIPRequest {
        guard case .request(let request) = try SIPMessage(parsing: Fixture.bytes("reports/\(name).sip")) else {
            throw SIPParseError("no request")
        }
        return request
    }

    private func response(_ name: String) throws -> SIPResponse {
        guard case .response(let response) = try SIPMessage(parsing: Fixture.bytes("reports/\(name).sip")) else {
            throw SIPParseError("no response")
        }
        return response
    }

    @Test(arguments: ["4", "099", "1000", "700", "abc", "", "-20"]) func `a bad status is dropped`(status: String)
        throws
    {
        let text = String(decoding: try Fixture.bytes("reports/R096.sip"), as: UTF8.self)
            .replacing("SIP/2.0 4 x", with: "SIP/2.0 \(status) x")
        let error = #expect(throws: SIPParseError.self) { try SIPMessage(parsing: Array(text.utf8)) }
        #expect(error?.rejection == nil)
    }

    @Test(arguments: ["Accept-Contact: ;;\"", "P-Foo", "P-Foo <x>: 1", ": nothing", "Expires: soon", "Refer-To: <"])
    func `a broken optional field spoils nothing`(line: String) throws {
        let text = """
            OPTIONS sip:ua@192.0.2.10 SIP/2.0
            Via: SIP/2.0/UDP 198.51.100.20:5060;branch=z9hG4bK1
            From: <sip:bob@example.net>;tag=1
            \(line)
            To: <sip:ua@example.com>
            Call-ID: 1
            CSeq: 1 OPTIONS


            """
        #expect(throws: Never.self) { try SIPMessage(parsing: Array(text.utf8)) }
    }

    @Test(arguments: [
        "Via: SIP/2.0/UDP 198.51.100.20:5060;branch=z9hG4bK1", "From: <sip:bob@example.net>;tag=1",
        "To: <sip:ua@example.com>", "Call-ID: 1", "CSeq: 1 OPTIONS",
    ])
    func `a broken mandatory field gets 400 and an ACK nothing`(line: String) throws {
        let text = """
            OPTIONS sip:ua@192.0.2.10 SIP/2.0
            Via: SIP/2.0/UDP 198.51.100.20:5060;branch=z9hG4bK1
            From: <sip:bob@example.net>;tag=1
            To: <sip:ua@example.com>
            Call-ID: 1
            CSeq: 1 OPTIONS
            Content-Length: 0


            """.replacing(line, with: line.prefix { $0 != ":" } + ": ")
        let error = #expect(throws: SIPParseError.self) { try SIPMessage(parsing: Array(text.utf8)) }
        #expect(error?.rejection?.status == 400)

        let ack = text.replacing("OPTIONS", with: "ACK")
        let dropped = #expect(throws: SIPParseError.self) { try SIPMessage(parsing: Array(ack.utf8)) }
        #expect(dropped?.rejection == nil)
    }

    @Test func `a comma within quotes splits no Contact`() throws {
        let contacts = try request("R102").headers.contacts

        #expect(contacts.count == 1)
        #expect(contacts.first?.displayName == "Bob, at work")
        #expect(contacts.first?.parameters["language"] == "en,fr")
        #expect(contacts.first?.uri.description == "sip:bob@198.51.100.20:62221;transport=udp")
    }

    @Test func `brackets in received are read and not written`() throws {
        var via = try #require(try response("R105").headers.topVia)
        #expect(via.received == IPAddress(parsing: "2001:db8::a255"))
        #expect(via.rport == 5062)

        via.received = via.received
        #expect(via.description.contains(";received=2001:db8::a255;"))
    }

    @Test func `the session description of a multipart body is found`() throws {
        let body = try #require(try request("R108").body(ofType: "application/sdp"))
        let text = String(decoding: body, as: UTF8.self)

        #expect(text.hasPrefix("v=0"))
        #expect(text.hasSuffix("m=audio 40000 RTP/AVP 0") || text.hasSuffix("m=audio 40000 RTP/AVP 0\r\n"))
    }

    @Test func `header fields that look like a session description are none`() throws {
        let request = try request("R111")

        #expect(request.body.count == 102)
        #expect(String(decoding: request.body, as: UTF8.self).hasPrefix("v=0\r\no=peer"))
        #expect(request.headers[first: "X-Note"] == "c=IN IP4 203.0.113.99")
    }

    @Test func `a challenge with quotes and commas in quotes stays whole`() throws {
        let challenge = try #require(try response("R123").headers.challenges().first)

        #expect(challenge.parameters["nonce"] == "abc,def==")
        #expect(challenge.qualitiesOfProtection == ["auth-int", "auth"])
    }
}
