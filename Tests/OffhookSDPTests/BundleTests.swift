import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Streams that share a transport (RFC 9143).
@Suite struct Bundles {
    static func bundleOnly() throws -> SessionDescription {
        try peer(
            "m=audio 40000 RTP/AVP 0\na=mid:0\na=rtcp-mux",
            "m=video 0 RTP/AVP 96\na=mid:1\na=bundle-only\na=rtpmap:96 VP8/90000\na=rtcp-mux",
            session: ["a=group:BUNDLE 0 1"])
    }

    private var capabilities: MediaCapabilities {
        var capabilities = MediaCapabilities.plain()
        capabilities.canBundle = true
        return capabilities
    }

    /// algesten/str0m#785.
    @Test func `a bundle-only line is taken on the transport of the first`() throws {
        var ours = OfferAnswer(capabilities)
        let answer = try ours.answer(try Self.bundleOnly(), .video())

        #expect(answer.media.map(\.port) == [5000, 5000])
        #expect(answer.groups == [GroupAttribute(semantics: "BUNDLE", mids: ["0", "1"])])
        #expect(ours.media[1].transportIndex == 0)
        #expect(ours.media[1].remoteRTP == ours.media[0].remoteRTP)
    }

    @Test func `an answer with RTCP on RTP's port has no candidates for it (RFC 5761 section 5.1.3)`() throws {
        let candidates = ["1 1 udp 2 192.0.2.1 5000 typ host", "1 2 udp 1 192.0.2.1 5001 typ host"]
        var wishes = MediaWishes.video()
        wishes.audio?.ice = ICEDescription(
            userFragment: "locl", password: "abcdefghijklmnopqrstuv",
            candidates: candidates.compactMap { ICECandidateAttribute(parsing: $0[...]) })
        wishes.video?.ice = wishes.audio?.ice
        let credentials = ["a=ice-ufrag:c365f891", "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=group:BUNDLE 0 1"]
        let candidate = "a=candidate:2 1 UDP 2130706303 198.51.100.20 40000 typ host"
        for (mux, components) in [("\na=rtcp-mux", [1, 1]), ("", [1, 2, 1, 2])] {
            let offer = try peer(
                "m=audio 40000 RTP/AVP 0\na=mid:0\n" + candidate + mux,
                "m=video 40000 RTP/AVP 96\na=mid:1\na=rtpmap:96 VP8/90000\n" + candidate + mux, session: credentials)
            var ours = OfferAnswer(capabilities)
            let found = try ours.answer(offer, wishes).media.flatMap { $0.candidates.map { Int($0.component) } }
            #expect(found == components)
        }
    }

    @Test func `an extension that is answered alone is offered once the far end has offered it`() throws {
        var capabilities = capabilities
        capabilities.answeredExtensions = ["urn:mid"]
        var ours = OfferAnswer(capabilities)
        let uris = { (description: SessionDescription) in
            description.media.map { $0.headerExtensions.map(\.uri) }
        }
        #expect(uris(ours.makeOffer(.video())) == [[], []])
        ours.rollback()

        let offer = try peer(
            "m=audio 40000 RTP/AVP 0\na=mid:0\na=rtcp-mux\na=extmap:7 urn:mid",
            "m=video 40002 RTP/AVP 96\na=mid:1\na=rtpmap:96 VP8/90000\na=rtcp-mux\na=extmap:7 urn:mid",
            session: ["a=group:BUNDLE 0 1"])
        let answer = try ours.answer(offer, .video())
        #expect(answer.media.map { $0.headerExtensions.map(\.id) } == [[7], [7]])
        #expect(ours.makeOffer(.video()).media.map { $0.headerExtensions.map(\.id) } == [[7], [7]])
    }

    @Test func `port 0 without bundle-only is a refused line`() throws {
        var ours = OfferAnswer(capabilities)
        let offer = try peer(
            "m=audio 40000 RTP/AVP 0\na=mid:0\na=rtcp-mux", "m=video 0 RTP/AVP 96\na=mid:1\na=rtpmap:96 VP8/90000",
            session: ["a=group:BUNDLE 0 1"])

        #expect(try ours.answer(offer, .video()).media.map(\.port) == [5000, 0])
    }

    @Test func `two sides that bundle share one transport from then on`() throws {
        var (ours, theirs) = (OfferAnswer(capabilities), OfferAnswer(capabilities))

        let (offer, answer) = try exchange(&ours, .video(), &theirs, .video())
        #expect(offer.media.map(\.port) == [5000, 5002])
        #expect(answer.media.map(\.port) == [5000, 5000])
        #expect(ours.media.map(\.transportIndex) == [0, 0])

        let (again, _) = try exchange(&ours, .video(hold: true), &theirs, .video())
        #expect(again.media.map(\.port) == [5000, 5000])
        #expect(again.media.map(\.mid) == ["0", "1"])
    }

    /// Linphone 5.1.65 answers a bundle so: the group is there and its names are not, RTCP has no candidate, and video has
    /// only the credentials of the session.
    @Test func `an answer whose group names no line leaves each its transport, and ICE where there are candidates`()
        throws
    {
        var ours = OfferAnswer(capabilities)
        let credentials = ["a=ice-ufrag:c365f891", "a=ice-pwd:abcdefghijklmnopqrstuvwx"]
        var wishes = MediaWishes.video()
        wishes.audio?.ice = ICEDescription(userFragment: "locl", password: "abcdefghijklmnopqrstuv")
        wishes.video?.ice = wishes.audio?.ice
        _ = ours.makeOffer(wishes)
        let answer = try peer(
            "m=audio 30078 RTP/AVP 0\na=candidate:2 1 UDP 2130706303 198.51.100.20 30078 typ host",
            "m=video 30178 RTP/AVP 96\na=rtpmap:96 VP8/90000", session: credentials + ["a=group:BUNDLE 0 1"])

        #expect(ours.receiveAnswer(answer) == .accepted)
        #expect(ours.media.map(\.transportIndex) == [0, 1])
        #expect(ours.media.map(\.hasRTCPMux) == [true, false])
        #expect(ours.media.map { $0.remoteICE != nil } == [true, false])
        #expect(ours.wantsOfferWithoutBundle)
        let again = ours.makeOffer(wishes)
        #expect(again.groups.isEmpty)
        #expect(again.media.allSatisfy { $0.mid == nil })
        #expect(again.media.map(\.port) == [5000, 5002])
        #expect(!ours.wantsOfferWithoutBundle)
    }

    @Test func `an answer whose bundle has ports for RTCP gets an offer without a bundle`() throws {
        for (mux, isWanted) in [("", true), ("\na=rtcp-mux", false)] {
            var ours = OfferAnswer(capabilities)
            _ = ours.makeOffer(.video())
            let answer = try peer(
                "m=audio 40000 RTP/AVP 0\na=mid:0" + mux,
                "m=video 40002 RTP/AVP 96\na=mid:1\na=rtpmap:96 VP8/90000" + mux, session: ["a=group:BUNDLE 0 1"])

            #expect(ours.receiveAnswer(answer) == .accepted)
            #expect(ours.wantsOfferWithoutBundle == isWanted)
        }
    }

    @Test func `one line whose group names none stands as it is`() throws {
        var ours = OfferAnswer(capabilities)
        _ = ours.makeOffer(.video())
        let answer = try peer(
            "m=audio 30078 RTP/AVP 0", "m=video 0 RTP/AVP 96", session: ["a=group:BUNDLE 0 1"])

        #expect(ours.receiveAnswer(answer) == .accepted)
        #expect(!ours.wantsOfferWithoutBundle)
    }

    @Test func `without the group in the answer nothing is shared`() throws {
        var (ours, theirs) = (OfferAnswer(capabilities), OfferAnswer())

        let (_, answer) = try exchange(&ours, .video(), &theirs, .video())

        #expect(answer.media.map(\.mid) == ["0", "1"])
        #expect(ours.media.map(\.transportIndex) == [0, 1])
    }
}
