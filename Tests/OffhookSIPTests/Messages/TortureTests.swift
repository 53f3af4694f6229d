import OffhookSIP
import Testing

@Suite struct `RFC 4475 and RFC 5118 torture messages` {
    @Test func `all are here`() {
        #expect(Fixture.torture.count == 73)
    }

    /// The archive's Content-Length counts neither LF nor CR LF here; `rfc5118/*.dat` has the same with one that fits.
    static let wrongLengths = ["rfc5118/raw-lf/ipv6-in-sdp.dat", "rfc5118/raw-lf/mult-ip-in-sdp.dat"]

    @Test(arguments: Fixture.torture.filter { !wrongLengths.contains($0) })
    func `get the verdict of their RFC`(file: String) throws {
        let verdict = try #require(try Fixture.json("torture/verdicts.json", as: [String: Fixture.Verdict].self)[file])
        let bytes = try Fixture.bytes("torture/\(file)")

        do {
            let message = try SIPMessage(parsing: bytes)
            #expect(verdict.parse != "reject" || verdict.mayAccept == true)
            #expect(try SIPMessage(parsing: message.write()) == message)
        } catch {
            #expect(verdict.parse != "accept", "\(error.problem)")
            if verdict.action == "discard" {
                #expect(error.rejection == nil)
            } else {
                let status = try #require(error.rejection?.status)
                #expect(verdict.status?.contains(status) ?? (status == 400))
            }
        }
    }

    /// Those whose RFC leaves the choice and that we read all the same.
    @Test(arguments: ["badaspec", "baddate", "badbranch", "escruri", "trws"])
    func `are read where nothing is lost by it`(name: String) throws {
        #expect(throws: Never.self) { try SIPMessage(parsing: Fixture.bytes("torture/rfc4475/\(name).dat")) }
    }

    @Test(arguments: ["baddn", "ltgtruri", "lwsruri", "lwsstart", "quotbal", "regbadct"])
    func `are refused where their meaning would be a guess`(name: String) throws {
        let error = #expect(throws: SIPParseError.self) {
            try SIPMessage(parsing: Fixture.bytes("torture/rfc4475/\(name).dat"))
        }
        #expect(error?.rejection?.status == 400)
    }

    @Test func `keep what a refusal has to copy`() throws {
        let error = #expect(throws: SIPParseError.self) {
            try SIPMessage(parsing: Fixture.bytes("torture/rfc4475/badvers.dat"))
        }

        let rejection = try #require(error?.rejection)
        #expect(rejection.status == 505)
        #expect(rejection.request.method == .options)
        #expect(rejection.request.headers[first: .via] == "SIP/7.0/UDP c.example.com;branch=z9hG4bKkdjuw")
        #expect(rejection.request.headers.from?.tag == "qweoiqpe")
        #expect(rejection.request.headers.callID == "badvers.31417@c.example.com")
        #expect(rejection.request.headers.cseq == CSeq(1, .options))
    }

    @Test func `read as a short tortuous INVITE`() throws {
        let request = try #require(try request("torture/rfc4475/wsinv.dat"))
        let headers = request.headers

        #expect(request.method == .invite)
        #expect(request.uri.sip?.parameters.contains("unknownparam") == true)
        #expect(headers.to?.uri == .sip(SIPURI(user: "vivekg", host: SIPHost("chair-dnrc.example.com"))))
        #expect(headers.to?.tag == "1918181833n")
        #expect(headers.from?.displayName == #"J Rosenberg \""#)
        #expect(headers.from?.tag == "98asjd8")
        #expect(headers.maxForwards == 68)
        #expect(headers.callID == "wsinv.ndaksdj@192.0.2.1")
        #expect(headers.cseq == CSeq(9, .invite))
        #expect(headers.vias.map(\.transport) == ["UDP", "TCP", "UDP"])
        #expect(headers.vias.map(\.host.text) == ["192.0.2.2", "spindle.example.com", "192.168.255.111"])
        #expect(headers.vias.map(\.branch) == ["390skdjuw", "z9hG4bK9ikj8", "z9hG4bK30239"])
        #expect(headers[first: .subject] == "")
        #expect(headers[first: "newfangledheader"] == "newfangled value continued newfangled value")
        #expect(headers[first: "UnknownHeaderWithUnusualValue"] == ";;,,;;,;")
        #expect(headers.route.count == 1)
        #expect(headers.route.first?.uri.sip?.isLooseRouter == true)
        #expect(headers.contacts.count == 1)
        #expect(headers.contacts.first?.displayName == #"Quoted string """#)
        #expect(headers.contacts.first?.parameters["newparam"] == "newvalue")
        #expect(headers.contacts.first?.parameters["q"] == "0.33")
        #expect(request.body(ofType: "application/sdp")?.count == 150)
    }

    @Test func `read with the widest range of characters`() throws {
        let request = try #require(try request("torture/rfc4475/intmeth.dat"))

        #expect(request.method == "!interesting-Method0123456789_*+`.%indeed'~")
        #expect(request.uri.sip?.host.text == "example.com")
        #expect(
            request.uri.sip?.user == "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*")
        #expect(request.uri.sip?.escapedPassword == "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)")
        #expect(request.headers.to?.displayName == "BEL:\u{07} NUL:\u{00} DEL:\u{7F}")
        #expect(request.headers.from?.displayName == "token1~` token2'+_ token3*%!.-")
        #expect(request.headers.from?.parameters["fromParam''~+*_!.-%"] == "работающий")
        #expect(request.headers.from?.tag == "_token~1'+`*%!-.")
        #expect(request.headers[first: "extensionHeader-!.%*+_`'~"] == "\u{FEFF}大停電")
    }

    @Test func `read with escapes`() throws {
        let headers = try #require(try request("torture/rfc4475/esc01.dat")).headers

        #expect(headers.to?.uri.sip?.user == "user")
        #expect(headers.from?.uri.sip?.user == "I have spaces")
        let contact = try #require(headers.contacts.first?.uri.sip)
        #expect(contact.user == "caller")
        #expect(contact == SIPURI(parsing: "sip:caller@host5.example.net;lr;name=value%25%34%31"))
    }

    @Test func `read with an escaped NUL that ends nothing`() throws {
        let contacts = try #require(try request("torture/rfc4475/escnull.dat")).headers.contacts

        #expect(contacts.map(\.uri.sip?.user) == ["\0", "\0\0"])
        #expect(contacts.first?.uri != contacts.last?.uri)
    }

    @Test func `read with parameters in the user part`() throws {
        let uri = try #require(try request("torture/rfc4475/semiuri.dat")).uri.sip

        #expect(uri?.user == "user;par=u@example.net")
        #expect(uri?.host.text == "example.com")
        #expect(uri?.parameters.isEmpty == true)
    }

    @Test func `tell parameters of the Contact from those of its URI`() throws {
        let outside = try #require(try request("torture/rfc4475/cparam01.dat")).headers.contacts.first
        let inside = try #require(try request("torture/rfc4475/cparam02.dat")).headers.contacts.first

        #expect(outside?.parameters.contains("unknownparam") == true)
        #expect(outside?.uri.sip?.parameters.isEmpty == true)
        #expect(inside?.parameters.isEmpty == true)
        #expect(inside?.uri.sip?.parameters.contains("unknownparam") == true)
    }

    @Test func `keep escaped headers out of the message's own`() throws {
        let contact = try #require(try request("torture/rfc4475/regescrt.dat")).headers
        let target = try #require(try request("torture/rfc4475/escruri.dat"))

        #expect(contact.route.isEmpty)
        #expect(contact.contacts.first?.uri.sip?.headers.map(\.name) == ["Route"])
        #expect(target.headers.route.isEmpty)
    }

    @Test func `keep schemes nobody knows`() throws {
        let request = try #require(try request("torture/rfc4475/unksm2.dat"))

        #expect(request.headers.to?.uri == .other("isbn:2983792873"))
        #expect(request.headers.from?.uri == .other("http://www.example.com"))
        #expect(request.headers.contacts.first?.uri.scheme == "name")
        #expect(try self.request("torture/rfc4475/unkscm.dat")?.uri.scheme == "nobodyknowsthisscheme")
    }

    @Test func `end a datagram's message where Content-Length says`() throws {
        let message = try SIPMessage(parsing: Fixture.bytes("torture/rfc4475/dblreq.dat"))

        #expect(message.body.isEmpty)
    }

    @Test func `tell an address's last group from a port`() throws {
        let ambiguous = try #require(try request("torture/rfc5118/port-ambiguous.dat")).uri.sip
        let unambiguous = try #require(try request("torture/rfc5118/port-unambiguous.dat")).uri.sip

        #expect(ambiguous?.host.text == "[2001:db8::10:5070]")
        #expect(ambiguous?.port == nil)
        #expect(unambiguous?.host.text == "[2001:db8::10]")
        #expect(unambiguous?.port == 5070)
    }

    private func request(_ path: String) throws -> SIPRequest? {
        guard case .request(let request) = try SIPMessage(parsing: Fixture.bytes(path)) else { return nil }
        return request
    }
}
