import Foundation
import OffhookBasics
import OffhookMedia
import Testing

@testable import OffhookSDP

/// The bytes of a description given as lines.
func bytes(_ lines: [String]) -> [UInt8] {
    Array(lines.map { $0 + "\r\n" }.joined().utf8)
}

/// A peer's description: the session lines are there already.
func peer(_ media: String..., session: [String] = []) throws -> SessionDescription {
    let head = ["v=0", "o=peer 1000 1 IN IP4 198.51.100.20", "s=-", "c=IN IP4 198.51.100.20", "t=0 0"]
    let lines = media.flatMap { $0.split(separator: "\n").map(String.init) }
    return try SessionDescription(parsing: bytes(head + session + lines))
}

func text(_ description: SessionDescription) -> String {
    String(decoding: description.write(), as: UTF8.self)
}

extension LocalStream {
    /// A stream with keys for every suite; the keys follow from the seed.
    static func sample(_ port: UInt16, seed: UInt64 = 1, dtls: Bool = false) -> LocalStream {
        var random = SeededRandom(seed: seed)
        var keys: [SDESSuite: [UInt8]] = [:]
        for suite in SDESSuite.allCases { keys[suite] = random.bytes(suite.inlineLength) }
        var stream = LocalStream(address: IPAddress(version4: 0xC000_020A), port: port, keys: keys)
        if dtls {
            stream.dtls = DTLSDescription(
                fingerprints: [FingerprintAttribute(hash: "sha-256", bytes: [UInt8](repeating: 0xAB, count: 32))])
        }
        return stream
    }
}

extension MediaWishes {
    static func audio(hold: Bool = false, seed: UInt64 = 1) -> MediaWishes {
        MediaWishes(audio: .sample(5000, seed: seed), isHolding: hold)
    }

    static func video(
        _ mode: VideoMode? = .sendReceive, allowed: MediaDirection = .sendReceive, hold: Bool = false,
        seed: UInt64 = 1
    ) -> MediaWishes {
        MediaWishes(
            audio: .sample(5000, seed: seed), video: .sample(5002, seed: seed &+ 100), videoMode: mode,
            allowedVideoDirection: allowed, isHolding: hold)
    }
}

extension MediaCapabilities {
    static func plain(audio: [CodecCapability] = [.opus, .pcmu, .pcma]) -> MediaCapabilities {
        var capabilities = MediaCapabilities()
        capabilities.security = .off
        capabilities.audio = audio
        return capabilities
    }

    static func secured(_ policy: MediaSecurityPolicy) -> MediaCapabilities {
        var capabilities = MediaCapabilities()
        capabilities.security = policy
        capabilities.hasDTLS = policy == .dtls || policy == .bestEffort
        return capabilities
    }
}

extension OfferAnswer {
    init(_ capabilities: MediaCapabilities = .plain()) {
        self.init(capabilities: capabilities, sessionID: 4000, address: IPAddress(version4: 0xC000_020A))
    }

    /// Takes an offer and answers it.
    mutating func answer(_ offer: SessionDescription, _ wishes: MediaWishes) throws -> SessionDescription {
        let rejection = receiveOffer(offer).rejection
        try #require(rejection == nil)
        return try answerOpenOffer(wishes)
    }

    mutating func answerOpenOffer(_ wishes: MediaWishes) throws -> SessionDescription {
        let answer = makeAnswer(wishes)
        return try #require(answer)
    }
}

/// One whole exchange between two sides; gives the offer and the answer back, as sent and parsed again.
@discardableResult
func exchange(
    _ offerer: inout OfferAnswer, _ offererWishes: MediaWishes, _ answerer: inout OfferAnswer,
    _ answererWishes: MediaWishes
) throws -> (offer: SessionDescription, answer: SessionDescription) {
    let offer = try SessionDescription(parsing: offerer.makeOffer(offererWishes).write())
    let answer = try SessionDescription(parsing: answerer.answer(offer, answererWishes).write())
    let outcome = offerer.receiveAnswer(answer)
    try #require(outcome == .accepted)
    return (offer, answer)
}

enum Fixtures {
    struct Entry: Decodable {
        var file: String
        var licence: String
        var parse: String?
    }

    struct Example: Decodable {
        struct Block: Decodable {
            var role: String
            var elided: Bool
            var sdp: String
        }
        var blocks: [Block]
    }

    static var folder: URL { Bundle.module.resourceURL!.appendingPathComponent("Fixtures") }

    static func manifest(_ name: String) throws -> [Entry] {
        let data = try Data(contentsOf: folder.appendingPathComponent("\(name)/manifest.json"))
        return try JSONDecoder().decode([Entry].self, from: data)
    }

    static func contents(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent(path)))
    }

    static func files(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.folder.appendingPathComponent(folder).path).sorted()
    }

    static func example(_ path: String) throws -> [Example.Block] {
        try JSONDecoder().decode(Example.self, from: Data(try contents(path))).blocks
    }
}
