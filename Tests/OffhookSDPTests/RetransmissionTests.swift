import OffhookSDP
import Testing

/// Repeats on a stream of their own (RFC 4588 §8).
@Suite struct `Streams of repeats` {
    private var capabilities: MediaCapabilities {
        var capabilities = MediaCapabilities.plain()
        capabilities.hasRetransmission = true
        return capabilities
    }

    private var wishes: MediaWishes {
        var wishes = MediaWishes.video()
        wishes.video?.ssrc = 11
        wishes.video?.retransmissionSSRC = 12
        wishes.video?.cname = "me"
        return wishes
    }

    @Test func `an offer lists them with their original and their source`() throws {
        var ours = OfferAnswer(capabilities)

        let video = ours.makeOffer(wishes).media[1]

        let number = try #require(video.rtpMaps.first { $0.encodingName == "rtx" }?.payloadType)
        #expect(video.formats == ["97", String(number)])
        #expect(video.values(of: "fmtp").contains("\(number) apt=97"))
        #expect(video.values(of: "ssrc-group") == ["FID 11 12"])
        #expect(video.values(of: "ssrc") == ["11 cname:me", "12 cname:me"])
        #expect(ours.makeOffer(wishes).media[1] == video)
    }

    @Test func `both sides agree on numbers for both ways`() throws {
        var left = OfferAnswer(capabilities)
        var right = OfferAnswer(capabilities)

        try exchange(&left, wishes, &right, wishes)

        for side in [left, right] {
            let video = side.media[1]
            let sent = try #require(video.sendCodecs.first?.retransmissionPayloadType)
            #expect(video.receiveCodecs.first?.retransmissionPayloadType == sent)
        }
    }

    @Test func `an answer repeats the number of the offer`() throws {
        var ours = OfferAnswer(capabilities)
        let offer = try peer(
            "m=audio 40000 RTP/AVP 0",
            "m=video 40010 RTP/AVP 45 46 98 99\na=rtpmap:45 AV1/90000\na=rtpmap:46 rtx/90000\na=fmtp:46 apt=45\n"
                + "a=rtpmap:98 VP8/90000\na=rtpmap:99 rtx/90000\na=fmtp:99 apt=98")

        let answer = try ours.answer(offer, wishes).media[1]

        #expect(answer.formats == ["98", "99"])
        #expect(answer.values(of: "fmtp") == ["99 apt=98"])
        #expect(ours.media[1].sendCodecs.first?.retransmissionPayloadType == 99)
    }

    @Test(arguments: ["", "\na=rtpmap:99 rtx/90000", "\na=rtpmap:99 rtx/90000\na=fmtp:99 apt=77"])
    func `there are none where the peer has none for the codec`(lines: String) throws {
        var ours = OfferAnswer(capabilities)
        let offer = try peer(
            "m=audio 40000 RTP/AVP 0", "m=video 40010 RTP/AVP 98 99\na=rtpmap:98 VP8/90000" + lines)

        let answer = try ours.answer(offer, wishes).media[1]

        #expect(answer.formats == ["98"])
        #expect(answer.values(of: "ssrc-group").isEmpty)
        #expect(ours.media[1].sendCodecs.first?.retransmissionPayloadType == nil)
        #expect(ours.media[1].receiveCodecs.first?.retransmissionPayloadType == nil)
    }
}
