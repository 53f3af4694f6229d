import OffhookBasics
import OffhookCrypto
import OffhookMedia
import OffhookRTP
import OffhookSDP
import OffhookSIP
import Testing

@testable import OffhookEngine

/// A browser's descriptions, sent by hand to an engine.
@Suite struct `A browser calls` {
    /// A caller of whom only the messages are there.
    private final class Browser {
        let network: EngineNetwork
        private var sequence = 0
        private var toTag = ""

        init(_ network: EngineNetwork) {
            self.network = network
        }

        private func send(_ method: String, sequence: Int, _ body: String) {
            let from = EngineNetwork.Side.caller.endpoint
            let lines = [
                "\(method) sip:callee@192.0.2.2 SIP/2.0",
                "Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK-\(method)-\(sequence)", "Max-Forwards: 70",
                "From: <sip:browser@192.0.2.1>;tag=browser", "To: <sip:callee@192.0.2.2>\(toTag)", "Call-ID: browser",
                "CSeq: \(sequence) \(method)", "Contact: <sip:browser@192.0.2.1>",
            ]
            let type = body.isEmpty ? [] : ["Content-Type: application/sdp"]
            let message = lines + type + ["Content-Length: \(body.utf8.count)", "", body]
            network.step(.callee) { engine, now in
                engine.receiveSignaling(
                    Array(message.joined(separator: "\r\n").utf8), from: TransportTarget(transport: .udp, remote: from),
                    local: EngineNetwork.Side.callee.endpoint, at: now)
            }
        }

        /// Sends an offer; `accept` is called while it is not answered. The answer is acknowledged.
        func offer(_ offer: String, accept: () -> Void = {}) throws -> SessionDescription {
            sequence += 1
            send("INVITE", sequence: sequence, offer)
            network.run(.seconds(1))
            accept()
            network.run(.seconds(1))
            let response = try #require(
                network.messages[EngineNetwork.Side.callee.rawValue].last {
                    $0.hasPrefix("SIP/2.0 ") && $0.contains("CSeq: \(sequence) INVITE")
                })
            try #require(response.hasPrefix("SIP/2.0 200"), "\(response)")
            let to = try #require(response.split(separator: "\r\n").first { $0.hasPrefix("To:") })
            toTag = ";tag=" + (to.split(separator: ";tag=").last ?? "")
            send("ACK", sequence: sequence, "")
            let body = try #require(response.split(separator: "\r\n\r\n", maxSplits: 1).last)
            return try SessionDescription(parsing: Array(body.utf8))
        }
    }

    private static func line(_ kind: String, mid: String, port: Int, _ fragment: String) -> String {
        let format = kind == "audio" ? "111\r\na=rtpmap:111 opus/48000/2" : "96\r\na=rtpmap:96 VP8/90000"
        guard port != 0 else { return "m=\(kind) 0 UDP/TLS/RTP/SAVPF \(format)\r\na=mid:\(mid)\r\n" }
        let fingerprint = [String](repeating: "5E", count: 32).joined(separator: ":")
        return """
            m=\(kind) \(port) UDP/TLS/RTP/SAVPF \(format)\r
            a=mid:\(mid)\r
            a=ice-ufrag:\(fragment)\r
            a=ice-pwd:abcdefghijklmnopqrstuvwx\r
            a=candidate:1 1 udp 2122260223 192.0.2.1 \(port) typ host\r
            a=candidate:2 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active\r
            a=candidate:3 1 udp 1518280446 5e1c9d6e-0000-4000-8000-000000000001.local 5999 typ host\r
            a=end-of-candidates\r
            a=fingerprint:sha-256 \(fingerprint)\r
            a=setup:actpass\r
            a=rtcp-mux\r

            """
    }

    private static func offer(_ group: String, _ lines: String...) -> String {
        "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\na=group:BUNDLE \(group)\r\n"
            + lines.joined()
    }

    @Test func `stopping the line that a bundle began with leaves the rest on its transport`() throws {
        let network = EngineNetwork(
            capabilities: `The way of media`.capabilities, policy: .accept(.sendReceive), ice: ICESettings())
        let browser = Browser(network)
        let first = try browser.offer(
            Self.offer(
                "0 1", Self.line("video", mid: "0", port: 7000, "both"),
                Self.line("audio", mid: "1", port: 7000, "both"))
        ) {
            guard let call = network.incoming.last else { return }
            network.perform(.setVideoMode(.sendReceive), on: call, .callee)
            network.perform(.accept, on: call, .callee)
        }
        let call = try #require(network.incoming.last)
        #expect(first.media.map(\.port)[0] == first.media.map(\.port)[1])
        #expect(network.snapshots[call]?.usesICE == true)

        let second = try browser.offer(
            Self.offer("1", Self.line("video", mid: "0", port: 0, ""), Self.line("audio", mid: "1", port: 7000, "both"))
        )
        #expect(second.media.map(\.port) == [0, first.media[1].port])
        #expect(second.media[1].iceUserFragment == first.media[1].iceUserFragment)
        #expect(second.media[1].candidates == first.media[0].candidates.filter { $0.component == 1 })
        #expect(second.media[1].setup == first.media[0].setup)
        #expect(network.snapshots[call]?.phase == .established)
        #expect(network.plans[call]?.video == nil)

        // Checks still come to the socket that the video line began with, and are answered.
        let third = try browser.offer(
            Self.offer(
                "1 2", Self.line("video", mid: "2", port: 7000, "both"),
                Self.line("audio", mid: "1", port: 7000, "both"))
        )
        #expect(third.media[1].port == first.media[1].port)
        #expect(third.media[1].iceUserFragment == first.media[1].iceUserFragment)
        #expect(third.media[1].setup == first.media[1].setup)
    }

    @Test func `a restart of ICE in an offer that adds video restarts our end, too`() throws {
        let network = EngineNetwork(
            capabilities: `The way of media`.capabilities, policy: .accept(.receiveOnly), ice: ICESettings())
        let browser = Browser(network)
        let first = try browser.offer(Self.offer("0", Self.line("audio", mid: "0", port: 7000, "frst"))) {
            if let call = network.incoming.last { network.perform(.accept, on: call, .callee) }
        }
        let second = try browser.offer(
            Self.offer(
                "0 1", Self.line("audio", mid: "0", port: 7000, "scnd"),
                Self.line("video", mid: "1", port: 7000, "scnd")))

        #expect(second.media.map { $0.port != 0 } == [true, true])
        #expect(second.groups.map(\.mids) == [["0", "1"]])
        #expect(second.media[0].iceUserFragment != first.media[0].iceUserFragment)
        #expect(second.media[0].iceUserFragment == second.media[1].iceUserFragment)
        #expect(second.media.map(\.setup) == [first.media[0].setup, first.media[0].setup])
        #expect(second.media.map(\.port) == [first.media[0].port, first.media[0].port])
    }
}

/// RFC 8842 §4.
@Suite struct `When a DTLS association is another` {
    private func datagrams(_ outcomes: [DTLSComponent.Outcome]) -> Int {
        outcomes.count { if case .send = $0 { true } else { false } }
    }

    @Test func `the same fingerprints in any order, and names that are left out, are no other association`() throws {
        let component = DTLSComponent(identity: try DTLSIdentity(unixTime: 1_800_000_000))
        let prints = [
            FingerprintAttribute(hash: "sha-256", bytes: [UInt8](repeating: 1, count: 32)),
            FingerprintAttribute(hash: "sha-1", bytes: [UInt8](repeating: 1, count: 20)),
        ]
        func agree(_ fingerprints: [FingerprintAttribute], _ tlsID: String?) -> Int {
            var outcomes: [DTLSComponent.Outcome] = []
            component.agree(
                role: .active, remote: DTLSDescription(fingerprints: fingerprints, setup: .passive, tlsID: tlsID),
                with: nil,
                at: .zero, outcomes: &outcomes)
            return datagrams(outcomes)
        }

        #expect(agree(prints, nil) == 1)
        #expect(agree(prints.reversed(), "one") == 0)
        #expect(agree(prints, nil) == 0)
        #expect(agree(prints, "one") == 0)
        #expect(agree(prints, "two") == 1)
        #expect(agree([prints[0]], "two") == 1)
    }

    @Test func `a transport that no line used in between begins anew`() throws {
        let ports = MediaPorts(
            rtp: MediaSocketID(number: 1), rtpPort: 4000, rtcp: MediaSocketID(number: 2), rtcpPort: 4001)
        let transport = MediaTransport(ports: ports, identity: try DTLSIdentity(unixTime: 1_800_000_000))
        let remote = DTLSDescription(
            fingerprints: [FingerprintAttribute(hash: "sha-256", bytes: [UInt8](repeating: 1, count: 32))])
        transport.signal(rtp: Endpoint(IPAddress(version4: 1), 5000), rtcp: nil, isMultiplexed: true)
        func hellos() -> Int {
            transport.handshake(role: .active, remote: remote, at: .zero)
            return transport.takeOutcomes().count
        }

        #expect(hellos() == 1)
        #expect(hellos() == 0)
        transport.abandon()
        #expect(transport.remoteEndpoint == nil)
        #expect(hellos() == 1)
    }
}
