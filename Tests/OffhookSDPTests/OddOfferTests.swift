import Foundation
import OffhookBasics
import OffhookMedia
import OffhookSDP
import Testing

/// Offers of browsers, servers, phones and RFCs, answered with what a call really has.
@Suite struct `Offers of all kinds` {
    static let mediaIdentification = "urn:ietf:params:rtp-hdrext:sdes:mid"

    static func capabilities(_ policy: MediaSecurityPolicy, hasBundle: Bool = true) -> MediaCapabilities {
        var capabilities = MediaCapabilities.secured(policy)
        capabilities.hasDTLS = true
        capabilities.canUseKeyIdentifiers = true
        capabilities.hasReducedSizeRTCP = true
        capabilities.hasRetransmission = true
        capabilities.prefersOwnCodecOrder = true
        capabilities.videoFeedback = [
            .nack, .pictureLoss, .fullIntra, .temporaryMaximumBitrate, .estimatedMaximumBitrate, .transportWide,
        ]
        capabilities.videoExtensions = [
            "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
            "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
        ]
        capabilities.canBundle = hasBundle
        if hasBundle { capabilities.answeredExtensions = [mediaIdentification] }
        return capabilities
    }

    static func stream(_ port: UInt16, _ fragment: String?) -> LocalStream {
        var stream = LocalStream.sample(port, seed: UInt64(port), dtls: true)
        stream.addresses.append(IPAddress(parsing: "2001:db8::10") ?? stream.addresses[0])
        stream.ssrc = UInt32(port)
        stream.cname = "ours"
        stream.ice = fragment.map {
            ICEDescription(
                userFragment: $0, password: "abcdefghijklmnopqrstuv", options: ["ice2", "trickle"],
                candidates: [
                    ICECandidateAttribute(
                        foundation: "1", component: 1, priority: 2_130_706_431, address: "192.0.2.10", port: port,
                        kind: "host")
                ], isComplete: true)
        }
        return stream
    }

    static func wishes(_ mode: VideoMode? = .sendReceive, hasICE: Bool = true) -> MediaWishes {
        MediaWishes(
            audio: stream(5000, hasICE ? "audi" : nil), video: stream(5002, hasICE ? "vide" : nil), videoMode: mode)
    }

    /// All whole descriptions that are here, by name.
    static func all() throws -> [(name: String, description: SessionDescription)] {
        var all: [(String, SessionDescription)] = []
        for folder in ["sdp", "offer-answer"] {
            for entry in try Fixtures.manifest(folder) {
                for (bytes, isWhole) in try `Published descriptions`.descriptions(folder, entry.file) where isWhole {
                    guard let description = try? SessionDescription(parsing: bytes) else { continue }
                    all.append(("\(folder)/\(entry.file)", description))
                }
            }
        }
        for name in try Fixtures.files(in: "recorded") where name.hasSuffix(".offer.sdp") {
            all.append((name, try SessionDescription(parsing: Fixtures.contents("recorded/\(name)"))))
        }
        return all
    }

    /// Each is read once; what it is answered with depends on the policy.
    private static let offers = Result { try all() }

    @Test(arguments: zip(MediaSecurityPolicy.allCases + [.bestEffort], [true, true, true, true, false]))
    func `are answered by the rules, and so are they when they come again`(
        policy: MediaSecurityPolicy, hasBundle: Bool
    ) throws {
        for (name, offer) in try Self.offers.get() {
            for mode in [nil, VideoMode.sendReceive] {
                var ours = OfferAnswer(Self.capabilities(policy, hasBundle: hasBundle))
                let wishes = Self.wishes(mode, hasICE: hasBundle)
                let evaluation = ours.receiveOffer(offer)
                guard evaluation.rejection == nil else { continue }
                let answer = try ours.answerOpenOffer(wishes)
                let broken = AnswerRules.broken(answer, to: offer)
                if !broken.isEmpty { Issue.record("\(name), video \(mode != nil): \(broken)") }

                let reoffer = ours.makeOffer(wishes)
                let brokenByUs = OfferRules.broken(reoffer, after: answer, ours.media)
                if !brokenByUs.isEmpty { Issue.record("\(name), our offer: \(brokenByUs)") }
                ours.rollback()

                let again = try ours.answer(offer, wishes)
                if again.media != answer.media || again.groups != answer.groups { Issue.record("\(name), again") }
            }
        }
    }
}
