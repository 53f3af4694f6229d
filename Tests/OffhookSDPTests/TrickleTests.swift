import OffhookSDP
import Testing

/// Candidates in the body of an INFO (RFC 8840 §9).
@Suite struct Trickle {
    /// RFC 8840 §9.2's example: credentials stand above the streams.
    @Test func `credentials of the session hold for its streams`() throws {
        let body = """
            a=ice-pwd:asd88fgpdd777uzjYhagZg\r
            a=ice-ufrag:8hhY\r
            m=audio 9 RTP/AVP 0\r
            a=mid:1\r
            a=candidate:1 1 UDP 2130706432 2001:db8:a0b:12f0::1 5000 typ host\r
            a=candidate:1 2 UDP 2130706432 2001:db8:a0b:12f0::1 5001 typ host\r
            m=audio 9 RTP/AVP 0\r
            a=mid:2\r
            a=candidate:1 1 UDP 2130706432 2001:db8:a0b:12f0::1 5002 typ host\r
            a=end-of-candidates\r

            """
        let fragment = try #require(TrickleFragment(parsing: Array(body.utf8)))

        #expect(fragment.streams.map(\.mid) == ["1", "2"])
        #expect(fragment.streams.map(\.userFragment) == ["8hhY", "8hhY"])
        #expect(fragment.streams.map(\.password) == ["asd88fgpdd777uzjYhagZg", "asd88fgpdd777uzjYhagZg"])
        #expect(fragment.streams.map(\.candidates.count) == [2, 1])
        #expect(fragment.streams.map(\.isComplete) == [false, true])
    }

    @Test func `what is written reads the same`() throws {
        let candidate = ICECandidateAttribute(
            foundation: "1", component: 1, priority: 2_130_706_431, address: "192.0.2.1", port: 40000, kind: "host")
        let fragment = TrickleFragment(streams: [
            .init(
                mid: "0", userFragment: "abcd", password: "0123456789012345678901", candidates: [candidate],
                isComplete: false),
            .init(mid: nil, userFragment: "abcd", password: "0123456789012345678901", candidates: [], isComplete: true),
        ])
        #expect(TrickleFragment(parsing: fragment.write()) == fragment)
    }

    @Test(arguments: [
        "", "a=candidate:1 1 UDP 1 192.0.2.1 5000 typ host", "m=audio 9 RTP/AVP 0\na=mid:0", "m=\na=ice-ufrag:x",
        "\u{0}\u{FFFD}",
    ])
    func `a body without credentials says nothing`(body: String) {
        #expect(TrickleFragment(parsing: Array(body.utf8)) == nil)
    }
}
