import OffhookMedia
import OffhookSDP
import Testing

/// Hold is a direction, and each side undoes only its own (RFC 3264 §8.4, RFC 6337 §5.3).
@Suite struct Hold {
    /// The directions of audio in the offer of a side and in the other's answer, with video asked for both ways.
    @Test(arguments: [
        (false, false, "sendrecv", "sendrecv"), (true, false, "sendonly", "recvonly"),
        (false, true, "sendrecv", "sendonly"), (true, true, "sendonly", "inactive"),
    ])
    func `either side or both hold`(offererHolds: Bool, answererHolds: Bool, offered: String, answered: String) throws {
        var (offerer, answerer) = (OfferAnswer(), OfferAnswer())
        try exchange(&offerer, .video(), &answerer, .video())

        let (offer, answer) = try exchange(
            &offerer, .video(hold: offererHolds), &answerer, .video(hold: answererHolds))

        #expect(offer.media.map { $0.statedDirection?.attributeName } == [offered, offered])
        #expect(answer.media.map { $0.statedDirection?.attributeName } == [answered, answered])
        #expect(offerer.isRemotelyHeld == answererHolds)
        #expect(answerer.isRemotelyHeld == offererHolds)
        for (mine, theirs) in zip(offerer.media, answerer.media) {
            #expect(mine.direction == theirs.direction.mirrored)
        }
    }

    /// Both hold one after the other and let go in either order.
    @Test(arguments: [true, false]) func `two holds overlap and end one by one`(firstLetsGoFirst: Bool) throws {
        var (first, second) = (OfferAnswer(), OfferAnswer())
        try exchange(&first, .video(), &second, .video())

        try exchange(&first, .video(hold: true), &second, .video())
        #expect(second.media.map(\.direction) == [.receiveOnly, .receiveOnly])

        let (offer, _) = try exchange(&second, .video(hold: true), &first, .video(hold: true))
        #expect(offer.media.map(\.statedDirection) == [.inactive, .inactive])
        #expect(first.isRemotelyHeld)
        #expect(second.isRemotelyHeld)

        if firstLetsGoFirst {
            // Still held by the second, so the first must not ask to send.
            let (offer, answer) = try exchange(&first, .video(), &second, .video(hold: true))
            #expect(offer.media[0].statedDirection == .receiveOnly)
            #expect(answer.media[0].statedDirection == .sendOnly)
            #expect(!second.isRemotelyHeld)
            #expect(first.isRemotelyHeld)
            try exchange(&second, .video(), &first, .video())
        } else {
            try exchange(&second, .video(), &first, .video(hold: true))
            #expect(second.isRemotelyHeld)
            #expect(!first.isRemotelyHeld)
            try exchange(&first, .video(), &second, .video())
        }
        #expect(first.media.map(\.direction) == [.sendReceive, .sendReceive])
        #expect(second.media.map(\.direction) == [.sendReceive, .sendReceive])
        #expect(!first.isRemotelyHeld)
        #expect(!second.isRemotelyHeld)
    }

    @Test func `the old hold by address is a hold`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(try peer("m=audio 40000 RTP/AVP 0"), .audio())

        let evaluation = ours.receiveOffer(try peer("m=audio 40000 RTP/AVP 0\nc=IN IP4 0.0.0.0"))
        let answer = try ours.answerOpenOffer(.audio())

        #expect(evaluation.isRemotelyHeld)
        #expect(evaluation.isHoldChanged)
        #expect(answer.media[0].statedDirection == .receiveOnly)
        #expect(ours.media[0].remoteRTP == RemoteDestination.none)
    }

    @Test func `an address still to be found by ICE is no hold`() throws {
        var ours = OfferAnswer()
        let offer = try peer(
            "m=audio 9 RTP/AVP 0\nc=IN IP4 0.0.0.0\na=ice-ufrag:abcd\na=ice-pwd:abcdefghijklmnopqrstuvwx")

        #expect(!ours.receiveOffer(offer).isRemotelyHeld)
    }

    /// versatica/JsSIP#298.
    @Test func `a held side that adds video does not lift the hold`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(try peer("m=audio 40000 RTP/AVP 0"), .audio())
        let held = try ours.answer(try peer("m=audio 40000 RTP/AVP 0\na=sendonly"), .audio())
        #expect(held.media[0].statedDirection == .receiveOnly)

        let offer = ours.makeOffer(.video())
        #expect(offer.media.map(\.statedDirection) == [.receiveOnly, .receiveOnly])

        // The peer answers as one should who holds; whatever it says, nothing is sent.
        #expect(
            ours.receiveAnswer(
                try peer(
                    "m=audio 40000 RTP/AVP 0\na=sendonly", "m=video 40010 RTP/AVP 97\na=rtpmap:97 VP8/90000"))
                == .accepted)
        #expect(ours.media.map(\.direction) == [.receiveOnly, .receiveOnly])
        #expect(ours.isRemotelyHeld)

        let back = try ours.answer(
            try peer(
                "m=audio 40000 RTP/AVP 0", "m=video 40010 RTP/AVP 97\na=rtpmap:97 VP8/90000"), .video())
        #expect(back.media.map(\.statedDirection) == [.sendReceive, .sendReceive])
    }

    @Test(arguments: [("sendrecv", false), ("sendonly", true)])
    func `an offer that the holder asks for lets it end the hold, or go on`(answer: String, isHeld: Bool) throws {
        var ours = OfferAnswer()
        _ = try ours.answer(try peer("m=audio 40000 RTP/AVP 0\na=sendonly"), .audio())

        let offer = ours.makeOffer(.audio(), isAskedFor: true)
        #expect(offer.media[0].statedDirection == .sendReceive)
        #expect(ours.receiveAnswer(try peer("m=audio 40000 RTP/AVP 0\na=\(answer)")) == .accepted)

        #expect(ours.isRemotelyHeld == isHeld)
    }

    @Test func `our hold stays when the peer adds video`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(try peer("m=audio 40000 RTP/AVP 0"), .audio())
        _ = ours.makeOffer(.audio(hold: true))
        _ = ours.receiveAnswer(try peer("m=audio 40000 RTP/AVP 0\na=recvonly"))

        let answer = try ours.answer(
            try peer("m=audio 40000 RTP/AVP 0", "m=video 40010 RTP/AVP 97\na=rtpmap:97 VP8/90000"),
            .video(hold: true))

        #expect(answer.media.map(\.statedDirection) == [.sendOnly, .sendOnly])
    }

    /// pjsip/pjproject#1848.
    @Test func `a refused hold leaves the session as it was, and the next offers work`() throws {
        var (ours, theirs) = (OfferAnswer(), OfferAnswer())
        try exchange(&ours, .video(), &theirs, .video())
        let before = ours.media

        _ = ours.makeOffer(.video(hold: true))
        ours.rollback()
        #expect(ours.media == before)
        #expect(ours.localOffer == nil)

        try exchange(&ours, .video(hold: true), &theirs, .video())
        #expect(ours.media.map(\.direction) == [.sendOnly, .sendOnly])

        // A re-INVITE without a description asks us for an offer: all lines are there, still on hold.
        let late = ours.makeOffer(.video(hold: true))
        #expect(late.media.map(\.statedDirection) == [.sendOnly, .sendOnly])
        #expect(late.media.allSatisfy { $0.port != 0 })
    }

    @Test func `video that goes one way is no hold`() throws {
        var ours = OfferAnswer()
        let evaluation = ours.receiveOffer(
            try peer("m=audio 40000 RTP/AVP 0", "m=video 40010 RTP/AVP 96\na=rtpmap:96 VP8/90000\na=sendonly"))

        #expect(!evaluation.isRemotelyHeld)
    }
}
