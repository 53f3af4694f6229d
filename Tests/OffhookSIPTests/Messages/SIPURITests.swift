import OffhookBasics
import OffhookSIP
import Testing

@Suite struct `SIP URIs` {
    private struct Pairs: Decodable {
        let equal: [[String]]
        let notEqual: [[String]]

        private enum CodingKeys: String, CodingKey {
            case equal
            case notEqual = "not_equal"
        }
    }

    @Test func `compare as RFC 3261 §19.1.4 shows`() throws {
        let pairs = try Fixture.json("rfc3261-uri-comparison.json", as: Pairs.self)
        #expect(pairs.equal.count == 5 && pairs.notEqual.count == 7)

        for pair in pairs.equal {
            let first = try #require(URI(parsing: pair[0]))
            let second = try #require(URI(parsing: pair[1]))
            #expect(first == second && second == first)
        }
        for pair in pairs.notEqual {
            let first = try #require(URI(parsing: pair[0]))
            let second = try #require(URI(parsing: pair[1]))
            #expect(first != second && second != first)
        }
    }

    @Test(arguments: [
        ("sip:a@h;user=phone", "sip:a@h"), ("sip:a@h", "sips:a@h"), ("sip:a@h", "sip:h"), ("sip:a:p@h", "sip:a@h"),
        ("sip:a@h;method=INVITE", "sip:a@h"), ("sip:a@h;maddr=x", "sip:a@h"), ("sip:a@h;ttl=1", "sip:a@h"),
        ("sip:a@h?x=1&x=2", "sip:a@h?x=1"), ("sip:a%40@h", "sip:a%41@h"),
    ])
    func `differ`(left: String, right: String) throws {
        #expect(try #require(SIPURI(parsing: left)) != #require(SIPURI(parsing: right)))
        #expect(try #require(SIPURI(parsing: right)) != #require(SIPURI(parsing: left)))
    }

    @Test(arguments: [
        ("sip:a@[2001:DB8::1]", "sip:a@[2001:db8:0::1]"), ("sip:a@h;LR", "sip:a@H;lr"), ("sip:a%2fb@h", "sip:a%2Fb@h"),
        ("sip:a@h;a=1;b=2", "sip:a@h;b=2;c=3;a=1"),
    ])
    func `are equal`(left: String, right: String) throws {
        #expect(try #require(SIPURI(parsing: left)) == #require(SIPURI(parsing: right)))
    }

    @Test func `read every part`() throws {
        let text = "sips:al%20ice:se%63ret@[2001:db8::9]:5062;transport=TCP;lr;maddr=10.0.0.1?Subject=a%20b&Route=x"
        let uri = try #require(SIPURI(parsing: text))

        #expect(uri.isSecure)
        #expect(uri.user == "al ice")
        #expect(uri.escapedPassword == "se%63ret")
        #expect(uri.host.address == IPAddress(parsing: "2001:db8::9"))
        #expect(uri.port == 5062)
        #expect(uri.transport == "tcp")
        #expect(uri.isLooseRouter)
        #expect(uri.parameters["MADDR"] == "10.0.0.1")
        #expect(uri.headers == [.init(name: "Subject", value: "a%20b"), .init(name: "Route", value: "x")])
        #expect(uri.description == text)
    }

    @Test(arguments: [
        "", "sip:", "sip:@h", "sip:a@", "bob", "sip:a b@h", "<sip:a@h>", "sip:a@h:", "sip:a@h:65536", "sip:a@h:12x",
        "sip:a@2001:db8::1", "sip:a@[2001:db8::1", "sip:a@[zz]", "sip:a@h?", "sip:a@h?x", "sip:a@b@c", ":x", "1a:b",
        "sip:a\"@h", "sip:a@h\r\nX: y",
    ])
    func `are refused`(text: String) {
        #expect(URI(parsing: text) == nil)
    }

    @Test func `escape a user made from plain text`() {
        let uri = SIPURI(user: "a b@c;d/é%", host: SIPHost("h"))

        #expect(uri.description == "sip:a%20b%40c;d/%C3%A9%25@h")
        #expect(SIPURI(parsing: uri.description)?.user == "a b@c;d/é%")
    }

    @Test func `put brackets about an IPv6 host`() throws {
        #expect(SIPHost("2001:db8::1").text == "[2001:db8::1]")
        #expect(SIPHost(try #require(IPAddress(parsing: "2001:db8::1"))).text == "[2001:db8::1]")
        #expect(SIPHost("192.0.2.1").text == "192.0.2.1")
    }

    @Test func `give the number of a tel URI`() {
        #expect(URI(parsing: "tel:+1-(201)-555.0123;phone-context=x")?.telephoneNumber == "+12015550123")
        #expect(URI(parsing: "TEL:7042;phone-context=example.com")?.telephoneNumber == "7042")
        #expect(URI(parsing: "sip:7042@h")?.telephoneNumber == nil)
        #expect(URI(parsing: "tel:+1-(201)")?.description == "tel:+1-(201)")
    }
}
