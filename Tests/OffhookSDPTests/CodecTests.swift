import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Which codecs are agreed on and under which numbers (RFC 3264 §§5.1, 6.1, 8.3.2).
@Suite struct `Codecs and their numbers` {
    @Test func `an offer lists codecs in order with events for each clock`() {
        var ours = OfferAnswer()

        let audio = ours.makeOffer(.audio()).media[0]

        #expect(audio.formats == ["96", "0", "8", "100", "101"])
        #expect(
            audio.rtpMaps.map { "\($0.encodingName)/\($0.clockRate)" } == [
                "opus/48000", "PCMU/8000", "PCMA/8000", "telephone-event/48000", "telephone-event/8000",
            ])
        #expect(audio.rtpMaps[0].channels == 2)
        #expect(audio.formatParameters.last?.parameters == "0-15")
        #expect(audio.packetTime == 20)
    }

    @Test func `numbers are not shared between the lines of an offer`() {
        var ours = OfferAnswer()
        let media = ours.makeOffer(.video()).media
        #expect(Set(media[0].payloadTypes).isDisjoint(with: media[1].payloadTypes))
        #expect(ours.makeOffer(.video()).media == media)
    }

    /// sipwise/rtpengine#1009, pion/webrtc#1078.
    @Test func `names ignore case and are written as registered`() throws {
        var ours = OfferAnswer()
        let answer = try ours.answer(
            try peer(
                "m=audio 40000 RTP/AVP 111 0\na=rtpmap:111 OPUS/48000/2\na=rtpmap:0 pcmu/8000",
                "m=video 40010 RTP/AVP 96\na=rtpmap:96 vp8/90000"), .video())

        #expect(answer.media[0].values(of: "rtpmap") == ["111 opus/48000/2", "0 PCMU/8000"])
        #expect(answer.media[1].values(of: "rtpmap") == ["96 VP8/90000"])
    }

    @Test func `the number of an answer is taken too where ours leave it free`() throws {
        var ours = OfferAnswer()
        _ = ours.makeOffer(.video())

        _ = ours.receiveAnswer(
            try peer(
                "m=audio 40000 RTP/AVP 101 0 96\na=rtpmap:101 opus/48000/2\na=rtpmap:96 telephone-event/8000",
                "m=video 40010 RTP/AVP 120\na=rtpmap:120 VP8/90000"))

        // 101 is our number for the events here.
        #expect(ours.media[0].receiveCodecs.map(\.payloadType) == [96, 0])
        #expect(ours.media[0].acceptedCodecs.map(\.payloadType) == [96, 0])
        #expect(ours.media[1].receiveCodecs.map(\.payloadType) == [97])
        #expect(ours.media[1].acceptedCodecs.map(\.payloadType) == [97, 120])
    }

    /// meetecho/asterisk-opus#10.
    @Test(arguments: ["opus/8000", "opus/48000", "opus/48000/1", "opus/16000/2"])
    func `opus of another shape is not opus`(name: String) throws {
        var ours = OfferAnswer()
        let answer = try ours.answer(
            try peer("m=audio 40000 RTP/AVP 98 0\na=rtpmap:98 \(name)\na=fmtp:98 maxplaybackrate=8000"), .audio())
        #expect(answer.media[0].formats == ["0"])
    }

    @Test func `static numbers need no rtpmap, and one that is there counts`() throws {
        var ours = OfferAnswer()
        let answer = try ours.answer(
            try peer("m=audio 40000 RTP/AVP 18 8 0\na=rtpmap:0 G722/8000\na=fmtp:18 annexb=yes"), .audio())
        #expect(answer.media[0].formats == ["8"])
    }

    @Test func `an answer keeps the order of the offer, or ours where that is wanted`() throws {
        let offer = try peer("m=audio 40000 RTP/AVP 8 0 96\na=rtpmap:96 opus/48000/2")
        var ours = OfferAnswer()
        #expect(try ours.answer(offer, .audio()).media[0].formats == ["8", "0", "96"])
        #expect(ours.media[0].sendCodecs.map(\.name) == ["PCMA", "PCMU", "opus"])

        var capabilities = MediaCapabilities.plain()
        capabilities.prefersOwnCodecOrder = true
        var stubborn = OfferAnswer(capabilities)
        #expect(try stubborn.answer(offer, .audio()).media[0].formats == ["96", "0", "8"])
    }

    @Test func `a codec listed twice is answered once`() throws {
        var ours = OfferAnswer()
        let answer = try ours.answer(
            try peer("m=audio 40000 RTP/AVP 96 97 0 0 0\na=rtpmap:96 opus/48000/2\na=rtpmap:97 opus/48000/2"), .audio())
        #expect(answer.media[0].formats == ["96", "0"])
    }

    /// pjsip/pjproject#2675.
    @Test func `one number with two clocks means the one of the codec`() throws {
        var ours = OfferAnswer()
        let answer = try ours.answer(
            try peer(
                """
                m=audio 40000 RTP/AVP 8 101 101
                a=rtpmap:8 PCMA/8000
                a=rtpmap:101 telephone-event/16000
                a=rtpmap:101 telephone-event/8000
                a=fmtp:101 0-15
                """), .audio())
        #expect(answer.media[0].formats == ["8", "101"])
        #expect(ours.media[0].sendTelephoneEvent == ours.media[0].receiveTelephoneEvents.first)
        #expect(ours.media[0].sendTelephoneEvent?.clockRate == 8000)
    }

    @Test func `of events at many clocks those of the codecs are taken`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(
            try peer(
                """
                m=audio 40000 RTP/AVP 0 96 99 100 101
                a=rtpmap:96 opus/48000/2
                a=rtpmap:99 telephone-event/48000
                a=rtpmap:100 telephone-event/16000
                a=rtpmap:101 telephone-event/8000
                """), .audio())
        #expect(ours.media[0].sendTelephoneEvents.map(\.payloadType) == [101, 99])
        #expect(ours.media[0].sendTelephoneEvent?.payloadType == 101)
    }

    @Test func `events at 8000 go with opus where there are no others`() throws {
        var ours = OfferAnswer(.plain(audio: [.opus]))
        _ = try ours.answer(
            try peer("m=audio 40000 RTP/AVP 96 101\na=rtpmap:96 opus/48000/2\na=rtpmap:101 telephone-event/8000"),
            .audio())
        #expect(ours.media[0].sendTelephoneEvent?.payloadType == 101)
        #expect(ours.media[0].sendTelephoneEvent?.clockRate == 8000)
    }

    /// sipwise/rtpengine#1750.
    @Test func `one number may mean different codecs in each direction`() throws {
        let opus = CodecCapability("opus", clockRate: 48000, channels: 2, payloadType: 107)
        var ours = OfferAnswer(.plain(audio: [opus]))
        let offer = ours.makeOffer(.audio())
        #expect(offer.media[0].formats.first == "107")
        let events = try #require(offer.media[0].payloadTypes.last)

        _ = ours.receiveAnswer(
            try peer("m=audio 40000 RTP/AVP 97 96\na=rtpmap:97 opus/48000/2\na=rtpmap:96 telephone-event/48000"))
        #expect(ours.media[0].sendCodecs.map(\.payloadType) == [97])
        #expect(ours.media[0].receiveCodecs.map(\.payloadType) == [107])
        #expect(ours.media[0].sendTelephoneEvents.map(\.payloadType) == [96])
        #expect(ours.media[0].receiveTelephoneEvents.map(\.payloadType) == [events])

        let answer = try ours.answer(
            try peer(
                "m=audio 40000 RTP/AVP \(events) 96\na=rtpmap:\(events) opus/48000/2\na=rtpmap:96 telephone-event/48000"
            ),
            .audio())
        #expect(answer.media[0].payloadTypes == [events, 96])
        #expect(ours.media[0].sendCodecs.map(\.payloadType) == [events])
        #expect(ours.media[0].receiveCodecs.map(\.payloadType) == [events])
        #expect(ours.media[0].receiveTelephoneEvents.map(\.payloadType) == [96])

        // Our own next offer repeats what our last description said.
        #expect(ours.makeOffer(.audio()).media[0].payloadTypes == [events, 96])
    }

    @Test func `a number once given is never given to another codec in our offers`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(
            try peer("m=audio 40000 RTP/AVP 97 98\na=rtpmap:97 opus/48000/2\na=rtpmap:98 telephone-event/8000"),
            .audio())

        let offer = ours.makeOffer(.video())

        let audio = Dictionary(uniqueKeysWithValues: offer.media[0].rtpMaps.map { ($0.payloadType, $0) })
        #expect(audio[97]?.encodingName == "opus")
        #expect(audio[98]?.clockRate == 8000)
        #expect(offer.media[1].payloadTypes == [96])
    }

    @Test func `an answer may leave out the rtpmap of our numbers`() throws {
        var ours = OfferAnswer()
        let number = try #require(ours.makeOffer(.audio()).media[0].payloadTypes.first)

        #expect(ours.receiveAnswer(try peer("m=audio 40000 RTP/AVP \(number)")) == .accepted)
        #expect(ours.media[0].sendCodecs.map(\.name) == ["opus"])
    }

    @Test func `a codec that was not offered is not taken from an answer`() throws {
        var ours = OfferAnswer(.plain(audio: [.pcmu]))
        _ = ours.makeOffer(.audio())
        #expect(
            ours.receiveAnswer(try peer("m=audio 40000 RTP/AVP 8"))
                == .unusable(reason: "The answer has no codec of the offer"))
    }

    @Test func `parameters of the peer hold for what we send, ours for what we receive`() throws {
        var capabilities = MediaCapabilities.plain()
        capabilities.video = [.vp8(maximumFrameRate: 30, maximumFrameSize: 3600)]
        capabilities.videoBandwidth = 1_000_000
        var ours = OfferAnswer(capabilities)

        let answer = try ours.answer(
            try peer(
                "m=audio 40000 RTP/AVP 0\na=ptime:40\na=maxptime:60",
                "m=video 40010 RTP/AVP 120\nb=AS:128\na=rtpmap:120 VP8/90000\na=fmtp:120 max-fr=15; max-fs=1200"),
            .video())

        let video = ours.media[1]
        #expect(video.sendCodecs[0].parameters.number("max-fr") == 15)
        #expect(video.sendCodecs[0].parameters.number("MAX-FS") == 1200)
        #expect(video.receiveCodecs[0].parameters.number("max-fs") == 3600)
        #expect(answer.media[1].value(of: "fmtp") == "120 max-fr=30;max-fs=3600")
        #expect(ours.media[0].packetTime == 40)
        #expect(ours.media[0].maximumPacketTime == 60)
        // AS pays for headers, 320 bits a packet.
        #expect(video.bandwidth.payloadBitsPerSecond(packetsPerSecond: 50) == 112_000)
        #expect(
            answer.media[1].bandwidths == [
                Bandwidth(.applicationSpecific, 1040), Bandwidth(.transportIndependent, 1_000_000),
            ])
    }

    @Test func `the tighter limit holds and the session's counts where the line has none`() throws {
        var ours = OfferAnswer()
        _ = try ours.answer(
            try peer(
                "m=audio 40000 RTP/AVP 0", "m=video 40010 RTP/AVP 96\nb=TIAS:64000\na=rtpmap:96 VP8/90000",
                session: ["b=AS:512", "b=CT:99999999999999999999", "b=X-YZ:128"]), .video())
        #expect(ours.media[1].bandwidth == BandwidthLimits(applicationSpecific: 512, transportIndependent: 64000))
        #expect(ours.media[1].bandwidth.payloadBitsPerSecond(packetsPerSecond: 50) == 64000)
        #expect(ours.media[0].bandwidth.payloadBitsPerSecond(packetsPerSecond: 50) == 496_000)
        #expect(BandwidthLimits(applicationSpecific: .max).payloadBitsPerSecond(packetsPerSecond: .max) == .max)
    }

    @Test(arguments: ["RTP/AVP", "RTP/AVPF"]) func `feedback is agreed under either profile`(profile: String) throws {
        var ours = OfferAnswer()
        // As linphone writes it, under AVP as well.
        let answer = try ours.answer(
            try peer(
                "m=audio 40000 RTP/AVP 0",
                """
                m=video 40010 \(profile) 96 97
                a=rtpmap:96 VP8/90000
                a=rtpmap:97 VP8/90000
                a=rtcp-fb:* trr-int 5000
                a=rtcp-fb:* ccm tmmbr
                a=rtcp-fb:96 nack pli
                a=rtcp-fb:96 nack sli
                a=rtcp-fb:96 ack rpsi
                a=rtcp-fb:97 nack
                a=rtcp-fb:* ccm fir
                """), .video())
        #expect(answer.media[1].profile == profile)
        #expect(answer.media[1].values(of: "rtcp-fb") == ["96 nack pli", "96 ccm fir"])
        #expect(ours.media[1].feedback == [.pictureLoss, .fullIntra])
    }

    @Test func `our offer of feedback is cut to what the answer says`() throws {
        var ours = OfferAnswer()
        let offer = ours.makeOffer(.video())
        #expect(offer.media[1].profile == "RTP/AVP")
        #expect(offer.media[1].values(of: "rtcp-fb") == ["97 nack", "97 nack pli", "97 ccm fir"])

        _ = ours.receiveAnswer(
            try peer(
                "m=audio 40000 RTP/AVP 0",
                "m=video 40010 RTP/AVP 97\na=rtpmap:97 VP8/90000\na=rtcp-fb:* nack pli\na=rtcp-fb:97 transport-cc"))
        #expect(ours.media[1].feedback == [.pictureLoss])
    }

    @Test func `header extensions keep the numbers of the offer`() throws {
        var capabilities = MediaCapabilities.plain()
        capabilities.videoExtensions = ["urn:a", "urn:b"]
        var ours = OfferAnswer(capabilities)
        let answer = try ours.answer(
            try peer(
                "m=audio 40000 RTP/AVP 0",
                "m=video 40010 RTP/AVP 96\na=rtpmap:96 VP8/90000\na=extmap:5/sendonly urn:b x\na=extmap:6 urn:c\na=extmap:4097 urn:a"
            ),
            .video())
        #expect(answer.media[1].values(of: "extmap") == ["5/recvonly urn:b"])
        #expect(ours.makeOffer(.video()).media[1].headerExtensions.first { $0.uri == "urn:b" }?.id == 5)
    }
}
