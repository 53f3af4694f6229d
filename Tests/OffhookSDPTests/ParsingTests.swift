import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Reading and printing (RFC 8866).
@Suite struct `Reading a description` {
    private func read(_ text: String) throws(SDPParseError) -> SessionDescription {
        try SessionDescription(parsing: Array(text.utf8))
    }

    private let head = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\n"

    @Test func `every line is kept in order and printed as it came`() throws {
        let text = """
            v=0\r
            o=jdoe 3724394400 3724394405 IN IP4 198.51.100.1\r
            s=Call to John Smith\r
            i=SDP Offer #1\r
            u=http://www.jdoe.example.com/home.html\r
            e=Jane Doe <jane@jdoe.example.com>\r
            e=other@example.com\r
            p=+1 617 555-6011\r
            c=IN IP4 198.51.100.1/127/3\r
            b=X-YZ:128\r
            b=CT:1000\r
            t=3034423619 3042462419\r
            r=7d 1h 0 25h\r
            t=0 0\r
            z=2882844526 -1h 2898848070 0\r
            k=prompt\r
            a=recvonly\r
            a=X-unknown: kept : as it is \r
            a=\r
            m=audio 49170/2 RTP/AVP 0 8\r
            i=a title\r
            c=IN IP6 ff15::101/3\r
            b=AS:64\r
            k=clear:x\r
            a=rtpmap:0 PCMU/8000\r
            a=imageattr:97 send [x=800,y=640,sar=1.1] recv [x=330,y=250]\r
            a=identity:eyJ+/==\r
            m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r

            """
        let description = try read(text)

        #expect(String(decoding: description.write(), as: UTF8.self) == text)
        #expect(description.origin.userName == "jdoe")
        #expect(description.name == "Call to John Smith")
        #expect(description.media[0].portCount == 2)
        #expect(description.connection(of: description.media[1])?.host == "198.51.100.1")
        #expect(description.texts(of: .email).count == 2)
        #expect(description.direction(of: description.media[0]) == .receiveOnly)
        #expect(description.media[0].value(of: "identity") == "eyJ+/==")
    }

    /// AMWA-TV/sdpoker#56.
    @Test func `bare line feeds, a blank name and blank lines are taken`() throws {
        let description = try read(
            "v=0\no=- 7 1 IN IP4 198.51.100.20\ns= \nc=IN IP4 198.51.100.20\nt=0 0\n\nm=audio 40000 RTP/AVP 0\n\n")
        #expect(description.name == " ")
        #expect(description.media.count == 1)
        #expect(try read(String(decoding: description.write(), as: UTF8.self)) == description)
    }

    /// pjsip/pjproject#1233.
    @Test func `a refused line without formats does not swallow the next`() throws {
        let description = try peer("m=video 0 RTP/AVP", "m=audio 40000 RTP/AVP 0")
        #expect(description.media.map(\.kind) == ["video", "audio"])
        var ours = OfferAnswer()
        let answer = try ours.answer(description, .video())
        #expect(answer.media.map(\.port) == [0, 5000])
        #expect(answer.media[0].formats == ["0"])
    }

    /// meetecho/janus-gateway#2214.
    @Test func `attributes without a value count as absent`() throws {
        let description = try peer(
            """
            m=audio 40000 RTP/AVP 0
            a=rtpmap
            a=rtpmap:
            a=rtpmap:0
            a=rtpmap:0 PCMU
            a=fmtp:
            a=crypto:
            a=crypto:1
            a=candidate:
            a=setup:
            a=mid
            a=ptime:
            a=rtcp:
            a=ssrc:
            a=rtcp-fb:
            a=extmap:
            a=ssrc-group:
            a=content:
            a=framerate:
            """, session: ["a=fingerprint", "a=fingerprint:", "a=group:", "a=ice-options:", "a=ice-ufrag:"])
        let media = description.media[0]
        #expect(media.rtpMaps.isEmpty)
        #expect(media.formatParameters.isEmpty)
        #expect(media.cryptoLines.isEmpty)
        #expect(media.candidates.isEmpty)
        #expect(media.mid == nil)
        #expect(description.groups.isEmpty)
        #expect(description.dtls(of: media) == nil)
        var ours = OfferAnswer()
        #expect(try ours.answer(description, .audio()).media[0].formats == ["0"])
    }

    @Test(arguments: [
        ("", SDPParseError.empty), ("\r\n", .empty), ("v=1\r\n", .unsupportedVersion),
        ("o=- 1 1 IN IP4 h\r\n", .unsupportedVersion),
        ("v=0\r\ns=-\r\n", .missingOrigin), ("v=0\r\no=\r\n", .malformedOrigin(line: 2)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\no=- 1 1 IN IP4 h\r\n", .misplacedLine(3)),
        ("v=0\r\nv=0\r\n", .misplacedLine(2)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nc=IN IP4\r\n", .malformedConnection(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nnonsense\r\n", .malformedLine(3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\n =x\r\n", .malformedLine(3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\na=x\u{0}y\r\n", .malformedLine(3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\na=x\ry\r\n", .malformedLine(3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nm=audio 1\r\n", .malformedMedia(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nm=audio 65536 RTP/AVP 0\r\n", .malformedMedia(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nm=audio -1 RTP/AVP 0\r\n", .malformedMedia(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nm=audio 1/0 RTP/AVP 0\r\n", .malformedMedia(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nm=audio 1 RTP/AVP 0\r\nt=0 0\r\n", .misplacedLine(4)),
    ])
    func `what is no description is refused with the line`(text: String, error: SDPParseError) {
        #expect(throws: error) { try read(text) }
    }

    @Test func `a letter that nobody knows is kept`() throws {
        // Surveillance cameras add y= and f=.
        let description = try read(head + "m=audio 5000 RTP/AVP 0\r\ny=0100000001\r\nf=v/2/4\r\n")
        #expect(String(decoding: description.write(), as: UTF8.self).hasSuffix("y=0100000001\r\nf=v/2/4\r\n"))
    }

    @Test func `bytes outside UTF-8 and marks that join do not hide separators`() throws {
        let description = try SessionDescription(
            parsing: Array((head + "m=audio 5000 RTP/AVP 0\r\na=rtpmap:\u{301}0 PCMU/8000\r\ni=").utf8) + [
                0xFF, 0xE9, 0x0A,
            ])
        #expect(description.media[0].attributes.map(\.name) == ["rtpmap"])
        #expect(try SessionDescription(parsing: description.write()) == description)
    }

    @Test func `attributes of a stream are told`() throws {
        let media = try peer(
            """
            m=video 40010 RTP/AVP 96
            a=rtpmap:96 VP8/90000
            a=framerate:29.97
            a=content:slides,main
            a=label:11
            a=mid:v1
            a=rtcp:53020 IN IP6 2001:db8::1
            a=rtcp-rsize
            a=ssrc:4294967295 cname:a@b
            a=ssrc:1 foo
            a=ssrc:4294967296 cname:x
            a=ssrc-group:FID 1 2
            a=extmap:3/sendonly urn:ietf:params:rtp-hdrext:sdes:mid with parameters
            a=ptime:20.5
            """, session: ["a=group:BUNDLE v1 a1", "a=ice-lite"]
        )
        let stream = media.media[0]
        #expect(stream.frameRate == 29.97)
        #expect(stream.contents == ["slides", "main"])
        #expect(stream.label == "11")
        #expect(stream.rtcp?.port == 53020)
        #expect(stream.rtcp?.connection?.isVersion6 == true)
        #expect(stream.hasReducedSizeRTCP)
        #expect(stream.sources.map(\.ssrc) == [4_294_967_295, 1])
        #expect(stream.sources[0].value == "a@b")
        #expect(stream.sourceGroups.first?.sources == [1, 2])
        #expect(stream.headerExtensions.first?.direction == .sendOnly)
        #expect(stream.headerExtensions.first?.parameters == "with parameters")
        #expect(stream.packetTime == 20)
        #expect(media.groups.first?.mids == ["v1", "a1"])
        #expect(media.isICELite)
    }

    @Test func `what is too large is refused before it costs anything`() {
        let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: 300_000)
        #expect(throws: SDPParseError.tooLarge) { try SessionDescription(parsing: lines) }
        let attributes = String(repeating: "a=x\r\n", count: 9000)
        #expect(throws: SDPParseError.tooLarge) { try self.read(head + attributes) }
        let media = String(repeating: "m=audio 1 RTP/AVP 0\r\n", count: 100)
        #expect(throws: SDPParseError.tooLarge) { try self.read(head + media) }
    }

    @Test func `a span of bytes is read like an array`() throws {
        let bytes = Array((head + "m=audio 5000 RTP/AVP 0\r\n").utf8)
        #expect(try SessionDescription(parsing: bytes.span.bytes) == SessionDescription(parsing: bytes))
    }
}
