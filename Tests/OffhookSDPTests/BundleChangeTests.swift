import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Bundles whose first line is refused, goes away or changes, and what stays of their transports (RFC 9143 §7, RFC 8829 §5).
@Suite struct `Bundles that change` {
    private typealias Odd = `Offers of all kinds`

    private static let fingerprint =
        "a=fingerprint:sha-256 " + [String](repeating: "AB", count: 32).joined(separator: ":")

    /// A line of a browser's; `fragment` tells transports apart.
    private static func line(
        _ kind: String, mid: String, _ fragment: String?, port: UInt16 = 9, setup: String = "actpass",
        extra: [String] = []
    ) -> String {
        let format =
            kind == "audio"
            ? "111\na=rtpmap:111 opus/48000/2" : "96 97\na=rtpmap:96 VP8/90000\na=rtpmap:97 rtx/90000\na=fmtp:97 apt=96"
        var lines = ["m=\(kind) \(port) UDP/TLS/RTP/SAVPF \(format)", "c=IN IP4 0.0.0.0", "a=mid:\(mid)"]
        if kind == "application" {
            lines = ["m=application \(port) UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=mid:\(mid)"]
        }
        if let fragment {
            lines += [
                "a=ice-ufrag:\(fragment)", "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=ice-options:trickle", fingerprint,
                "a=setup:\(setup)", "a=rtcp-mux", "a=rtcp-rsize",
            ]
        }
        return (lines + extra).joined(separator: "\n")
    }

    private static func offer(_ group: String..., lines: [String]) throws -> SessionDescription {
        try SessionDescription(
            parsing: bytes(
                ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"] + group.map { "a=group:BUNDLE \($0)" }
                    + lines.flatMap { $0.split(separator: "\n").map(String.init) }))
    }

    private func answered(
        _ ours: inout OfferAnswer, _ offer: SessionDescription, _ mode: VideoMode? = .sendReceive
    ) throws -> SessionDescription {
        let answer = try ours.answer(offer, Odd.wishes(mode))
        #expect(AnswerRules.broken(answer, to: offer) == [])
        return answer
    }

    // MARK: The first line is refused

    @Test func `where the first line is refused, the next one's transport is that of the bundle`() throws {
        let offer = try Self.offer(
            "0 1 2",
            lines: [
                Self.line("application", mid: "0", "appl"), Self.line("audio", mid: "1", "audi"),
                Self.line("video", mid: "2", "vide"),
            ])
        var ours = OfferAnswer(Odd.capabilities(.dtls))

        let answer = try answered(&ours, offer)

        #expect(answer.groups == [GroupAttribute(semantics: "BUNDLE", mids: ["1", "2"])])
        #expect(answer.media.map(\.port) == [0, 5000, 5000])
        #expect(ours.media.map { $0.remoteICE?.userFragment } == [nil, "audi", "audi"])
        #expect(ours.media.map(\.transportIndex) == [0, 1, 1])
    }

    @Test func `lines that are only there in a bundle are refused where its first line is`() throws {
        let offer = try Self.offer(
            "0 1 2",
            lines: [
                Self.line("application", mid: "0", "appl"),
                Self.line("audio", mid: "1", nil, port: 0, extra: ["a=bundle-only"]),
                Self.line("video", mid: "2", nil, port: 0, extra: ["a=bundle-only"]),
            ])
        var ours = OfferAnswer(Odd.capabilities(.dtls))

        let evaluation = ours.receiveOffer(offer)

        #expect(evaluation.rejection?.status == 488)
    }

    @Test func `video that nobody wants does not lend its transport`() throws {
        let offer = try Self.offer(
            "v a", lines: [Self.line("video", mid: "v", "vide"), Self.line("audio", mid: "a", "audi")])
        var ours = OfferAnswer(Odd.capabilities(.dtls))

        let answer = try answered(&ours, offer, nil)

        #expect(answer.groups == [GroupAttribute(semantics: "BUNDLE", mids: ["a"])])
        #expect(ours.media.map { $0.remoteICE?.userFragment } == [nil, "audi"])
        #expect(ours.media[0].disabledReason == .localUser)
    }

    @Test func `two bundles are two transports`() throws {
        let offer = try Self.offer(
            "a", "b v",
            lines: [
                Self.line("audio", mid: "a", "audi"), Self.line("audio", mid: "b", "spea"),
                Self.line("video", mid: "v", "vide"),
            ])
        var ours = OfferAnswer(Odd.capabilities(.dtls))

        let answer = try answered(&ours, offer)

        #expect(answer.groups.map(\.mids) == [["a"], ["v"]])
        #expect(answer.media.map(\.port) == [5000, 0, 5002])
        #expect(ours.media.map { $0.remoteICE?.userFragment } == ["audi", nil, "vide"])
    }

    @Test func `a line that is in two groups is in the first`() throws {
        let offer = try Self.offer(
            "0 1", "1 0 0 1", lines: [Self.line("audio", mid: "0", "audi"), Self.line("video", mid: "1", "vide")])
        var ours = OfferAnswer(Odd.capabilities(.dtls))

        let answer = try answered(&ours, offer)

        #expect(answer.groups.map(\.mids) == [["0", "1"]])
    }

    // MARK: The first line goes away

    /// Chromium keeps the transport of a bundle whose first line is stopped, and uses the line again under a new name.
    @Test func `a bundle stays on its transport when its first line goes and another takes its place`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        let first = try answered(
            &ours,
            try Self.offer("0 1", lines: [Self.line("video", mid: "0", "both"), Self.line("audio", mid: "1", "both")]))
        #expect(first.media.map(\.port) == [5002, 5002])
        #expect(first.media.map(\.iceUserFragment) == ["vide", "vide"])
        #expect(ours.media.map(\.transportKind) == [.video, .video])

        let without = try Self.offer(
            "1", lines: [Self.line("video", mid: "0", nil, port: 0), Self.line("audio", mid: "1", "both")])
        let second = try answered(&ours, without)
        #expect(second.media.map(\.port) == [0, 5002])
        #expect(second.media[1].iceUserFragment == "vide")
        #expect(second.media[1].setup == first.media[1].setup)
        #expect(ours.media[1].transportKind == .video)

        let reoffer = ours.makeOffer(Odd.wishes(nil))
        #expect(reoffer.media.map(\.port) == [0, 5002])
        #expect(reoffer.groups.map(\.mids) == [["1"]])
        ours.rollback()
        // A line of ours that is new has a transport of its own, which is not the one in use.
        let adding = ours.makeOffer(Odd.wishes())
        #expect(adding.media.map(\.port) == [5000, 5002])
        #expect(OfferRules.broken(adding, after: second, ours.media) == [])
        ours.rollback()

        let third = try answered(
            &ours,
            try Self.offer(
                "1 2", lines: [Self.line("video", mid: "2", "both"), Self.line("audio", mid: "1", "both")]))
        #expect(third.media.map(\.port) == [5002, 5002])
        #expect(third.groups.map(\.mids) == [["1", "2"]])
        #expect(third.media.map(\.mid) == ["2", "1"])
    }

    /// Chromium 156 gives the rest of the bundle another end when its first line is stopped, with the same credentials.
    @Test func `a bundle that goes on at another end of the peer's begins anew`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        let line = { (kind: String, mid: String, port: UInt16) in
            Self.line(
                kind, mid: mid, "both", port: port,
                extra: [
                    "a=candidate:1 1 udp 1 192.0.2.7 \(port) typ host",
                    "a=candidate:2 1 tcp 1 192.0.2.7 9 typ host tcptype active",
                ]
            )
            .replacing("0.0.0.0", with: "192.0.2.7")
        }
        _ = try answered(&ours, try Self.offer("0 1", lines: [line("video", "0", 4000), line("audio", "1", 4002)]))
        #expect(ours.media.map(\.transportKind) == [.video, .video])

        let answer = try answered(
            &ours, try Self.offer("1", lines: [Self.line("video", mid: "0", nil, port: 0), line("audio", "1", 4002)]))

        #expect(answer.media.map(\.port) == [0, 5000])
        #expect(answer.media[1].iceUserFragment == "audi")
        #expect(ours.media[1].transportKind == .audio)
    }

    @Test func `a line that leaves its bundle gets a transport of its own`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        _ = try answered(
            &ours,
            try Self.offer("0 1", lines: [Self.line("video", mid: "0", "both"), Self.line("audio", mid: "1", "both")]))

        let answer = try answered(
            &ours,
            try Self.offer("0", lines: [Self.line("video", mid: "0", "both"), Self.line("audio", mid: "1", "anew")]))

        #expect(answer.media.map(\.port) == [5002, 5000])
        #expect(ours.media.map { $0.remoteICE?.userFragment } == ["both", "anew"])
    }

    @Test func `a line that joins a bundle has the role that its transport has`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        _ = ours.makeOffer(Odd.wishes(nil))
        let outcome = ours.receiveAnswer(
            try Self.offer("0", lines: [Self.line("audio", mid: "0", "both", setup: "active")]))
        #expect(outcome == .accepted)

        let offer = try Self.offer(
            "0 1", lines: [Self.line("audio", mid: "0", "both"), Self.line("video", mid: "1", "both")])
        let answer = try answered(&ours, offer)

        #expect(answer.media.map(\.setup) == [.passive, .passive])
        #expect(answer.media.map(\.port) == [5000, 5000])
    }

    /// RFC 9143 §7.3.3 has no such answer; whoever gives it means that the rest stays where it is.
    @Test func `an answer that refuses the first line leaves the others on its transport`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        _ = ours.makeOffer(Odd.wishes())
        let both = try Self.offer(
            "0 1",
            lines: [
                Self.line("audio", mid: "0", "both", setup: "active"),
                Self.line("video", mid: "1", "both", setup: "active"),
            ])
        _ = ours.receiveAnswer(both)
        #expect(ours.media.map(\.transportKind) == [.audio, .audio])
        #expect(ours.makeOffer(Odd.wishes()).media.map(\.port) == [5000, 5000])

        let outcome = ours.receiveAnswer(
            try Self.offer(
                "1",
                lines: [
                    Self.line("audio", mid: "0", nil, port: 0), Self.line("video", mid: "1", "both", setup: "active"),
                ]))

        #expect(outcome == .accepted)
        #expect(ours.media.map(\.isEnabled) == [false, true])
        #expect(ours.media[1].transportKind == .audio)
        #expect(ours.media[1].remoteICE?.userFragment == "both")
        #expect(ours.makeOffer(Odd.wishes()).media.map(\.port) == [5002, 5000])
    }

    @Test func `a first answer that refuses the first line leaves the other its own transport`() throws {
        var ours = OfferAnswer(Odd.capabilities(.dtls))
        _ = ours.makeOffer(Odd.wishes())

        let outcome = ours.receiveAnswer(
            try Self.offer(
                "0 1",
                lines: [
                    Self.line("audio", mid: "0", nil, port: 0), Self.line("video", mid: "1", "vide", setup: "active"),
                ]))

        #expect(outcome == .accepted)
        #expect(ours.media[1].transportIndex == 1)
        #expect(ours.media[1].transportKind == .video)
        #expect(ours.media[1].remoteICE?.userFragment == "vide")
    }

    // MARK: What the first line says for all

    /// RFC 9143 §18.4: lines of a bundle say of the transport what differs, which is nothing.
    @Test func `attributes of the transport hold for every line of the bundle`() throws {
        let offer = try Self.offer(
            "0 1", lines: [Self.line("audio", mid: "0", "both"), Self.line("video", mid: "1", nil)])
        var ours = OfferAnswer(Odd.capabilities(.dtls))

        _ = try answered(&ours, offer)

        #expect(ours.media.map(\.hasRTCPMux) == [true, true])
        #expect(ours.media.map(\.hasReducedSizeRTCP) == [true, true])
        #expect(ours.media.map { $0.remoteICE?.userFragment } == ["both", "both"])
    }

    @Test func `a mismatch of ICE is told on every line of the bundle`() throws {
        let candidate = "a=candidate:1 1 udp 2122260223 192.0.2.77 4000 typ host"
        let lines = [("audio", "0"), ("video", "1")].map { kind, mid in
            Self.line(kind, mid: mid, "both", port: 4000, extra: [candidate]).replacing("0.0.0.0", with: "203.0.113.9")
        }
        var ours = OfferAnswer(Odd.capabilities(.dtls))

        let answer = try answered(&ours, try Self.offer("0 1", lines: lines))

        #expect(answer.media.map { $0.hasAttribute("ice-mismatch") } == [true, true])
        #expect(answer.media.map(\.iceUserFragment) == [nil, nil])
        #expect(ours.media.allSatisfy { $0.remoteICE == nil })
    }
}
