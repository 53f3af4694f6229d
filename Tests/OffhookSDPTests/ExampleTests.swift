import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// The offer/answer examples of the RFCs, step by step, in either role.
@Suite struct `Examples of the RFCs` {
    static let codecs: [String: CodecCapability] = [
        "PCMU": .pcmu, "PCMA": .pcma, "iLBC": CodecCapability("iLBC", clockRate: 8000, payloadType: 97),
        "GSM": CodecCapability("GSM", clockRate: 8000, payloadType: 3), "AMR": CodecCapability("AMR", clockRate: 8000),
        "G729": CodecCapability("G729", clockRate: 8000, payloadType: 18),
        "H261": CodecCapability("H261", clockRate: 90000, payloadType: 31),
        "MPV": CodecCapability("MPV", clockRate: 90000, payloadType: 32), "opus": .opus, "VP8": .vp8,
        "H264": CodecCapability("H264", clockRate: 90000), "H263": CodecCapability("H263-1998", clockRate: 90000),
    ]

    static func side(_ audio: [String], _ video: [String] = []) -> OfferAnswer {
        var capabilities = MediaCapabilities.plain(audio: audio.compactMap { codecs[$0] })
        capabilities.video = video.compactMap { codecs[$0] }
        capabilities.hasTelephoneEvents = false
        return OfferAnswer(capabilities)
    }

    static func steps(_ file: String) throws -> [SessionDescription] {
        try Fixtures.example("offer-answer/\(file)").map { try SessionDescription(parsing: Array($0.sdp.utf8)) }
    }

    /// Whether an answer says what the RFC's does: the same lines in use, formats and directions.
    private func expectSame(_ ours: SessionDescription, _ theirs: SessionDescription, codecs: Bool = true) {
        #expect(ours.media.map(\.kind) == theirs.media.map(\.kind))
        #expect(ours.media.map { $0.port == 0 } == theirs.media.map { $0.port == 0 })
        for (mine, their) in zip(ours.media, theirs.media) where their.port != 0 {
            #expect(ours.direction(of: mine) == theirs.direction(of: their))
            if codecs { #expect(mine.payloadTypes == their.payloadTypes) }
        }
    }

    /// One line of a kind is carried: of two video lines the second, since Bob's codec is there. The second audio line,
    /// for events alone, is refused where the RFC's Alice takes it.
    @Test func `RFC 3264 §10.1`() throws {
        let steps = try Self.steps("rfc3264/section-10.1.json")
        var bob = Self.side(["PCMU"], ["MPV"])
        let answer = try bob.answer(steps[0], .video())
        expectSame(answer, steps[1])

        var offer = bob.makeOffer(.video())
        expectSame(offer, SessionDescription(origin: steps[2].origin, media: Array(steps[2].media.prefix(3))))
        offer.media = Array(offer.media.prefix(3))
        let outcome = bob.receiveAnswer(steps[3])
        #expect(outcome == .accepted)
        #expect(bob.media.map(\.isEnabled) == [true, false, true])
        #expect(bob.media[2].sendCodecs.map(\.payloadType) == [32])

        var alice = Self.side(["PCMU"], ["MPV"])
        _ = try alice.answer(steps[0], .video())
        let second = try alice.answer(steps[2], .video())
        #expect(second.media.map(\.port) == [5000, 0, 5002, 0])
    }

    @Test func `RFC 4317 §2.1: one codec of each kind is taken`() throws {
        let steps = try Self.steps("rfc4317/section-2.1.json")
        var bob = Self.side(["PCMU"], ["MPV"])
        expectSame(try bob.answer(steps[0], .video()), steps[1])

        var alice = Self.side(["PCMU", "PCMA", "iLBC"], ["H261", "MPV"])
        expectSame(alice.makeOffer(.video()), steps[0], codecs: false)
        let outcome = alice.receiveAnswer(steps[1])
        #expect(outcome == .accepted)
        #expect(alice.media.map { $0.sendCodecs.map(\.name) } == [["PCMU"], ["MPV"]])
        #expect(alice.media[0].remoteRTP == .name("host.biloxi.example.com", port: 49174))
    }

    @Test(arguments: ["2.4", "3.2"]) func `RFC 4317 §§2.4, 3.2: events on a line of their own are refused`(
        section: String
    ) throws {
        let steps = try Self.steps("rfc4317/section-\(section).json")
        var bob = Self.side(["iLBC"])
        let answer = try bob.answer(steps[0], .audio())
        #expect(answer.media.map(\.port) == [5000, 0])
        #expect(answer.media[0].payloadTypes == steps[1].media[0].payloadTypes)
    }

    @Test func `RFC 4317 §2.5: both sides change their ports`() throws {
        let steps = try Self.steps("rfc4317/section-2.5.json")
        var alice = Self.side(["iLBC"], ["H261"])
        expectSame(alice.makeOffer(.video()), steps[0], codecs: false)
        let outcome = alice.receiveAnswer(steps[1])
        #expect(outcome == .accepted)
        expectSame(try alice.answer(steps[2], .video()), steps[3])
        #expect(alice.media[0].remoteRTP == .name("newhost.biloxi.example.com", port: 49178))
    }

    @Test func `RFC 4317 §3.1: an answer that holds`() throws {
        let steps = try Self.steps("rfc4317/section-3.1.json")
        var bob = Self.side(["iLBC"])
        expectSame(try bob.answer(steps[0], .audio(hold: true)), steps[1])
        expectSame(bob.makeOffer(.audio()), steps[2])
        let outcome = bob.receiveAnswer(steps[3])
        #expect(outcome == .accepted)
        #expect(bob.media[0].direction == .sendReceive)

        var alice = Self.side(["PCMU", "iLBC"])
        _ = alice.makeOffer(.audio())
        _ = alice.receiveAnswer(steps[1])
        #expect(alice.isRemotelyHeld)
        #expect(alice.media[0].direction == .receiveOnly)
        _ = try alice.answer(steps[2], .audio())
        #expect(!alice.isRemotelyHeld)
    }

    @Test func `RFC 4317 §4.3: video is deleted`() throws {
        let steps = try Self.steps("rfc4317/section-4.3.json")
        var alice = Self.side(["iLBC"], ["H261"])
        _ = alice.makeOffer(.video())
        _ = alice.receiveAnswer(steps[1])
        expectSame(try alice.answer(steps[2], .video()), steps[3])
        #expect(alice.media[1].disabledReason == .remoteUser)

        var bob = Self.side(["iLBC"], ["H261"])
        expectSame(try bob.answer(steps[0], .video()), steps[1])
        expectSame(bob.makeOffer(.video(.disabled)), steps[2])
        let outcome = bob.receiveAnswer(steps[3])
        #expect(outcome == .accepted)
        #expect(bob.media[1].disabledReason == .localUser)
    }

    @Test(arguments: ["5.2", "5.3"]) func `RFC 4317 §5: the partner changes`(section: String) throws {
        let steps = try Self.steps("rfc4317/section-\(section).json")
        var side = Self.side(["iLBC"])
        for pair in stride(from: 0, to: steps.count - 1, by: 2) {
            let answer = try side.answer(steps[pair], .audio())
            if steps[pair].statedConnection?.host == "0.0.0.0" {
                // The RFC's Bob says nothing of a direction; ours says what is left of it.
                #expect(answer.media[0].statedDirection == .receiveOnly)
            } else {
                expectSame(answer, steps[pair + 1])
            }
        }
    }

    @Test func `RFC 9143 §18.1: the answer bundles`() throws {
        let steps = try Self.steps("rfc9143/section-18.1.json")
        var bob = Self.side(["PCMU"], ["MPV"])
        bob.capabilities.canBundle = true
        var wishes = MediaWishes.video()
        let version6 = try #require(IPAddress(parsing: "2001:db8::10"))
        wishes.audio?.addresses = [version6]
        wishes.video?.addresses = [version6]
        let answer = try bob.answer(steps[0], wishes)
        expectSame(answer, steps[1])
        #expect(answer.groups == steps[1].groups)
        #expect(answer.media[0].port == answer.media[1].port)
    }

    @Test func `RFC 5888 §§8.4.1, 8.5.3: of grouped audio lines one is carried`() throws {
        for file in ["rfc5888/section-8.4.1.json", "rfc5888/section-8.5.3.json", "rfc5888/section-9.2.1.json"] {
            for offer in try Self.steps(file) {
                var side = Self.side(["PCMU", "PCMA", "GSM", "AMR"])
                let answer = try side.answer(offer, .audio())
                #expect(answer.media.filter { $0.port != 0 }.count == 1)
                #expect(answer.media.count == offer.media.count)
            }
        }
    }

    @Test func `RFC 4585 §4.4: feedback`() throws {
        // The examples are of multicast sessions; as calls they need the address of one peer.
        let steps = try Fixtures.example("offer-answer/rfc4585/section-4.4.json").map { block in
            try SessionDescription(parsing: Array(block.sdp.replacing("224.2.1", with: "192.0.2").utf8))
        }
        var side = Self.side(["PCMU"], ["H263"])
        side.capabilities.videoFeedback = [.nack]
        let answer = try side.answer(steps[1], .video())
        #expect(answer.media[1].profile == "RTP/AVPF")
        #expect(side.media[1].feedback == [.nack])
        // Alternatives are written as two lines with one port: the first that can be used carries the stream.
        let alternatives = try side.answer(steps[2], .video())
        #expect(alternatives.media.map { $0.port == 0 } == [false, false, true])
    }

    @Test func `RFC 5939: an offer with potential configurations is answered by its actual one`() throws {
        for (file, step) in [("4.1", 0), ("4.2", 0), ("4.3", 0), ("3.6.2.1", 0)] {
            let offer = try Self.steps("rfc5939/section-\(file).json")[step]
            var side = Self.side(["PCMU", "AMR"], ["H261"])
            side.capabilities.security = .bestEffort
            let answer = try side.answer(offer, .video())
            #expect(answer.media.map(\.profile) == offer.media.map(\.profile))
            #expect(side.media.allSatisfy { $0.security == NegotiatedSecurity.none })
        }
    }

    @Test func `RFC 8829 §7.1: a browser's offer and its answer`() throws {
        let steps = try Self.steps("rfc8829/section-7.1.json")
        var capabilities = MediaCapabilities.secured(.dtls)
        capabilities.canBundle = true
        var wishes = MediaWishes(
            audio: .sample(5000, dtls: true), video: .sample(5002, dtls: true), videoMode: .sendReceive)
        wishes.audio?.ice = ICEDescription(userFragment: "locl", password: "abcdefghijklmnopqrstuv")
        wishes.video?.ice = wishes.audio?.ice
        var side = OfferAnswer(capabilities)
        let answer = try side.answer(steps[0], wishes)
        #expect(answer.media.map(\.port) == [5000, 5000])
        #expect(side.media[0].telephoneEventClocks == [48000, 8000])
        #expect(side.media[0].remoteICE?.candidates.count == 2)
        #expect(side.media.map { $0.headerExtensions.isEmpty } == [true, true])
    }

    /// Every whole description of the examples is taken as an offer, and answered line by line whatever it holds.
    @Test func `all others are answered in their places`() throws {
        for entry in try Fixtures.manifest("offer-answer") {
            for block in try Fixtures.example("offer-answer/\(entry.file)") where !block.elided {
                guard let offer = try? SessionDescription(parsing: Array(block.sdp.utf8)) else { continue }
                var side = Self.side(Array(Self.codecs.keys.sorted()), Array(Self.codecs.keys.sorted()))
                side.capabilities.security = .bestEffort
                guard side.receiveOffer(offer).rejection == nil else { continue }
                let answer = try side.answerOpenOffer(.video())
                #expect(answer.media.map(\.kind) == offer.media.map(\.kind), "\(entry.file)")
                #expect(answer.media.map(\.profile) == offer.media.map(\.profile), "\(entry.file)")
            }
        }
    }
}

extension NegotiatedMedia {
    fileprivate var telephoneEventClocks: [UInt32] { sendTelephoneEvents.map(\.clockRate) }
}
