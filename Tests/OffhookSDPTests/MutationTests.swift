import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// What a hostile or broken peer may send.
@Suite struct `Descriptions gone bad` {
    @Test(arguments: 0..<8 as Range<UInt64>) func `nothing that bytes can say crashes`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let files = try Fixtures.manifest("sdp").map(\.file).filter { $0.hasSuffix(".sdp") }
        let words = [
            "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:", "99999999999999999999", "-1", "\r\n", "=", ":", "/", "|",
            "m=video 0 RTP/AVP ", "a=candidate:",
        ]
        for _ in 0..<120 {
            var bytes = try Fixtures.contents("sdp/\(files[Int(random.next() % UInt64(files.count))])")
            guard !bytes.isEmpty else { continue }
            for _ in 0..<(1 + random.next() % 12) {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 4 {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.insert(contentsOf: words[Int(random.next() % UInt64(words.count))].utf8, at: place)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 20) + 1))
                default: bytes += bytes[place...].prefix(200)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            exercise(bytes)
            guard let description = try? SessionDescription(parsing: bytes) else { continue }
            #expect(try SessionDescription(parsing: description.write()) == description, "seed \(seed)")
        }
    }

    /// Two sides that negotiate at random: whatever they do, they agree with each other.
    @Test(arguments: 0..<16 as Range<UInt64>) func `both sides always agree`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func pick<Element>(_ choices: [Element]) -> Element { choices[Int(random.next() % UInt64(choices.count))] }
        func wishes() -> MediaWishes {
            .video(
                pick([nil] + VideoMode.allCases.map { $0 }), allowed: pick([.sendReceive, .receiveOnly, .sendOnly]),
                hold: pick([true, false]), seed: random.next())
        }
        // A side that must have keys refuses the offers of one that would only like them.
        let policy = pick([MediaSecurityPolicy.off, .bestEffort, .sdes])
        var sides = [
            OfferAnswer(.secured(policy)), OfferAnswer(.secured(policy)),
        ]
        var kinds: [String] = []

        for _ in 0..<40 {
            let offerer = Int(random.next() % 2)
            var (one, other) = (sides[offerer], sides[1 - offerer])
            if random.next() % 5 == 0 {
                _ = one.makeOffer(wishes())
                one.rollback()
            }
            let (offer, answer) = try exchange(&one, wishes(), &other, wishes())
            sides[offerer] = one
            sides[1 - offerer] = other

            #expect(offer.media.map(\.kind).starts(with: kinds))
            #expect(offer.media.map(\.kind) == answer.media.map(\.kind))
            kinds = offer.media.map(\.kind)
            for (mine, theirs) in zip(one.media, other.media) {
                #expect(mine.isEnabled == theirs.isEnabled)
                #expect(mine.direction == theirs.direction.mirrored)
                #expect(mine.sendCodecs.map(\.payloadType) == theirs.receiveCodecs.map(\.payloadType))
                #expect(mine.receiveCodecs.map(\.payloadType) == theirs.sendCodecs.map(\.payloadType))
                #expect(mine.feedback == theirs.feedback)
                if case .sdes(let local, let remote) = mine.security,
                    case .sdes(let otherLocal, let otherRemote) = theirs.security
                {
                    #expect(local == otherRemote)
                    #expect(remote == otherLocal)
                } else {
                    #expect(mine.security == theirs.security)
                }
            }
        }
    }

    /// What is looked up most, as much of it as a description may hold. Lookups that are repeated for each line are cut
    /// short, so that the work stays in step with the length: counted, not timed.
    @Test func `what is repeated for each line is read up to a limit`() throws {
        let maps = (0..<2000).map { "a=rtpmap:\($0 % 128) x\($0)/8000" }
        let candidates = (0..<2000).map { "a=candidate:\($0) 1 udp 1 192.0.2.1 4 typ host" }
        let formats = (0..<2000).map { String($0) }.joined(separator: " ")
        let fingerprints = [String](repeating: "a=fingerprint:sha-256 AA:BB", count: 2000)
        let others = [String](repeating: "m=audio 5000 RTP/AVP 0", count: 63)
        let description = try SessionDescription(
            parsing: bytes(
                ["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1", "t=0 0"] + fingerprints
                    + ["m=audio 5000 RTP/AVP \(formats)"] + maps + candidates + others))

        #expect(description.fingerprints.count == 16)
        #expect(description.media[0].payloadTypes.count == 128)
        #expect(description.media[0].candidates.count == 256)
        exercise(description.write())
    }
}
