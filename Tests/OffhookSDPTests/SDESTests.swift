import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Keys in the description (RFC 4568, RFC 7714 §14).
@Suite struct `Keys in the description` {
    static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd"
    static let longKey = String(repeating: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd", count: 2)
    static let gcmKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGw=="

    static func line(_ tag: Int, _ suite: String, _ key: String = Self.key, _ parameters: String = "") -> String {
        "a=crypto:\(tag) \(suite) inline:\(key)" + (parameters.isEmpty ? "" : " " + parameters)
    }

    private func audio(_ lines: String..., profile: String = "RTP/SAVP") throws -> SessionDescription {
        try peer((["m=audio 40000 \(profile) 0"] + lines).joined(separator: "\n"))
    }

    @Test func `an offer lists our suites in order, each with a tag and a key of its length`() {
        var ours = OfferAnswer(.secured(.sdes))

        let media = ours.makeOffer(.video()).media

        #expect(media.map(\.profile) == ["RTP/SAVP", "RTP/SAVP"])
        for stream in media {
            #expect(stream.cryptoLines.map(\.tag) == [1, 2, 3, 4])
            #expect(
                stream.cryptoLines.map(\.suite) == [
                    .aeadAES128GCM, .aeadAES256GCM, .aesCM128SHA1Tag80, .aesCM128SHA1Tag32,
                ])
            #expect(stream.cryptoLines.map { $0.keys[0].bytes.count } == [28, 44, 30, 30])
        }
        #expect(media[0].cryptoLines[0].keys != media[1].cryptoLines[0].keys)
    }

    @Test func `our order decides among the lines of an offer, and the tag is echoed`() throws {
        var ours = OfferAnswer(.secured(.sdes))
        let offer = try audio(
            Self.line(1, "AES_CM_128_HMAC_SHA1_32"), Self.line(2, "AES_CM_128_HMAC_SHA1_80"),
            Self.line(7, "AEAD_AES_128_GCM", Self.gcmKey))

        let answer = try ours.answer(offer, .audio())

        let crypto = answer.media[0].cryptoLines
        #expect(crypto.map(\.tag) == [7])
        #expect(crypto.map(\.suite) == [.aeadAES128GCM])
        guard case .sdes(let local, let remote) = ours.media[0].security else {
            Issue.record("not secured")
            return
        }
        #expect(local.masterKey + local.masterSalt == crypto[0].keys[0].bytes)
        #expect(local.masterKey.count == 16)
        #expect(local.masterSalt.count == 12)
        #expect(remote.masterKey == (0..<16).map(UInt8.init))
        #expect(remote.masterSalt == (16..<28).map(UInt8.init))
    }

    @Test func `both sides end with each other's keys`() throws {
        var (ours, theirs) = (OfferAnswer(.secured(.sdes)), OfferAnswer(.secured(.bestEffort)))

        try exchange(&ours, .video(seed: 1), &theirs, .video(seed: 2))

        for (mine, their) in zip(ours.media, theirs.media) {
            guard case .sdes(let myLocal, let myRemote) = mine.security,
                case .sdes(let theirLocal, let theirRemote) = their.security
            else {
                Issue.record("not secured")
                return
            }
            #expect(myLocal == theirRemote)
            #expect(myRemote == theirLocal)
            #expect(myLocal.masterKey != theirLocal.masterKey)
        }
    }

    /// Lines that must not be taken: the offer has no other, so it is refused.
    @Test(arguments: [
        "", "a=crypto:", "a=crypto:1", "a=crypto:1 AES_CM_128_HMAC_SHA1_80",
        "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline",
        "a=crypto:0 AES_CM_128_HMAC_SHA1_80 inline:", line(1, "F8_128_HMAC_SHA1_80"), line(1, "NONSENSE"),
        line(1, "AES_CM_128_HMAC_SHA1_80", longKey), line(1, "AES_CM_128_HMAC_SHA1_80", "AAECAwQ"),
        line(1, "AES_CM_128_HMAC_SHA1_80", "!\(key.dropFirst())"), line(1, "AEAD_AES_128_GCM", key),
        line(1, "AES_CM_128_HMAC_SHA1_80", key + "|2^31|1:1"), line(1, "AES_CM_128_HMAC_SHA1_80", key + "|1:4"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key + "|2^49"), line(1, "AES_CM_128_HMAC_SHA1_80", key + "|0"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key + "|1:0"), line(1, "AES_CM_128_HMAC_SHA1_80", key + "|300:1"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key + "|1:129"),
        line(1, "AES_CM_128_HMAC_SHA1_80", "\(key)|1:4;inline:\(key)|2:4"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "UNENCRYPTED_SRTP"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "UNENCRYPTED_SRTCP"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "UNAUTHENTICATED_SRTP"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "KDR=2"), line(1, "AES_CM_128_HMAC_SHA1_80", key, "KDR=25"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "FEC_ORDER=SRTP_FEC"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "FEC_KEY=inline:\(key)"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "MUST_BE_KNOWN=1"), line(1, "AES_CM_128_HMAC_SHA1_80", key, "WSH=3"),
        line(1, "AES_CM_128_HMAC_SHA1_80") + "\n" + line(1, "AES_CM_128_HMAC_SHA1_32"),
    ])
    func `a secure profile without a key that can be used is refused`(lines: String) throws {
        for policy in [MediaSecurityPolicy.sdes, .bestEffort] {
            var ours = OfferAnswer(.secured(policy))
            let evaluation = ours.receiveOffer(try audio(lines))
            #expect(evaluation.rejection == .notAcceptable(reason: "No usable media security"))
        }
    }

    @Test(arguments: [
        line(1, "aes_cm_128_hmac_sha1_80"), line(999_999_999, "AES_CM_128_HMAC_SHA1_80"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key + "|2^31"), line(1, "AES_CM_128_HMAC_SHA1_80", key + "|1066400"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "WSH=128"), line(1, "AES_CM_128_HMAC_SHA1_80", key, "KDR=0"),
        line(1, "AES_CM_128_HMAC_SHA1_80", key, "-MAY_BE_UNKNOWN=1 FEC_ORDER=FEC_SRTP"),
        line(1, "NONSENSE") + "\n" + line(2, "AES_CM_128_HMAC_SHA1_80"),
        line(1, "AEAD_AES_128_GCM", gcmKey.replacing("=", with: "")),
    ])
    func `a line that can be used is`(lines: String) throws {
        var ours = OfferAnswer(.secured(.sdes))
        let answer = try ours.answer(try audio(lines), .audio())
        #expect(answer.media[0].cryptoLines.count == 1)
    }

    /// asterisk/asterisk#825.
    @Test func `a key identifier is handed on where it can be used`() throws {
        var capabilities = MediaCapabilities.secured(.sdes)
        capabilities.canUseKeyIdentifiers = true
        var ours = OfferAnswer(capabilities)
        let offer = try audio(Self.line(1, "AES_CM_128_HMAC_SHA1_80", Self.key + "|2^31|258:4"))

        _ = try ours.answer(offer, .audio())

        guard case .sdes(let local, let remote) = ours.media[0].security else {
            Issue.record("not secured")
            return
        }
        #expect(local.identifier == nil)
        #expect(remote.identifier?.bytes == [0, 0, 1, 2])
        #expect(remote.lifetime == 1 << 31)
    }

    /// baresip offers RTP/AVP with keys beside; RFC 8643 makes that a custom.
    @Test(arguments: [
        (MediaSecurityPolicy.bestEffort, true, true), (.off, true, false), (.sdes, false, false), (.dtls, false, false),
    ])
    func `keys beside a plain profile`(policy: MediaSecurityPolicy, isTaken: Bool, isSecured: Bool) throws {
        var ours = OfferAnswer(.secured(policy))
        let offer = try audio(Self.line(1, "AES_CM_128_HMAC_SHA1_80"), profile: "RTP/AVP")

        let evaluation = ours.receiveOffer(offer)

        #expect((evaluation.rejection == nil) == isTaken)
        guard isTaken else { return }
        let answer = try ours.answerOpenOffer(.audio())
        #expect(answer.media[0].profile == "RTP/AVP")
        #expect(answer.media[0].cryptoLines.count == (isSecured ? 1 : 0))
        #expect((ours.media[0].security != NegotiatedSecurity.none) == isSecured)
    }

    @Test(arguments: [true, false]) func `a best-effort offer is secured or plain as the answer says`(isSecured: Bool)
        throws
    {
        var ours = OfferAnswer(.secured(.bestEffort))
        let offer = ours.makeOffer(.audio())
        #expect(offer.media[0].profile == "RTP/AVP")
        #expect(offer.media[0].cryptoLines.count == 4)

        let key = isSecured ? "\n" + Self.line(3, "AES_CM_128_HMAC_SHA1_80") : ""
        let outcome = ours.receiveAnswer(try peer("m=audio 40000 RTP/AVP 0\(key)"))

        #expect(outcome == .accepted)
        #expect((ours.media[0].security != NegotiatedSecurity.none) == isSecured)
        #expect(ours.makeOffer(.audio()).media[0].cryptoLines.count == (isSecured ? 1 : 0))
    }

    @Test(arguments: [
        "m=audio 40000 RTP/SAVP 0", "m=audio 40000 RTP/AVP 0",
        "m=audio 40000 RTP/AVP 0\n" + line(3, "AES_CM_128_HMAC_SHA1_80"),
        "m=audio 40000 RTP/SAVP 0\n" + line(2, "AES_CM_128_HMAC_SHA1_80"),
        "m=audio 40000 RTP/SAVP 0\n" + line(5, "AES_CM_128_HMAC_SHA1_80"),
        "m=audio 40000 RTP/SAVP 0\n" + line(3, "AES_CM_128_HMAC_SHA1_80", longKey),
        "m=audio 40000 UDP/TLS/RTP/SAVP 0\n" + line(3, "AES_CM_128_HMAC_SHA1_80"),
    ])
    func `an answer without the key it must have is unusable`(answer: String) throws {
        var ours = OfferAnswer(.secured(.sdes))
        _ = ours.makeOffer(.audio())

        guard case .unusable = ours.receiveAnswer(try peer(answer)) else {
            Issue.record("accepted: \(answer)")
            return
        }
        #expect(ours.media.isEmpty)
    }

    /// pjsip/pjproject#1856: keys are kept over re-offers of either side.
    @Test(arguments: [true, false]) func `keys in force are kept over hold and resume`(weOfferFirst: Bool) throws {
        var (ours, theirs) = (OfferAnswer(.secured(.sdes)), OfferAnswer(.secured(.sdes)))
        if weOfferFirst {
            try exchange(&ours, .audio(seed: 1), &theirs, .audio(seed: 2))
        } else {
            try exchange(&theirs, .audio(seed: 2), &ours, .audio(seed: 1))
        }
        let security = ours.media[0].security

        for (round, hold) in [true, false, true, false].enumerated() {
            // Newer keys are there each time and must not be taken.
            let seed = UInt64(10 + round)
            let (offer, answer) = try exchange(&ours, .audio(hold: hold, seed: seed), &theirs, .audio(seed: seed + 50))
            #expect(offer.media[0].cryptoLines.count == 1)
            #expect(answer.media[0].cryptoLines.map(\.tag) == offer.media[0].cryptoLines.map(\.tag))
            #expect(ours.media[0].security == security)
            try exchange(&theirs, .audio(seed: seed), &ours, .audio(hold: hold, seed: seed))
            #expect(ours.media[0].security == security)
        }
    }

    @Test func `a peer's whole list again does not change what is in force, its new key does`() throws {
        var ours = OfferAnswer(.secured(.sdes))
        let first = try audio(Self.line(1, "AES_CM_128_HMAC_SHA1_80"))
        let answered = try ours.answer(first, .audio(seed: 1)).media[0].cryptoLines

        let again = try ours.answer(
            try audio(
                Self.line(1, "AEAD_AES_128_GCM", Self.gcmKey),
                Self.line(2, "AES_CM_128_HMAC_SHA1_80", Self.key.replacing("AAEC", with: "BBBB"))),
            .audio(seed: 9))

        #expect(again.media[0].cryptoLines.map(\.tag) == [2])
        #expect(again.media[0].cryptoLines[0].keys == answered[0].keys)
        guard case .sdes(_, let remote) = ours.media[0].security else {
            Issue.record("not secured")
            return
        }
        #expect(remote.masterKey.first == 4)
    }

    @Test func `the example of RFC 4568 §4.5 says MKI and lifetime`() throws {
        let blocks = try Fixtures.example("sdp/rfc4568/section-4.5.json")
        let description = try SessionDescription(parsing: Array(blocks[0].sdp.utf8))

        let crypto = try #require(description.media[0].cryptoLines.first)

        #expect(crypto.tag == 1)
        #expect(crypto.suite == .aesCM128SHA1Tag80)
        #expect(crypto.keys[0].bytes.count == 30)
        #expect(crypto.keys[0].lifetime == 1 << 20)
        #expect(crypto.keys[0].identifier == CryptoAttribute.KeyIdentifier(value: 1, length: 32))
        #expect(crypto.text == description.media[0].value(of: "crypto").map(String.init))
    }

    @Test func `session parameters are all told apart`() throws {
        let description = try audio(
            Self.line(
                1, "AES_CM_128_HMAC_SHA1_80", "\(Self.key)|2^20|1:4;inline:\(Self.key)|2^20|2:4",
                "KDR=3 UNENCRYPTED_SRTP UNENCRYPTED_SRTCP UNAUTHENTICATED_SRTP FEC_ORDER=SRTP_FEC FEC_KEY=x WSH=64 -y=1 z"
            ))

        let crypto = try #require(description.media[0].cryptoLines.first)

        #expect(crypto.keys.map { $0.identifier?.value } == [1, 2])
        #expect(
            crypto.parameters == [
                .keyDerivationRate(3), .unencryptedSRTP, .unencryptedSRTCP, .unauthenticatedSRTP,
                .fecOrder("SRTP_FEC"), .fecKey("x"), .windowSizeHint(64), .unknown("y=1", isOptional: true),
                .unknown("z", isOptional: false),
            ])
        #expect(crypto.text == description.media[0].value(of: "crypto").map(String.init))
    }
}
