import OffhookBasics
import Testing

@testable import OffhookSIP

@Suite struct `A dialog (RFC 3261 §12)` {
    private func invite(_ extra: String = "") throws -> SIPRequest {
        let text = """
            INVITE sip:bob@example.net SIP/2.0\r
            Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1\r
            \(extra)From: <sip:alice@example.org>;tag=a\r
            To: <sip:bob@example.net>\r
            Call-ID: c\r
            CSeq: 7 INVITE\r
            Contact: <sip:alice@192.0.2.1>\r
            Content-Length: 0\r
            \r

            """
        guard case .request(let request) = try SIPMessage(parsing: Array(text.utf8)) else {
            throw SIPParseError("no request")
        }
        return request
    }

    private func acceptance(of request: SIPRequest, recordRoute: [String] = []) -> SIPResponse {
        var response = SIPResponse(answering: request, status: 200, tag: "b")
        for route in recordRoute { response.headers.append(.recordRoute, route) }
        response.headers.append(.contact, "<sip:bob@192.0.2.2:5062>")
        return response
    }

    @Test func `of the caller has the route set turned round and the far end's Contact`() throws {
        let request = try invite()
        let response = acceptance(of: request, recordRoute: ["<sip:p2;lr>", "<sip:p1;lr>"])

        var dialog = try #require(Dialog(request: request, response: response))
        let bye = dialog.makeRequest(.bye)

        #expect(dialog.id == DialogID(callID: "c", localTag: "a", remoteTag: "b"))
        #expect(bye.uri.description == "sip:bob@192.0.2.2:5062")
        #expect(bye.headers.route.map(\.uri.description) == ["sip:p1;lr", "sip:p2;lr"])
        #expect(bye.headers.cseq == CSeq(8, .bye))
        #expect(bye.headers.from?.tag == "a")
        #expect(bye.headers.to?.tag == "b")
        #expect(dialog.makeAcknowledgement(sequence: 7).headers.cseq == CSeq(7, .ack))
        #expect(dialog.makeRequest(.info).headers.cseq == CSeq(9, .info))
    }

    @Test func `of the callee has the route set as it came`() throws {
        let request = try invite("Record-Route: <sip:p2;lr>, <sip:p1;lr>\r\n")

        var dialog = try #require(Dialog(receiving: request, localTag: "b", isSecure: false))
        let bye = dialog.makeRequest(.bye)

        #expect(dialog.id == DialogID(callID: "c", localTag: "b", remoteTag: "a"))
        #expect(bye.uri.description == "sip:alice@192.0.2.1")
        #expect(bye.headers.route.map(\.uri.description) == ["sip:p2;lr", "sip:p1;lr"])
        #expect(bye.headers.cseq == CSeq(1, .bye))
        #expect(bye.headers.from?.uri.description == "sip:bob@example.net")
    }

    @Test func `of a strict router puts it into the Request-URI (RFC 3261 §12.2.1.1)`() throws {
        let request = try invite()
        let response = acceptance(of: request, recordRoute: ["<sip:p2;lr>", "<sip:p1>"])

        var dialog = try #require(Dialog(request: request, response: response))
        let bye = dialog.makeRequest(.bye)

        #expect(bye.uri.description == "sip:p1")
        #expect(bye.headers.route.map(\.uri.description) == ["sip:p2;lr", "sip:bob@192.0.2.2:5062"])
    }

    @Test func `takes no CSeq twice and none lower`() throws {
        var dialog = try #require(Dialog(receiving: try invite(), localTag: "b", isSecure: false))

        let verdicts = [7, 6, 8, 4_000_000_000].map { dialog.accepts(CSeq($0, .info)) }

        #expect(verdicts == [false, false, true, true])
    }

    @Test func `keeps its route set when the target is refreshed`() throws {
        let request = try invite()
        var dialog = try #require(
            Dialog(request: request, response: acceptance(of: request, recordRoute: ["<sip:p1;lr>"])))
        var headers = SIPHeaders()
        headers.append(.contact, "<sip:bob@192.0.2.9>")
        headers.append(.recordRoute, "<sip:p9;lr>")

        let changes = [headers, headers, SIPHeaders()].map { dialog.refreshTarget(from: $0) }

        #expect(changes == [true, false, false])
        let bye = dialog.makeRequest(.bye)
        #expect(bye.uri.description == "sip:bob@192.0.2.9")
        #expect(bye.headers.route.map(\.uri.description) == ["sip:p1;lr"])
    }

    @Test func `needs the Contact of the INVITE that begins it`() throws {
        var request = try invite()
        request.headers.remove(.contact)

        #expect(Dialog(receiving: request, localTag: "b", isSecure: false) == nil)
    }
}
