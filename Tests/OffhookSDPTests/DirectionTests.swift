import OffhookMedia
import OffhookSDP
import Testing

/// Every offer, every mode, everything allowed (RFC 3264 §6.1 and the contract of video negotiation).
@Suite struct `Direction of video` {
    struct Row: CustomTestStringConvertible, Sendable {
        /// The attribute of the offer; nil for none.
        var offer: String?
        var mode: VideoMode?
        var allowed: MediaDirection
        var isHolding: Bool
        var testDescription: String { "\(offer ?? "-") \(mode?.rawValue ?? "-") \(allowed) hold \(isHolding)" }
    }

    static let offers: [String?] = [nil, "sendrecv", "sendonly", "recvonly", "inactive"]
    static let modes: [VideoMode?] = [nil] + VideoMode.allCases.map { $0 }
    static let allowed: [MediaDirection] = [.sendReceive, .sendOnly, .receiveOnly, .inactive]

    static let rows: [Row] = offers.flatMap { offer in
        modes.flatMap { mode in
            allowed.flatMap { allowed in
                [false, true].map { Row(offer: offer, mode: mode, allowed: allowed, isHolding: $0) }
            }
        }
    }

    /// The rule in plain words, written without the code's own types of directions; nil stands for port 0.
    static func expected(_ row: Row) -> String? {
        guard let mode = row.mode, mode != .disabled else { return nil }
        let peerTakes = ["-", "sendrecv", "recvonly"].contains(row.offer ?? "-")
        let peerGives = ["-", "sendrecv", "sendonly"].contains(row.offer ?? "-")
        let wantsToSend = mode == .sendReceive || mode == .sendOnly
        let wantsToReceive = mode == .sendReceive || mode == .receiveOnly
        let maySend = "\(row.allowed)" == "sendReceive" || "\(row.allowed)" == "sendOnly"
        let mayReceive = "\(row.allowed)" == "sendReceive" || "\(row.allowed)" == "receiveOnly"
        switch (peerTakes && wantsToSend && maySend, peerGives && wantsToReceive && mayReceive && !row.isHolding) {
        case (true, true): return "sendrecv"
        case (true, false): return "sendonly"
        case (false, true): return "recvonly"
        case (false, false): return "inactive"
        }
    }

    @Test(arguments: rows) func `an answer mirrors the offer within what is asked and allowed`(row: Row) throws {
        var answerer = OfferAnswer()
        let direction = row.offer.map { "\na=\($0)" } ?? ""
        let offer = try peer(
            "m=audio 40000 RTP/AVP 0", "m=video 40010 RTP/AVP 96\na=rtpmap:96 VP8/90000\(direction)")

        let answer = try answerer.answer(
            offer, .video(row.mode, allowed: row.allowed, hold: row.isHolding))

        let video = answer.media[1]
        let negotiated = answerer.media[1]
        if let expected = Self.expected(row) {
            #expect(video.port == 5002)
            #expect(
                video.attributes.map(\.name).filter(["sendrecv", "sendonly", "recvonly", "inactive"].contains) == [
                    expected
                ])
            #expect(negotiated.isEnabled)
            #expect(negotiated.direction.attributeName == expected)
        } else {
            #expect(video.port == 0)
            #expect(negotiated.disabledReason == .localUser)
            #expect(negotiated.direction == .inactive)
        }
        #expect(answer.media[0].port == 5000)
    }

    @Test(arguments: rows) func `an offer says what is asked within what is allowed`(row: Row) throws {
        guard row.offer == nil else { return }
        var offerer = OfferAnswer()

        let offer = offerer.makeOffer(.video(row.mode, allowed: row.allowed, hold: row.isHolding))

        if let expected = Self.expected(row) {
            #expect(offer.media[1].statedDirection?.attributeName == expected)
        } else {
            #expect(offer.media.count == 1)
        }
    }

    @Test(arguments: rows) func `the answer to our offer is cut to what we offered`(row: Row) throws {
        guard let mode = row.mode, mode != .disabled, row.allowed == .sendReceive, !row.isHolding else { return }
        var offerer = OfferAnswer()
        _ = offerer.makeOffer(.video(mode))
        let direction = row.offer.map { "\na=\($0)" } ?? ""

        let outcome = offerer.receiveAnswer(
            try peer("m=audio 40000 RTP/AVP 0", "m=video 40010 RTP/AVP 97\na=rtpmap:97 VP8/90000\(direction)"))

        #expect(outcome == .accepted)
        #expect(offerer.media[1].direction.attributeName == Self.expected(row))
    }

    @Test(arguments: [
        ("m=audio 4000 RTP/AVP 0", IncomingVideoStatus.off),
        ("m=audio 4000 RTP/AVP 0\nm=video 0 RTP/AVP 96\na=rtpmap:96 VP8/90000", .off),
        ("m=audio 4000 RTP/AVP 0\nm=video 4002 RTP/AVP 96\na=rtpmap:96 VP8/90000\na=inactive", .off),
        ("m=audio 4000 RTP/AVP 0\nm=video 4002 RTP/AVP 96\na=rtpmap:96 H264/90000", .off),
        ("m=audio 4000 RTP/AVP 0\nm=video 4002 RTP/SAVP 96\na=rtpmap:96 VP8/90000", .off),
        ("m=audio 4000 RTP/AVP 0\nm=video 4002 TCP/RTP/AVP 96\na=rtpmap:96 VP8/90000", .off),
        ("m=audio 4000 RTP/AVP 0\nm=video 4002 RTP/AVP 96\na=rtpmap:96 VP8/90000", .supported),
        ("m=audio 4000 RTP/AVP 0\nm=video 4002 RTP/AVPF 96\na=rtpmap:96 VP8/90000\na=sendonly", .supported),
        ("m=audio 4000 RTP/AVP 0\nm=video 4002 RTP/AVP 96\na=rtpmap:96 VP8/90000\na=recvonly", .supported),
        ("m=video 4002 RTP/AVP 96\na=rtpmap:96 VP8/90000", .supported),
    ])
    func `an INVITE tells of video`(media: String, status: IncomingVideoStatus) throws {
        let offer = try peer(media)
        var answerer = OfferAnswer()

        #expect(OfferAnswer.incomingVideoStatus(of: offer, capabilities: .plain()) == status)
        #expect(answerer.receiveOffer(offer).incomingVideoStatus == status)
    }

    @Test func `an INVITE without a description tells nothing yet`() {
        #expect(OfferAnswer.incomingVideoStatus(of: nil, capabilities: .plain()) == .indefinite)
    }

    @Test func `a session's direction holds for lines without one`() throws {
        var answerer = OfferAnswer()
        let offer = try peer(
            "m=audio 40000 RTP/AVP 0", "m=video 40010 RTP/AVP 96\na=rtpmap:96 VP8/90000\na=sendrecv",
            session: ["a=sendonly"])

        let answer = try answerer.answer(offer, .video())

        #expect(answer.media.map(\.statedDirection) == [.receiveOnly, .sendReceive])
    }
}
