import OffhookBasics
import OffhookSIP
import Testing

@Suite struct `Hostile SIP messages` {
    /// Reads all that can be read of a message.
    private func exercise(_ message: SIPMessage) -> Int {
        let headers = message.headers
        let type = headers.contentType
        for address in headers.contacts + headers.route {
            #expect(NameAddress(parsing: address.description) == address)
        }
        for via in headers.vias { #expect(Via(parsing: via.description) == via) }
        for value in headers.challenges() { #expect(AuthenticationValue.list(parsing: value.description) == [value]) }
        var sum = headers.vias.count + headers.contacts.count + headers.route.count + headers.recordRoute.count
        sum += headers.path.count + headers.pAssertedIdentity.count + headers.reasons.count + headers.accept.count
        sum += headers.challenges().count + headers.credentials(.proxyAuthorization).count
        sum += headers.supported.count + headers.require.count + headers.allow.count
        sum += headers.from?.uri.telephoneNumber?.count ?? 0
        sum += headers.to?.uri.sip?.user?.count ?? 0
        sum += MultipartBody.parts(of: message.body, contentType: type).count
        if headers.from?.uri == headers.to?.uri { sum += 1 }
        for present in [
            headers.rack != nil, headers.sessionExpires != nil, headers.replaces != nil, headers.referTo != nil,
            headers.subscriptionState != nil, headers.retryAfter != nil, headers.contentDisposition != nil,
        ] where present { sum += 1 }
        return sum
    }

    @Test(arguments: 0..<8) func `are read or refused, and stay the same when printed`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let corpus = try Fixture.everything()
        for _ in 0..<1000 {
            let message = mutated(corpus, &random)
            if let parsed = try? SIPMessage(parsing: message) {
                _ = exercise(parsed)
                #expect(try SIPMessage(parsing: parsed.write()) == parsed, "seed \(seed)")
            }
            var framer = SIPStreamFramer()
            framer.receive(message)
            while let output = try? framer.next() {
                if case .message(let framed) = output { _ = exercise(framed) }
            }
        }
    }

    private func mutated(_ corpus: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
        let pick = { (count: Int, random: inout SeededRandom) in Int.random(in: 0..<max(count, 1), using: &random) }
        var bytes = corpus[pick(corpus.count, &random)]
        let specials = Array("\r\n \t\"<>;:,=@?&%\\[]*/\0\u{FF}-0".utf8)
        for _ in 0...pick(6, &random) where !bytes.isEmpty {
            let at = pick(bytes.count, &random)
            switch pick(6, &random) {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes[at] = specials[pick(specials.count, &random)]
            case 2: bytes.insert(specials[pick(specials.count, &random)], at: at)
            case 3: bytes.removeSubrange(at..<min(at + pick(20, &random), bytes.count))
            case 4: bytes.removeSubrange(at...)
            default:
                let other = corpus[pick(corpus.count, &random)]
                bytes.replaceSubrange(at..<at, with: other.dropFirst(pick(other.count, &random)).prefix(80))
            }
        }
        return bytes
    }

    /// Patterns that take quadratic time if something looks back or ahead again and again.
    static let patterns = [
        "Via: SIP/2.0/UDP h;branch=z9hG4bK1\r\n", "Via: ,\r\n", "Contact: \"\"\"\r\n", "Contact: <",
        "Contact: <sip:a@h>,",
        "\r\n ", "X:\r\n\r\r", "From: \"\\", "To: <sip:a@h>;a;", "Authorization: a=b,", "Authorization: Digest a ",
        "%41",
        ";", ",", "\"", "<", "(", "@", ":", "Content-Length: 1\r\n", "Record-Route: <sip:a;b=c?d=e&>,\r\n", "--b\r\n",
    ]

    @Test(arguments: patterns, ["To: ", "Contact: ", "X: ", "Content-Type: multipart/mixed;boundary=b\r\n\r\n"])
    func `take time in line with their length`(pattern: String, before: String) throws {
        let text = """
            OPTIONS sip:ua@192.0.2.10 SIP/2.0\r
            Via: SIP/2.0/UDP 198.51.100.20:5060;branch=z9hG4bK1\r
            From: <sip:bob@example.net>;tag=1\r
            To: <sip:ua@example.com>\r
            Call-ID: 1\r
            CSeq: 1 OPTIONS\r
            \(before)\(String(repeating: pattern, count: 65000 / pattern.utf8.count))\r\n\r\n
            """
        // Nothing is timed: a quadratic step over 65,000 bytes would take minutes and be seen by whoever waits.
        let outcome = Result { () throws(SIPParseError) in try SIPMessage(parsing: Array(text.utf8)) }
        switch outcome {
        case .success(let message): _ = exercise(message)
        case .failure(let error):
            if let request = error.rejection?.request { _ = exercise(.request(request)) }
        }
    }

    @Test func `compare in time with their length`() throws {
        let many = (0..<20000).map { ";p\($0)=\($0)" }.joined()
        let more = (0..<20000).map { "h\($0)=\($0)" }.joined(separator: "&")
        let left = try #require(SIPURI(parsing: "sip:a@h\(many)?\(more)"))
        let right = try #require(SIPURI(parsing: "sip:a@h\(many);x=1?\(more)"))

        #expect(left == right)
    }
}
