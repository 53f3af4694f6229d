import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Keys from DTLS and the addresses of ICE in descriptions (RFC 5763, RFC 8842, RFC 8839).
@Suite struct `DTLS and ICE in the description` {
    private let wishes = MediaWishes(audio: .sample(5000, dtls: true))
    private let fingerprint = "a=fingerprint:sha-256 " + (0..<32).map { "0\($0 % 10)" }.joined(separator: ":")

    private func audio(_ lines: String..., profile: String = "UDP/TLS/RTP/SAVPF") throws -> SessionDescription {
        try peer((["m=audio 40000 \(profile) 0", fingerprint] + lines).joined(separator: "\n"))
    }

    @Test(arguments: [
        ("a=setup:actpass", "active"), ("a=setup:active", "passive"), ("a=setup:passive", "active"),
        ("a=setup:ACTPASS", "active"), ("a=x", "passive"),
    ])
    func `the role in an answer follows the offer`(setup: String, role: String) throws {
        var ours = OfferAnswer(.secured(.dtls))

        let answer = try ours.answer(try audio(setup), wishes)

        #expect(answer.media[0].profile == "UDP/TLS/RTP/SAVPF")
        #expect(answer.media[0].setup?.rawValue == role)
        #expect(answer.media[0].fingerprints == wishes.audio?.dtls?.fingerprints)
        guard case .dtls(let own, _) = ours.media[0].security else {
            Issue.record("not secured")
            return
        }
        #expect(own.rawValue == role)
    }

    @Test(arguments: [("active", SetupRole.passive), ("passive", .active), ("actpass", .passive)])
    func `the role after an answer is the other one`(setup: String, role: SetupRole) throws {
        var ours = OfferAnswer(.secured(.dtls))
        let offer = ours.makeOffer(wishes)
        #expect(offer.media[0].setup == .activeOrPassive)
        #expect(offer.media[0].profile == "UDP/TLS/RTP/SAVPF")

        // linphone answers SAVP to SAVPF, and takes it the other way round.
        let outcome = ours.receiveAnswer(try audio("a=setup:\(setup)", profile: "UDP/TLS/RTP/SAVP"))

        #expect(outcome == .accepted)
        guard case .dtls(let own, _) = ours.media[0].security else {
            Issue.record("not secured")
            return
        }
        #expect(own == role)
    }

    /// sipwise/rtpengine#2156, pjsip/pjproject#4639.
    @Test func `a re-offer of actpass changes no role while the association stays`() throws {
        var ours = OfferAnswer(.secured(.dtls))
        _ = ours.makeOffer(wishes)
        _ = ours.receiveAnswer(try audio("a=setup:active"))

        let answer = try ours.answer(try audio("a=setup:actpass", "a=sendonly"), wishes)
        #expect(answer.media[0].setup == .passive)
        #expect(answer.media[0].statedDirection == .receiveOnly)

        let other = try peer(
            "m=audio 40000 UDP/TLS/RTP/SAVPF 0\na=setup:actpass\na=fingerprint:sha-256 "
                + [String](repeating: "FF", count: 32).joined(separator: ":"))
        #expect(try ours.answer(other, wishes).media[0].setup == .active)
    }

    /// w3c/webtransport#117, pion/dtls#507.
    @Test func `fingerprints are bytes, and hash names ignore case`() throws {
        let description = try peer(
            "m=audio 40000 UDP/TLS/RTP/SAVP 0\na=setup:actpass\na=rtcp-mux",
            session: ["a=fingerprint:SHA-256 00:01:0a:0B:fF"])
        var ours = OfferAnswer(.secured(.dtls))

        _ = try ours.answer(description, wishes)

        guard case .dtls(_, let remote) = ours.media[0].security else {
            Issue.record("not secured")
            return
        }
        #expect(remote.fingerprints == [FingerprintAttribute(hash: "sha-256", bytes: [0, 1, 10, 11, 255])])
        #expect(remote.fingerprints[0].text == "sha-256 00:01:0A:0B:FF")
    }

    @Test(arguments: MediaSecurityPolicy.allCases) func `profiles each policy takes`(policy: MediaSecurityPolicy) throws
    {
        let key = `Keys in the description`.line(1, "AES_CM_128_HMAC_SHA1_80")
        let taken: [MediaSecurityPolicy: [String]] = [
            .off: ["RTP/AVP", "RTP/AVPF"],
            .bestEffort: ["RTP/AVP", "RTP/AVPF", "RTP/SAVP", "RTP/SAVPF", "UDP/TLS/RTP/SAVP", "UDP/TLS/RTP/SAVPF"],
            .sdes: ["RTP/SAVP", "RTP/SAVPF"],
            // SAVP with a fingerprint is what early WebRTC said.
            .dtls: ["RTP/SAVP", "RTP/SAVPF", "UDP/TLS/RTP/SAVP", "UDP/TLS/RTP/SAVPF"],
        ]
        for profile in [
            "RTP/AVP", "RTP/AVPF", "RTP/SAVP", "RTP/SAVPF", "UDP/TLS/RTP/SAVP", "UDP/TLS/RTP/SAVPF", "TCP/RTP/AVP",
            "udptl", "RTP/AVPX",
        ] {
            var ours = OfferAnswer(.secured(policy))
            let evaluation = ours.receiveOffer(try audio("a=setup:actpass", key, profile: profile))
            #expect((evaluation.rejection == nil) == taken[policy]?.contains(profile), "\(policy) \(profile)")
        }
    }

    @Test func `ICE is answered where it is offered and not where it is not`() throws {
        var stream = LocalStream.sample(5000)
        stream.ice = ICEDescription(
            userFragment: "locl", password: "abcdefghijklmnopqrstuv", options: ["ice2"],
            candidates: [
                ICECandidateAttribute(
                    foundation: "1", component: 1, priority: 2_130_706_431, address: "192.0.2.10", port: 5000,
                    kind: "host")
            ], isComplete: true)
        let wishes = MediaWishes(audio: stream)
        let ice = "a=ice-ufrag:abcd\na=ice-pwd:abcdefghijklmnopqrstuvwx"

        var without = OfferAnswer()
        #expect(try without.answer(try peer("m=audio 40000 RTP/AVP 0"), wishes).media[0].iceUserFragment == nil)
        #expect(without.media[0].remoteICE == nil)

        // paullouisageneau/libdatachannel and others: a name as a candidate is no reason to fail.
        var with = OfferAnswer()
        let offer = try peer(
            """
            m=audio 40000 RTP/AVP 0
            \(ice)
            a=candidate:1 1 udp 2113937151 2f1c9d6e-0000-4000-8000-000000000001.local 52743 typ host generation 0 network-cost 999
            a=candidate:2 1 UDP 1677729535 198.51.100.20 40000 typ srflx raddr 0.0.0.0 rport 0
            """)
        let answer = try with.answer(offer, wishes)
        #expect(answer.media[0].candidates == stream.ice?.candidates)
        #expect(answer.media[0].hasAttribute("end-of-candidates"))
        let remote = try #require(with.media[0].remoteICE)
        #expect(remote.userFragment == "abcd")
        #expect(remote.candidates.map { $0.endpoint != nil } == [false, true])
        #expect(remote.candidates[0].extensions.map(\.name) == ["generation", "network-cost"])
        #expect(remote.candidates[1].relatedAddress == "0.0.0.0")
        #expect(remote.candidates[1].transport == "udp")
        #expect(
            remote.candidates[1].text == "2 1 udp 1677729535 198.51.100.20 40000 typ srflx raddr 0.0.0.0 rport 0")
    }

    @Test(arguments: [
        ("a=candidate:1 1 udp 1 198.51.100.20 40000 typ host", false),
        ("a=candidate:1 1 udp 1 192.168.0.4 40000 typ host", true),
        ("a=candidate:1 1 udp 1 198.51.100.20 40000 typ host\na=rtcp:4382 IN IP4 192.168.0.4", true),
        ("a=ice-options:trickle", false),
    ])
    func `an address that is no candidate is told as a mismatch`(lines: String, isMismatch: Bool) throws {
        var stream = LocalStream.sample(5000)
        stream.ice = ICEDescription(userFragment: "locl", password: "abcdefghijklmnopqrstuv")
        var ours = OfferAnswer()

        let answer = try ours.answer(
            try peer("m=audio 40000 RTP/AVP 0\na=ice-ufrag:abcd\na=ice-pwd:abcdefghijklmnopqrstuvwx\n\(lines)"),
            MediaWishes(audio: stream))

        #expect(answer.media[0].hasAttribute("ice-mismatch") == isMismatch)
        #expect((answer.media[0].iceUserFragment == nil) == isMismatch)
        #expect((ours.media[0].remoteICE == nil) == isMismatch)
    }
}
