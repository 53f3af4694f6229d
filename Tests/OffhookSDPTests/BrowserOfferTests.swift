import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// What browsers offer in the course of a call, and what stays the same through all of it.
@Suite struct `Offers of browsers` {
    private typealias Odd = `Offers of all kinds`

    private func recorded(_ name: String) throws -> SessionDescription {
        try SessionDescription(parsing: Fixtures.contents("recorded/\(name).sdp"))
    }

    // MARK: A call with Chromium, from its offers

    @Test func `a recorded call is held, resumed, restarted, and its video stopped and begun again`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        var answers: [SessionDescription] = []
        var fragments: [String?] = []
        for step in [
            "01_setup", "02_after_replacetrack", "03_hold_sendonly", "04_hold_inactive", "05_resume", "06_ice_restart",
            "08_video_stopped", "09_video_again",
        ] {
            let offer = try recorded("chromium_call_\(step).offer")
            let answer = try ours.answer(offer, Odd.wishes())
            #expect(AnswerRules.broken(answer, to: offer) == [], "\(step)")
            let reoffer = ours.makeOffer(Odd.wishes())
            #expect(OfferRules.broken(reoffer, after: answer, ours.media) == [], "\(step)")
            ours.rollback()
            answers.append(answer)
            fragments.append(ours.media[0].remoteICE?.userFragment)
        }

        #expect(
            answers.map { $0.media.map(\.port) } == Array(repeating: [5000, 5000], count: 6) + [
                [5000, 0], [5000, 5000],
            ])
        #expect(answers.map { $0.media[1].mid } == Array(repeating: "1", count: 7) + ["2"])
        #expect(answers.map { $0.groups[0].mids } == Array(repeating: ["0", "1"], count: 6) + [["0"], ["0", "2"]])
        #expect(answers.map { $0.media[0].setup } == Array(repeating: .active, count: 8))
        #expect(
            answers.map { $0.media[0].statedDirection } == [
                .sendReceive, .sendReceive, .receiveOnly, .inactive, .sendReceive, .sendReceive, .sendReceive,
                .sendReceive,
            ])
        // Ours is told once and for all; what the peer restarts is its own.
        #expect(Set(answers.map { $0.media[0].iceUserFragment }) == ["audi"])
        #expect(fragments[4] != fragments[5])
        #expect(Set(fragments[0...4]).count == 1)
    }

    /// What Chromium answers to what it is offered by itself is read as if we had offered it: with its numbers.
    @Test func `simulcast, data channels and codecs that nobody here has are left out`() throws {
        for name in [
            "chromium_offer_simulcast", "chromium_offer_audio_video_datachannel", "janus_videoroom_publish_simulcast",
        ] {
            let offer = try recorded("\(name).offer")
            var ours = OfferAnswer(Odd.capabilities(.dtls))
            let answer = try ours.answer(offer, Odd.wishes())
            #expect(AnswerRules.broken(answer, to: offer) == [], "\(name)")
            let video = try #require(answer.media.first { $0.kind == "video" })
            #expect(Set(video.rtpMaps.map(\.encodingName)) == ["VP8", "rtx"], "\(name)")
            #expect(answer.media.filter { $0.kind == "application" }.allSatisfy { $0.port == 0 }, "\(name)")
            #expect(ours.media(.video)?.feedback.contains([.nack, .pictureLoss, .transportWide]) == true, "\(name)")
            #expect(ours.media(.video)?.sendCodecs.first?.retransmissionPayloadType != nil, "\(name)")
        }
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        let unknown = try recorded("chromium_call_unknown_video_codec.offer")
        let answer = try ours.answer(unknown, Odd.wishes())
        #expect(AnswerRules.broken(answer, to: unknown) == [])
    }

    // MARK: Other browsers

    /// In the manner of Firefox: the fingerprint and the trickle option for the session, directions of header extensions, VP8 between
    /// others, telephone events at one clock.
    static let firefox = """
        v=0
        o=mozilla...THIS_IS_SDPARTA-99.0 4858251974351650128 0 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=fingerprint:sha-256 \([String](repeating: "5E", count: 32).joined(separator: ":"))
        a=group:BUNDLE 0 1
        a=ice-options:trickle
        a=msid-semantic:WMS *
        m=audio 9 UDP/TLS/RTP/SAVPF 109 9 0 8 101
        c=IN IP4 0.0.0.0
        a=sendrecv
        a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=extmap:2/recvonly urn:ietf:params:rtp-hdrext:csrc-audio-level
        a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid
        a=fmtp:109 maxplaybackrate=48000;stereo=1;useinbandfec=1
        a=fmtp:101 0-15
        a=ice-pwd:8d1ad51c4d5ce0b0e4ab35b7d7aa8ce1
        a=ice-ufrag:b1ad53ce
        a=mid:0
        a=rtcp-mux
        a=rtpmap:109 opus/48000/2
        a=rtpmap:9 G722/8000/1
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=rtpmap:101 telephone-event/8000/1
        a=setup:actpass
        a=ssrc:2655508255 cname:{735484ea-4f6c-f74a-bd66-7425f8476c2e}
        m=video 9 UDP/TLS/RTP/SAVPF 126 127 97 98 121 125 120 124 123 122 119
        c=IN IP4 0.0.0.0
        a=sendrecv
        a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:4/sendonly http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:5 urn:ietf:params:rtp-hdrext:toffset
        a=extmap:7 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=fmtp:126 profile-level-id=42e01f;level-asymmetry-allowed=1;packetization-mode=1
        a=fmtp:97 profile-level-id=42e01f;level-asymmetry-allowed=1
        a=fmtp:120 max-fs=12288;max-fr=60
        a=fmtp:124 apt=120
        a=fmtp:121 max-fs=12288;max-fr=60
        a=fmtp:125 apt=121
        a=fmtp:127 apt=126
        a=fmtp:98 apt=97
        a=fmtp:119 apt=122
        a=ice-pwd:8d1ad51c4d5ce0b0e4ab35b7d7aa8ce1
        a=ice-ufrag:b1ad53ce
        a=mid:1
        a=rtcp-fb:120 nack
        a=rtcp-fb:120 nack pli
        a=rtcp-fb:120 ccm fir
        a=rtcp-fb:120 goog-remb
        a=rtcp-fb:120 transport-cc
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:120 VP8/90000
        a=rtpmap:124 rtx/90000
        a=rtpmap:121 VP9/90000
        a=rtpmap:125 rtx/90000
        a=rtpmap:126 H264/90000
        a=rtpmap:127 rtx/90000
        a=rtpmap:97 H264/90000
        a=rtpmap:98 rtx/90000
        a=rtpmap:123 ulpfec/90000
        a=rtpmap:122 red/90000
        a=rtpmap:119 rtx/90000
        a=setup:actpass
        a=ssrc:3021788991 cname:{735484ea-4f6c-f74a-bd66-7425f8476c2e}
        """

    @Test func `an offer in the manner of Firefox`() throws {
        let offer = try SessionDescription(parsing: Array(Self.firefox.utf8))
        var ours = OfferAnswer(Odd.capabilities(.dtls))

        let answer = try ours.answer(offer, Odd.wishes())

        #expect(AnswerRules.broken(answer, to: offer) == [])
        #expect(answer.media[0].formats == ["109", "0", "8", "101"])
        #expect(answer.media[1].formats == ["120", "124"])
        // Ours are as seen from here: what Firefox only sends we only get.
        #expect(
            answer.media[1].headerExtensions.map(\.text) == [
                "3 urn:ietf:params:rtp-hdrext:sdes:mid",
                "4/recvonly http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
                "7 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
            ])
        #expect(ours.media[1].headerExtensions.map(\.direction) == [nil, .receiveOnly, nil])
        #expect(ours.media.map { $0.remoteICE?.options } == [["trickle"], ["trickle"]])
        #expect(ours.media[0].sendTelephoneEvents.map(\.payloadType) == [101])
    }

    /// Safari has AV1 and H.264 before VP8, FlexFEC and RED between; three cameras are three lines of one kind.
    @Test func `of several lines of video the first on which something is to flow is taken`() throws {
        let video = { (mid: Int, direction: String) in
            """
            m=video 9 UDP/TLS/RTP/SAVPF 45 46 98 99 35 36 100 101
            a=mid:\(mid)
            a=\(direction)
            a=rtcp-mux
            a=rtpmap:45 AV1/90000
            a=rtpmap:46 rtx/90000
            a=fmtp:46 apt=45
            a=rtpmap:98 H264/90000
            a=fmtp:98 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c1f
            a=rtpmap:99 rtx/90000
            a=fmtp:99 apt=98
            a=rtpmap:35 flexfec-03/90000
            a=rtpmap:36 red/90000
            a=rtpmap:100 VP8/90000
            a=rtpmap:101 rtx/90000
            a=fmtp:101 apt=100
            """
        }
        let head = [
            "a=group:BUNDLE a 1 2 3", "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=ice-options:trickle",
            "a=fingerprint:sha-256 " + [String](repeating: "5E", count: 32).joined(separator: ":"), "a=setup:actpass",
            "a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid",
        ]
        let audio =
            "m=audio 9 UDP/TLS/RTP/SAVPF 111 63\na=mid:a\na=rtcp-mux\na=rtpmap:111 opus/48000/2\na=rtpmap:63 red/48000/2\na=fmtp:63 111/111"
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        let offer = try peer(
            audio, video(1, "inactive"), video(2, "sendrecv"), video(3, "sendonly"), session: head)

        let answer = try ours.answer(offer, Odd.wishes())

        #expect(AnswerRules.broken(answer, to: offer) == [])
        #expect(answer.media.map(\.port) == [5000, 0, 5000, 0])
        #expect(answer.media[2].formats == ["100", "101"])
        #expect(answer.groups.map(\.mids) == [["a", "2"]])
        // Extensions of the session are those of its lines (RFC 8285 §5).
        #expect(answer.media.map { $0.headerExtensions.map(\.id) } == [[3], [], [3], []])

        // The line that is in use stays in use, whatever the others do.
        let second = try peer(audio, video(1, "sendrecv"), video(2, "inactive"), video(3, "sendonly"), session: head)
        #expect(try ours.answer(second, Odd.wishes()).media.map(\.port) == [5000, 0, 5000, 0])
    }

    // MARK: What stays

    /// RFC 8829 §5.2.2: a name is that of one line, and a line that is used again is another.
    @Test func `names of our lines are none of the peer's, and new where a line is used again`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        let first = try peer(
            "m=audio 9 UDP/TLS/RTP/SAVPF 111\na=mid:1\na=rtcp-mux\na=rtpmap:111 opus/48000/2",
            session: [
                "a=group:BUNDLE 1",
                "a=fingerprint:sha-256 " + [String](repeating: "5E", count: 32).joined(separator: ":"),
                "a=setup:actpass", "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx",
            ])
        _ = try ours.answer(first, Odd.wishes(nil))

        #expect(ours.makeOffer(Odd.wishes()).media.map(\.mid) == ["1", "2"])
        // The same offer again has the same names; a refused line is used again under another.
        let offer = ours.makeOffer(Odd.wishes())
        #expect(offer.media.map(\.mid) == ["1", "2"])
        var refusal = first
        refusal.media[0].lines.removeAll { $0 == .attribute(SDPAttribute("setup", "actpass")) }
        refusal.media.append(MediaDescription(kind: "video", port: 0, profile: "UDP/TLS/RTP/SAVPF", formats: ["97"]))
        #expect(ours.receiveAnswer(refusal) == .accepted)
        #expect(ours.makeOffer(Odd.wishes(nil)).media.map(\.mid) == ["1", "2"])
        #expect(ours.makeOffer(Odd.wishes()).media.map(\.mid) == ["1", "3"])
    }

    @Test func `a name that the peer gives while our offer comes to nothing is the peer's`() throws {
        let line = { (mid: String) in "m=audio 40000 RTP/AVP 0\na=rtcp-mux\na=mid:\(mid)" }
        var ours = OfferAnswer(Odd.capabilities(.off))
        _ = try ours.answer(try peer(line("0")), Odd.wishes(nil))
        #expect(ours.makeOffer(Odd.wishes()).media.map(\.mid) == ["0", "1"])
        ours.rollback()

        _ = try ours.answer(
            try peer(line("0"), "m=application 0 UDP/DTLS/SCTP x\na=mid:2", line("1")), Odd.wishes(nil))

        #expect(ours.makeOffer(Odd.wishes()).media.map(\.mid) == ["0", "2", "1", "3"])
    }

    /// RFC 9143 §15: in a bundle a number is one extension's, so a new line goes on with the numbers of the others.
    @Test func `numbers of extensions are one for all lines`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        let offer = try recorded("chromium_offer_audio.offer")
        let answer = try ours.answer(offer, Odd.wishes(nil))
        let theirs = Dictionary(
            uniqueKeysWithValues: offer.media[0].headerExtensions.map { ($0.uri, $0.id) })

        let adding = ours.makeOffer(Odd.wishes())

        #expect(OfferRules.broken(adding, after: answer, ours.media) == [])
        let added = adding.media[1].headerExtensions
        #expect(added.count == 2)
        #expect(added.allSatisfy { theirs[$0.uri] == $0.id })
    }

    @Test func `a number that means something to the peer is given to nothing else`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        let offer = try peer(
            "m=audio 40000 RTP/SAVPF 0\na=mid:0\na=rtcp-mux\na=extmap:1 urn:a\na=extmap:2 urn:b\na=setup:actpass\na=fingerprint:sha-256 "
                + [String](repeating: "5E", count: 32).joined(separator: ":"))
        _ = try ours.answer(offer, Odd.wishes(nil))

        let added = ours.makeOffer(Odd.wishes()).media[1].headerExtensions

        #expect(added.map(\.id) == [3, 4])
        #expect(ours.makeOffer(Odd.wishes()).media[1].headerExtensions == added)
    }

    // MARK: DTLS

    private func secured(_ lines: String...) throws -> SessionDescription {
        try peer((["m=audio 40000 UDP/TLS/RTP/SAVPF 0", "a=setup:actpass"] + lines).joined(separator: "\n"))
    }

    private static let good = "a=fingerprint:sha-256 " + [String](repeating: "5E", count: 32).joined(separator: ":")
    private static let broken = "a=fingerprint:md5 " + [String](repeating: "5E", count: 16).joined(separator: ":")

    /// RFC 8122 §5: MD5 vouches for nothing.
    @Test func `a certificate that nobody can verify is none`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        #expect(
            ours.receiveOffer(try secured(Self.broken)).rejection == .notAcceptable(reason: "No usable media security"))
        #expect(ours.receiveOffer(try secured("a=fingerprint:sha3-256 00:01")).rejection?.status == 488)
        #expect(ours.receiveOffer(try secured(Self.broken, Self.good)).rejection == nil)

        var offering = OfferAnswer(Odd.capabilities(.dtls))
        _ = offering.makeOffer(Odd.wishes(nil))
        let outcome = offering.receiveAnswer(
            try peer("m=audio 40000 UDP/TLS/RTP/SAVPF 0\na=setup:active\n\(Self.broken)"))
        #expect(outcome == .unusable(reason: "The answer has no usable key"))
    }

    /// RFC 8842 §4: another `tls-id` is another association; none at all says nothing.
    @Test(arguments: [("a=tls-id:one", SetupRole.passive), ("a=tls-id:two", .active), ("a=x", .passive)])
    func `the role stays while nobody names another association`(line: String, role: SetupRole) throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        _ = ours.makeOffer(Odd.wishes(nil))
        _ = ours.receiveAnswer(
            try peer("m=audio 40000 UDP/TLS/RTP/SAVPF 0\na=setup:active\na=tls-id:one\n\(Self.good)"))

        #expect(try ours.answer(try secured(Self.good, line), Odd.wishes(nil)).media[0].setup == role)
    }

    @Test func `a name of the association that comes late changes no role`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        _ = ours.makeOffer(Odd.wishes(nil))
        _ = ours.receiveAnswer(try peer("m=audio 40000 UDP/TLS/RTP/SAVPF 0\na=setup:active\n\(Self.good)"))

        #expect(try ours.answer(try secured(Self.good, "a=tls-id:one"), Odd.wishes(nil)).media[0].setup == .passive)
    }

    /// RFC 8858 §4.2 wants `rtcp-mux` beside it; where that is forgotten, separate ports would reach nobody.
    @Test func `rtcp-mux-only is answered with rtcp-mux`() throws {
        for lines in ["a=rtcp-mux-only", "a=rtcp-mux\na=rtcp-mux-only"] {
            var ours = OfferAnswer(Odd.capabilities(.dtls))
            let answer = try ours.answer(try secured(Self.good, lines), Odd.wishes(nil))
            #expect(answer.media[0].hasAttribute("rtcp-mux"))
            #expect(!answer.media[0].hasAttribute("rtcp-mux-only"))
            #expect(ours.media[0].hasRTCPMux)
        }
    }
}
