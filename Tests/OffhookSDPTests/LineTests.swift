import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Lines keep their places for the whole session (RFC 3264 §§6, 8).
@Suite struct `Lines of a session` {
    @Test func `every line of an offer is answered in its place`() throws {
        var ours = OfferAnswer()
        let offer = try peer(
            "m=application 40020 UDP/DTLS/SCTP webrtc-datachannel",
            "m=video 40010 RTP/AVP 31",
            "m=audio 40000 TCP/RTP/AVP 0",
            "m=audio 40002 RTP/AVP 0",
            "m=audio 40004 RTP/AVP 8",
            "m=video 40012 RTP/AVP 96\na=rtpmap:96 VP8/90000",
            "m=image 40030 udptl t38")

        let evaluation = ours.receiveOffer(offer)
        let answer = try ours.answerOpenOffer(.video())

        #expect(evaluation.audioIndex == 3)
        #expect(evaluation.videoIndex == 5)
        #expect(
            evaluation.lines.map(\.refusal) == [
                .unsupportedMedia, .noCommonCodec, .unsupportedProfile, nil, .unsupportedMedia, nil, .unsupportedMedia,
            ])
        #expect(answer.media.map(\.kind) == offer.media.map(\.kind))
        #expect(answer.media.map(\.port) == [0, 0, 0, 5000, 0, 5002, 0])
        #expect(answer.media.map(\.profile) == offer.media.map(\.profile))
        #expect(answer.media[0].formats == ["webrtc-datachannel"])
    }

    @Test func `a line taken away and added again uses its place again`() throws {
        var (ours, theirs) = (OfferAnswer(), OfferAnswer())
        try exchange(&ours, .video(), &theirs, .video())

        let (off, _) = try exchange(&ours, .video(.disabled), &theirs, .video())
        #expect(off.media.map(\.port) == [5000, 0])
        #expect(ours.media[1].disabledReason == .localUser)
        #expect(theirs.media[1].disabledReason == .remoteUser)

        let (on, _) = try exchange(&theirs, .video(.receiveOnly), &ours, .video())
        #expect(on.media.count == 2)
        #expect(ours.media[1].direction == .sendOnly)
    }

    @Test func `a zeroed slot of another kind is not taken over, and stays`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(
            try peer("m=application 40020 TCP/TLS/BFCP *", "m=audio 40000 RTP/AVP 0"), .audio())

        let offer = ours.makeOffer(.video())

        #expect(offer.media.map(\.kind) == ["application", "audio", "video"])
        #expect(offer.media.map(\.port) == [0, 5000, 5002])
        #expect(offer.media[0].formats == ["*"])
    }

    /// pjsip/pjproject#527.
    @Test func `an answer with too few lines refuses the rest`() throws {
        var ours = OfferAnswer()
        _ = ours.makeOffer(.video())

        #expect(ours.receiveAnswer(try peer("m=audio 40000 RTP/AVP 0")) == .accepted)
        #expect(ours.media.map(\.disabledReason) == [nil, .remoteUser])
        #expect(ours.makeOffer(.audio()).media.count == 2)
    }

    @Test func `an answer with other kinds of lines refuses those, and lines too many are passed over`() throws {
        var ours = OfferAnswer()
        _ = ours.makeOffer(.video())

        let outcome = ours.receiveAnswer(
            try peer("m=audio 40000 RTP/AVP 0", "m=audio 40002 RTP/AVP 0", "m=video 1 RTP/AVP 97"))

        #expect(outcome == .accepted)
        #expect(ours.media.map(\.disabledReason) == [nil, .remoteUser])
    }

    @Test func `an answer that takes nothing is unusable, and the session before it holds`() throws {
        var (ours, theirs) = (OfferAnswer(), OfferAnswer())
        try exchange(&ours, .video(), &theirs, .video())
        let before = ours.media
        _ = ours.makeOffer(.video(.receiveOnly))

        let outcome = ours.receiveAnswer(try peer("m=audio 0 RTP/AVP 0", "m=video 0 RTP/AVP 97"))

        #expect(outcome == .unusable(reason: "The answer refuses all media"))
        #expect(ours.media == before)
        #expect(ours.localOffer != nil)
    }

    @Test func `lines that a new offer leaves out count as taken away and come again in ours`() throws {
        var (ours, theirs) = (OfferAnswer(), OfferAnswer())
        try exchange(&theirs, .video(), &ours, .video())

        let evaluation = ours.receiveOffer(try peer("m=audio 40000 RTP/AVP 0"))
        let answer = try ours.answerOpenOffer(.video())

        #expect(evaluation.removedLines == [1])
        #expect(answer.media.count == 1)
        #expect(ours.media[1].disabledReason == .remoteUser)
        #expect(ours.makeOffer(.video(.disabled)).media.map(\.port) == [5000, 0])
    }

    @Test func `a video line in a re-INVITE is told apart as new, and as returning`() throws {
        var ours = OfferAnswer()
        let audio = "m=audio 40000 RTP/AVP 0"
        let video = "m=video 40010 RTP/AVP 96\na=rtpmap:96 VP8/90000\na=sendonly"
        _ = try ours.answer(try peer(audio), .audio())

        let added = ours.receiveOffer(try peer(audio, video))
        #expect(added.newVideoDirection == .receiveOnly)
        #expect(!added.isVideoReturning)
        let refused = try ours.answerOpenOffer(.video(.disabled))
        #expect(refused.media.map(\.port) == [5000, 0])

        let again = ours.receiveOffer(try peer(audio, video))
        #expect(again.newVideoDirection == .receiveOnly)
        #expect(!again.isVideoReturning)
        _ = ours.makeAnswer(.video())

        let changed = ours.receiveOffer(try peer(audio, video.replacing("sendonly", with: "sendrecv")))
        #expect(changed.newVideoDirection == nil)
        _ = ours.makeAnswer(.video())

        let removed = ours.receiveOffer(try peer(audio, "m=video 0 RTP/AVP 96"))
        #expect(removed.removedLines == [1])
        _ = ours.makeAnswer(.video())
        #expect(ours.media[1].disabledReason == .remoteUser)

        let back = ours.receiveOffer(try peer(audio, video))
        #expect(back.newVideoDirection == .receiveOnly)
        #expect(back.isVideoReturning)
    }

    @Test func `the version in o= goes up by one when the content changes and only then`() throws {
        var (ours, theirs) = (OfferAnswer(), OfferAnswer())
        let first = ours.makeOffer(.video())
        #expect(ours.makeOffer(.video()).origin == first.origin)
        let start = try #require(UInt64(first.origin.sessionVersion))

        _ = ours.receiveAnswer(try theirs.answer(first, .video()))
        let same = ours.makeOffer(.video())
        #expect(same.origin == first.origin)

        // A refused offer has been seen by the peer: what follows it differs from it.
        let hold = ours.makeOffer(.video(hold: true))
        #expect(UInt64(hold.origin.sessionVersion) == start + 1)
        ours.rollback()
        let after = ours.makeOffer(.video())
        #expect(UInt64(after.origin.sessionVersion) == start + 2)
        #expect(after.origin.sessionID == first.origin.sessionID)
    }

    @Test func `glare and an unanswered offer are told apart`() throws {
        var ours = OfferAnswer()
        let offer = try peer("m=audio 40000 RTP/AVP 0")
        _ = ours.makeOffer(.audio())
        #expect(ours.receiveOffer(offer).rejection?.status == 491)
        #expect(ours.localOffer != nil)

        ours.rollback()
        #expect(ours.receiveOffer(offer).rejection == nil)
        #expect(ours.receiveOffer(offer).rejection?.status == 500)
        #expect(ours.receiveAnswer(offer) == .unexpected)
        #expect(ours.makeAnswer(.audio()) != nil)
        #expect(ours.makeAnswer(.audio()) == nil)
        #expect(ours.receiveAnswer(offer) == .unexpected)
    }

    @Test(arguments: [
        ("m=audio 40000 RTP/AVP 18", "No codec in common"),
        ("m=audio 40000 RTP/AVP 4294967296 -1 128 0x0 99999999999999999999", "No codec in common"),
        ("m=audio 40000 RTP/AVP", "No codec in common"),
        ("m=audio 40000 RTP/SAVP 0", "Transport profile not supported"),
        ("m=audio 40000 RTP/AVP 0\nc=IN IP4 224.2.1.1/127", "Network address not supported"),
        ("m=audio 40000 RTP/AVP 0\nc=ATM NSAP 47.0091", "Network address not supported"),
        ("m=image 40000 udptl t38", "No supported media"), ("", "No media in the description"),
        ("m=audio 0 RTP/AVP 0", "No supported media"),
    ])
    func `an offer with nothing in it for us is refused with a reason`(media: String, reason: String) throws {
        var ours = OfferAnswer()

        let evaluation = ours.receiveOffer(try peer(media))

        #expect(evaluation.rejection == .notAcceptable(reason: reason))
        #expect(evaluation.rejection?.status == 488)
        #expect(ours.makeAnswer(.audio()) == nil)
    }

    @Test func `an answer may come again with more in it`() throws {
        var ours = OfferAnswer()
        _ = ours.makeOffer(.audio())
        #expect(ours.receiveAnswer(try peer("m=audio 40000 RTP/AVP 0\na=inactive")) == .accepted)
        #expect(ours.isRemotelyHeld)

        #expect(ours.receiveAnswer(try peer("m=audio 42000 RTP/AVP 8")) == .accepted)

        #expect(!ours.isRemotelyHeld)
        #expect(ours.media[0].direction == .sendReceive)
        #expect(ours.media[0].sendCodecs.map(\.name) == ["PCMA"])
    }

    /// DoubangoTelecom/doubango#306, sipdroid#802.
    @Test func `media goes to the newest address of offers and answers`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(try peer("m=audio 40000 RTP/AVP 0"), .audio())
        let address = try #require(IPAddress(parsing: "198.51.100.20"))
        #expect(ours.media[0].remoteRTP == .endpoint(Endpoint(address, 40000)))
        #expect(ours.media[0].remoteRTCP == .endpoint(Endpoint(address, 40001)))

        _ = try ours.answer(try peer("m=audio 42000 RTP/AVP 0\na=rtcp:43000 IN IP4 198.51.100.21"), .audio())
        #expect(ours.media[0].remoteRTP == .endpoint(Endpoint(address, 42000)))
        #expect(ours.media[0].remoteRTCP == .endpoint(try #require(Endpoint(parsing: "198.51.100.21:43000"))))

        _ = ours.makeOffer(.video())
        _ = ours.receiveAnswer(try peer("m=audio 44000 RTP/AVP 0\na=rtcp-mux", "m=video 0 RTP/AVP 97"))
        #expect(ours.media[0].remoteRTP == .endpoint(Endpoint(address, 44000)))
    }

    @Test func `RTCP shares the port when both say so`() throws {
        var ours = OfferAnswer()
        let answer = try ours.answer(try peer("m=audio 40000 RTP/AVP 0\na=rtcp-mux"), .audio())

        #expect(answer.media[0].hasRTCPMux)
        #expect(ours.media[0].hasRTCPMux)
        #expect(ours.media[0].remoteRTCP == ours.media[0].remoteRTP)
    }

    @Test func `a name in place of an address is left to the caller to look up`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(try peer("m=audio 40000 RTP/AVP 0\nc=IN IP4 media.example.com"), .audio())

        #expect(ours.media[0].remoteRTP == .name("media.example.com", port: 40000))
    }

    @Test func `a line of a family that cannot be sent is refused alone`() throws {
        // kamailio/kamailio#4718: addresses only in the streams, of two families.
        let offer = try SessionDescription(
            parsing: bytes([
                "v=0", "o=peer 1000 1 IN IP4 198.51.100.20", "s=-", "t=0 0", "m=audio 40000 RTP/AVP 0",
                "c=IN IP4 198.51.100.20", "m=video 40010 RTP/AVP 96", "c=IN IP6 2001:db8::20",
                "a=rtpmap:96 VP8/90000",
            ]))
        var capabilities = MediaCapabilities.plain()
        capabilities.canSendVersion6 = false
        var ours = OfferAnswer(capabilities)
        let answer = try ours.answer(offer, .video())
        #expect(answer.media.map(\.port) == [5000, 0])
        #expect(ours.media[1].disabledReason == .unsupportedAddress)

        var dual = OfferAnswer()
        var wishes = MediaWishes.video()
        wishes.video?.addresses.append(try #require(IPAddress(parsing: "2001:db8::10")))
        let both = try dual.answer(offer, wishes)
        #expect(both.media.map(\.port) == [5000, 5002])
        #expect(text(both).contains("c=IN IP6 2001:db8::10\r\n"))
    }

    @Test func `a bundle-only line is refused where nothing is bundled`() throws {
        var ours = OfferAnswer()
        let answer = try ours.answer(try Bundles.bundleOnly(), .video())

        #expect(answer.media.map(\.port) == [5000, 0])
        #expect(answer.groups.isEmpty)
    }
}
