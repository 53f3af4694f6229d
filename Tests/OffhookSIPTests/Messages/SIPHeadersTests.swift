import OffhookBasics
import OffhookSIP
import Testing

@Suite struct `SIP headers` {
    @Test func `know names in any case and in compact form`() {
        var headers = SIPHeaders()
        headers.append("v", "SIP/2.0/UDP a")
        headers.append("VIA", "SIP/2.0/UDP b")
        headers.append("x-Own", "1")

        #expect(headers.all(.via).count == 2)
        #expect(headers.fields.map(\.name.text) == ["Via", "Via", "x-Own"])
        #expect(headers[first: "X-OWN"] == "1")
    }

    @Test(arguments: [
        ("a", "Accept-Contact"), ("b", "Referred-By"), ("c", "Content-Type"), ("d", "Request-Disposition"),
        ("e", "Content-Encoding"), ("f", "From"), ("i", "Call-ID"), ("j", "Reject-Contact"), ("k", "Supported"),
        ("l", "Content-Length"), ("m", "Contact"), ("n", "Identity-Info"), ("o", "Event"), ("r", "Refer-To"),
        ("s", "Subject"), ("t", "To"), ("u", "Allow-Events"), ("v", "Via"), ("x", "Session-Expires"), ("y", "Identity"),
    ])
    func `have compact forms`(compact: String, long: String) {
        #expect(SIPHeaderName(compact) == SIPHeaderName(long.uppercased()))
        #expect(SIPHeaderName(compact.uppercased()).text == long)
    }

    @Test func `split lists outside quotes and angle brackets`() {
        var headers = SIPHeaders()
        headers.append(.contact, #""a, \", b" <sip:a@h;x=1,2>;p="q,r" , <sip:b@h>"#)
        headers.append(.contact, "<sip:c@h>")

        #expect(
            headers.values(.contact) == [#""a, \", b" <sip:a@h;x=1,2>;p="q,r""#, "<sip:b@h>", "<sip:c@h>"])
        #expect(headers.contacts.map(\.uri.sip?.user) == ["a", "b", "c"])
    }

    @Test func `are changed in place`() {
        var headers = SIPHeaders()
        headers.append(.via, "SIP/2.0/UDP a, SIP/2.0/UDP b")
        headers.append(.to, "<sip:x@h>")
        headers.prepend(.via, "SIP/2.0/TCP first")
        #expect(headers.vias.map(\.host.text) == ["first", "a", "b"])

        headers.removeFirstValue(.via)
        headers.removeFirstValue(.via)
        #expect(headers.all(.via) == ["SIP/2.0/UDP b"])

        headers.to?.tag = "t1"
        headers[first: .subject] = "hello"
        headers[first: .subject] = nil
        #expect(headers.fields.map(\.value) == ["SIP/2.0/UDP b", "<sip:x@h>;tag=t1"])
    }

    @Test func `change the top Via alone`() throws {
        var headers = SIPHeaders()
        headers.append(.via, "SIP/2.0/UDP a;branch=z9hG4bK1;rport, SIP/2.0/UDP b")
        var via = try #require(headers.topVia)
        via.received = IPAddress(parsing: "2001:db8::7")
        via.rport = 5099
        headers.topVia = via

        #expect(
            headers.all(.via)
                == ["SIP/2.0/UDP a;branch=z9hG4bK1;rport=5099;received=2001:db8::7", "SIP/2.0/UDP b"])
    }

    @Test func `let no line end into a message`() throws {
        var request = SIPRequest(method: .message, uri: .other("sip:a@h\r\nEvil: 1"))
        request.headers.append(.subject, "a\r\nEvil: 2")
        request.headers.to = NameAddress(displayName: "x\nEvil: 3", uri: .other("tel:1"))

        let lines = String(decoding: request.write(), as: UTF8.self).split(separator: "\r\n")

        #expect(!lines.contains { $0.hasPrefix("Evil") })
    }

    @Test func `ask for the response port`() {
        var via = Via(transport: "UDP", host: SIPHost("h"))
        via.received = nil
        via.wantsResponsePort = true
        #expect(via.description == "SIP/2.0/UDP h;rport")

        via.rport = 5062
        via.wantsResponsePort = true
        #expect(via.description == "SIP/2.0/UDP h;rport=5062")

        via.rport = nil
        #expect(via.description == "SIP/2.0/UDP h")
    }

    @Test func `read Via`() throws {
        let via = try #require(
            Via(parsing: "SIP/2.0/tls [2001:db8::1]:5061;branch=z9hG4bKx;rport;received=[2001:db8::2]"))

        #expect(via.transport == "TLS")
        #expect(via.host.address == IPAddress(parsing: "2001:db8::1"))
        #expect(via.port == 5061)
        #expect(via.branch == "z9hG4bKx")
        #expect(via.wantsResponsePort && via.rport == nil)
        #expect(via.received == IPAddress(parsing: "2001:db8::2"))
    }

    @Test(arguments: [
        "", "SIP/2.0/UDP", "SIP/2.0 UDP h", "SIP/3.0/UDP h", "HTTP/2.0/UDP h", "SIP/2.0/UDP h:x", "SIP/2.0/UDP [::1",
        "SIP/2.0/UDP h;a=\"x",
    ])
    func `refuse Via`(text: String) {
        #expect(Via(parsing: text) == nil)
    }

    @Test(arguments: [
        (#""Bob \"B\" \\" <sip:b@h;lr>;tag=1"#, #"Bob "B" \"#, "sip:b@h;lr", "1"),
        ("Bob B  <sip:b@h>;tag=2", "Bob B", "sip:b@h", "2"),
        ("sip:b@h;tag=3", nil, "sip:b@h", "3"),
        ("<sip:b@h;tag=uri>", nil, "sip:b@h;tag=uri", nil),
        (#""" <sip:b@h> ; TAG = 4"#, nil, "sip:b@h", "4"),
        ("Mr. Ü<tel:+1>", "Mr. Ü", "tel:+1", nil),
        (#"<sip:b@h>;+sip.instance="<urn:uuid:1>";tag=5"#, nil, "sip:b@h", "5"),
    ])
    func `read addresses`(text: String, name: String?, uri: String, tag: String?) throws {
        let address = try #require(NameAddress(parsing: text))

        #expect(address.displayName == name)
        #expect(address.uri.description == uri)
        #expect(address.tag == tag)
        #expect(NameAddress(parsing: address.description) == address)
    }

    @Test(arguments: [
        "", "*", "<>", "Bob", #""Bob <sip:b@h>"#, #""Bob" sip:b@h"#, "<sip:b@h", "<sip:b@h> x", "<sip:b@h>;;tag=\"",
        "sip:b@h?x=y", "A, B <sip:b@h>",
    ])
    func `refuse addresses`(text: String) {
        #expect(NameAddress(parsing: text) == nil)
    }

    @Test func `read numbers within bounds`() {
        var headers = SIPHeaders()
        headers.append(.cseq, "2147483647 INVITE")
        headers.append(.maxForwards, "0068")
        headers.append(.expires, "99999999999999999999")
        headers.append(.retryAfter, "18000 (later);duration=3600")
        headers.append(.rAck, "776656 1 INVITE")
        headers.append(.rSeq, "4294967296")

        #expect(headers.cseq == CSeq(2_147_483_647, .invite))
        #expect(headers.maxForwards == 68)
        #expect(headers.expires == UInt32.max)
        #expect(headers.retryAfter == 18000)
        #expect(headers.rack == RAck(responseNumber: 776656, cseq: CSeq(1, .invite)))
        #expect(headers.rseq == nil)
        #expect(CSeq(parsing: "2147483648 INVITE") == nil)
        #expect(CSeq(parsing: "1INVITE") == nil)
    }

    @Test func `read the fields of sessions and transfers`() {
        var headers = SIPHeaders()
        headers.append("x", "1800;Refresher=UAS")
        headers.append(.minSE, "90")
        headers.append(.replaces, "a@b;to-tag=1;from-tag=2;early-only")
        headers.append(.referTo, "<sip:c@h?Replaces=x%3Bto-tag%3D1>")
        headers.append("b", "<sip:d@h>")
        headers.append(.reason, #"SIP;cause=200;text="Call completed, elsewhere", Q.850;cause=16"#)
        headers.append(.subscriptionState, "terminated;reason=noresource")
        headers.append("o", "refer;id=93809824")
        headers.append(.supported, "100rel, Timer,replaces")
        headers.append(.allow, "INVITE,ACK , BYE")
        headers.append(.pAssertedIdentity, #""Cullen" <sip:fluffy@example.com>, tel:+14085550100"#)
        headers.append(.contentType, "Multipart/Mixed ; boundary=\"a b\"")

        #expect(headers.sessionExpires == SessionExpires(seconds: 1800, refresher: .uas))
        #expect(headers.minSE == 90)
        #expect(headers.replaces == Replaces(callID: "a@b", toTag: "1", fromTag: "2", isEarlyOnly: true))
        #expect(headers.referTo?.uri.sip?.headers.first?.value == "x%3Bto-tag%3D1")
        #expect(headers.referredBy?.uri.sip?.user == "d")
        #expect(
            headers.reasons == [
                SIPReason(protocolName: "SIP", cause: 200, text: "Call completed, elsewhere"),
                SIPReason(protocolName: "Q.850", cause: 16),
            ])
        #expect(headers.subscriptionState?.token == "terminated")
        #expect(headers.subscriptionState?.parameters["reason"] == "noresource")
        #expect(headers.event?.parameters["id"] == "93809824")
        #expect(headers.supported == ["100rel", "timer", "replaces"])
        #expect(headers.allow == [.invite, .ack, .bye])
        #expect(headers.pAssertedIdentity.map(\.uri.scheme) == ["sip", "tel"])
        #expect(headers.contentType?.essence == "multipart/mixed")
        #expect(headers.contentType?.parameters["boundary"] == "a b")
    }

    @Test func `read challenges`() throws {
        var headers = SIPHeaders()
        headers.append(
            .wwwAuthenticate,
            #"Digest realm="test \"q\" realm, x",nonce="abc,def==",qop="auth-int , auth",opaque="",stale=FALSE"#)
        headers.append(.wwwAuthenticate, #"Basic realm="a", Digest realm="b", nonce="c", algorithm=SHA-256"#)

        let challenges = headers.challenges()

        #expect(challenges.map(\.scheme) == ["Digest", "Basic", "Digest"])
        let first = try #require(challenges.first)
        #expect(first.parameters["realm"] == #"test "q" realm, x"#)
        #expect(first.parameters.list.first?.rawValue == #""test \"q\" realm, x""#)
        #expect(first.parameters["nonce"] == "abc,def==")
        #expect(first.parameters["opaque"] == "")
        #expect(first.qualitiesOfProtection == ["auth-int", "auth"])
        #expect(!first.isStale)
        #expect(challenges.last?.parameters["algorithm"] == "SHA-256")
        #expect(AuthenticationValue.list(parsing: first.description) == [first])
    }

    @Test func `keep credentials of other schemes`() {
        var headers = SIPHeaders()
        headers.append(.authorization, "Bearer eyJhbGciOi.J9==")
        headers.append(.authorization, "NoOneKnowsThisScheme opaque-data=here")

        let credentials = headers.credentials()

        #expect(credentials.first?.opaqueText == "eyJhbGciOi.J9==")
        #expect(credentials.last?.parameters["opaque-data"] == "here")
        #expect(credentials.map(\.description) == headers.all(.authorization))
    }
}
