import OffhookBasics
import OffhookEngine
import OffhookMedia
import OffhookRTP
import OffhookSDP
import Testing

/// Media that finds its way: ICE, DTLS and what SIP carries for them, in whole calls.
@Suite struct `The way of media` {
    static let frame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 48, 0, 1, 2, 3]

    static var capabilities: MediaCapabilities {
        var capabilities = MediaCapabilities()
        capabilities.hasDTLS = true
        capabilities.security = .dtls
        capabilities.canBundle = true
        capabilities.audioExtensions = [HeaderExtensionIdentifiers.mediaIdentificationURI]
        capabilities.videoExtensions = [HeaderExtensionIdentifiers.mediaIdentificationURI]
        return capabilities
    }

    @Test(arguments: 1...40) func `is found and secured whichever datagram of the handshakes is lost`(lost: Int) throws
    {
        let network = EngineNetwork(capabilities: Self.capabilities, ice: ICESettings())
        network.losingMedia = lost
        let (caller, answered, start) = network.connect(
            offering: .sendReceive, answering: .sendReceive, settling: .seconds(8))
        let callee = try #require(answered)

        #expect(network.finished[start] == .some(nil))
        #expect(network.snapshots[caller]?.isSecure == true)
        #expect(network.snapshots[callee]?.isSecure == true)
        // What follows is no handshake.
        network.losingMedia = nil
        network.step(.callee) { $0.sendVideo(Self.frame, isKeyFrame: true, captureTime: $1, of: callee, at: $1) }
        network.step(.caller) { $0.sendVideo(Self.frame, isKeyFrame: true, captureTime: $1, of: caller, at: $1) }
        network.run(.seconds(1))
        #expect(network.videoFrames[caller] == [Self.frame])
        #expect(network.videoFrames[callee] == [Self.frame])
    }

    @Test func `is found and secured within seconds where every fifth datagram is lost`() throws {
        let times = try (1...40 as ClosedRange<UInt64>).map { seed in
            let network = EngineNetwork(capabilities: Self.capabilities, ice: ICESettings(), seed: seed &* 64)
            network.latency = .milliseconds(25)
            network.mediaLoss = 0.2
            let (caller, answered, _) = network.connect(
                offering: .sendReceive, answering: .sendReceive, settling: .zero)
            let callee = try #require(answered)
            let start = network.now
            while network.now - start < .seconds(30), !isSecure(caller, callee, in: network) {
                network.run(.milliseconds(20))
            }
            return network.now - start
        }.sorted()

        #expect(times[20] < .seconds(1), "\(times)")
        #expect(times[36] < .milliseconds(2500), "\(times)")
        #expect(times[39] < .seconds(8), "\(times)")
    }

    private func isSecure(_ caller: CallHandle, _ callee: CallHandle, in network: EngineNetwork) -> Bool {
        network.snapshots[caller]?.isSecure == true && network.snapshots[callee]?.isSecure == true
    }

    /// A callee that knows no bundles and yet repeats the group, as linphone 5.1 does: it names no lines, and gives
    /// candidates to the first alone. `changing` is what becomes of its later messages.
    private func networkWithMisunderstanding(changing: @escaping (String) -> String = { $0 }) throws -> EngineNetwork {
        let network = EngineNetwork(capabilities: Self.capabilities, ice: ICESettings())
        var account = try #require(network.engines[1].account(AccountHandle(number: 1)))
        account.capabilities.canBundle = false
        account.capabilities.hasRTCPMux = false
        network.step(.callee) { engine, _ in engine.setAccount(account) }
        network.rewriting = { message in
            guard message.contains("a=mid:"), let split = message.ranges(of: "\r\n\r\n").first else {
                return changing(message)
            }
            var section = 0
            var body = ""
            for line in message[split.upperBound...].split(separator: "\r\n") {
                if line.hasPrefix("m=") { section += 1 }
                let isOfICE = ["a=ice", "a=candidate", "a=end-of"].contains { line.hasPrefix($0) }
                if line.hasPrefix("a=mid") || isOfICE && section == 2 { continue }
                body += line + "\r\n"
                if line.hasPrefix("t=") { body += "a=group:BUNDLE 0 1\r\n" }
            }
            let head = message[..<split.lowerBound].split(separator: "\r\n").map {
                $0.hasPrefix("Content-Length") ? "Content-Length: \(body.utf8.count)" : String($0)
            }
            return head.joined(separator: "\r\n") + "\r\n\r\n" + body
        }
        return network
    }

    @Test func `is found without a bundle where the far end does not know what one is`() throws {
        let network = try networkWithMisunderstanding()
        let (caller, answered, start) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)
        #expect(network.finished[start] == .some(nil))
        let offers = network.messages[0].filter { $0.hasPrefix("INVITE") }
        #expect(offers.map { $0.contains("a=group:BUNDLE") } == [true, false])

        for (side, call) in [(EngineNetwork.Side.caller, caller), (.callee, callee)] {
            #expect(network.snapshots[call]?.isSecure == true)
            #expect(network.snapshots[call]?.channels.map(\.negotiated) == [.sendReceive])
            network.step(side) { $0.sendVideo(Self.frame, isKeyFrame: true, captureTime: $1, of: call, at: $1) }
        }
        network.run(.seconds(1))
        #expect(network.videoFrames[caller] == [Self.frame])
        #expect(network.videoFrames[callee] == [Self.frame])
    }

    @Test func `is found as well as can be where an offer without a bundle is refused`() throws {
        let network = try networkWithMisunderstanding {
            $0.contains(" 2 INVITE\r\n") ? $0.replacing("SIP/2.0 200 OK", with: "SIP/2.0 488 No") : $0
        }
        let (caller, _, start) = network.connect(
            offering: .sendReceive, answering: .sendReceive, settling: .seconds(2))
        #expect(network.finished[start] == .some(nil))
        #expect(network.snapshots[caller]?.phase == .established)
        #expect(network.snapshots[caller]?.channels.map(\.negotiated) == [.sendReceive])
        #expect(network.plans[caller]?.audio?.sends == true)
        #expect(network.plans[caller]?.video?.sends == true)
    }

    /// TURN servers by TCP that never answer: candidates are not complete until somebody gives up.
    static var slowRelay: ICESettings {
        var settings = ICESettings()
        settings.relayServers = [
            ICESettings.Relay(
                endpoint: Endpoint(IPAddress(version4: 0xC000_0263), 3478), transport: .tcp, username: "a",
                password: "b")
        ]
        return settings
    }

    @Test func `an answer to who trickles waits for no candidates, and those of either side follow by INFO`() throws {
        let network = EngineNetwork(capabilities: Self.capabilities, ice: Self.slowRelay)
        let (caller, answered, start) = network.connect(
            offering: .sendReceive, answering: .sendReceive, settling: .milliseconds(300))
        let callee = try #require(answered)
        #expect(network.finished[start] == .some(nil))
        #expect(network.snapshots[caller]?.isSecure == true)
        #expect(network.snapshots[callee]?.isSecure == true)
        let invite = try #require(network.messages[0].first { $0.hasPrefix("INVITE") })
        #expect(invite.contains("Recv-Info: trickle-ice"))
        #expect(invite.contains("a=ice-options:ice2 trickle"))
        #expect(!invite.contains("a=end-of-candidates"))

        for side in EngineNetwork.Side.allCases {
            for relay in network.openRelays[side.rawValue] {
                network.step(side) { $0.relayClosed(relay, at: $1) }
            }
        }
        network.run(.seconds(2))
        for messages in network.messages {
            let info = try #require(messages.last { $0.hasPrefix("INFO") })
            #expect(info.contains("Info-Package: trickle-ice"))
            #expect(info.contains("Content-Type: application/trickle-ice-sdpfrag"))
            #expect(info.contains("a=end-of-candidates"))
        }
        #expect(!network.messages.joined().contains { $0.hasPrefix("SIP/2.0 469") || $0.hasPrefix("SIP/2.0 415") })
    }

    @Test func `connections to relays are closed with the call`() throws {
        let network = EngineNetwork(capabilities: Self.capabilities, ice: Self.slowRelay)
        let (caller, _, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        #expect(!network.openRelays[0].isEmpty)
        network.step(.caller) { $0.end(caller, at: $1) }
        network.run(.seconds(2))
        #expect(network.openRelays == [[], []])
    }

    @Test(arguments: EngineNetwork.Side.allCases) func `follows a NAT that gives new ports in mid-call`(
        side: EngineNetwork.Side
    ) throws {
        let network = EngineNetwork(capabilities: Self.capabilities, ice: ICESettings())
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)
        network.rebinding[side] = 2000

        // Consent is asked for every five seconds or so, from the new port as well.
        network.run(.seconds(20))
        let before = [caller, callee].map { network.videoFrames[$0]?.count ?? 0 }
        network.step(.callee) { $0.sendVideo(Self.frame, isKeyFrame: true, captureTime: $1, of: callee, at: $1) }
        network.step(.caller) { $0.sendVideo(Self.frame, isKeyFrame: true, captureTime: $1, of: caller, at: $1) }
        network.run(.seconds(1))

        #expect([caller, callee].map { network.videoFrames[$0]?.count ?? 0 } == before.map { $0 + 1 })
        #expect(network.snapshots[caller]?.isSecure == true)
    }

    @Test func `a restart is answered with new credentials (RFC 8445 section 9)`() throws {
        let network = EngineNetwork(capabilities: Self.capabilities, ice: ICESettings())
        let (caller, _, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        network.perform(.restartICE, on: caller, .caller)
        network.run(.seconds(5))

        let answers = network.messages[1].filter { $0.hasPrefix("SIP/2.0 200") && $0.contains(" INVITE\r\n") }
        let fragments = answers.map { answer in
            Set(answer.split(separator: "\r\n").filter { $0.hasPrefix("a=ice-ufrag:") })
        }
        #expect(fragments.map(\.count) == [1, 1])
        #expect(fragments.first != fragments.last)
        #expect(network.snapshots[caller]?.phase == .established)
    }

    @Test func `a restart that the far end refuses leaves the old way in use`() throws {
        let network = EngineNetwork(capabilities: Self.capabilities, ice: ICESettings())
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)
        // Its own offer, at the same moment, makes the callee answer 491 to the restart's.
        network.perform(.hold, on: callee, .callee)
        let restart = network.perform(.restartICE, on: caller, .caller)
        network.run(.seconds(40))
        #expect(network.finished[restart] == .some(nil))
        network.perform(.unhold, on: callee, .callee)
        network.run(.seconds(5))
        network.step(.caller) { $0.sendVideo(Self.frame, isKeyFrame: true, captureTime: $1, of: caller, at: $1) }
        network.run(.seconds(1))
        #expect(network.videoFrames[callee]?.last == Self.frame)
    }
}

@Suite struct `Streams of a bundle` {
    @Test func `are told apart by mid, then by payload type, then by a source seen before`() {
        var sources = BundleSources()
        #expect(sources.line(of: SSRC(1), named: .video, fitting: [.audio]) == .video)
        #expect(sources.line(of: SSRC(2), named: nil, fitting: [.audio]) == .audio)
        #expect(sources.line(of: SSRC(1), named: nil, fitting: []) == .video)
        #expect(sources.line(of: SSRC(1), named: nil, fitting: [.audio, .video]) == .video)
        #expect(sources.line(of: SSRC(2), named: nil, fitting: []) == .audio)
        #expect(sources.line(of: SSRC(3), named: nil, fitting: [.audio, .video]) == nil)
    }

    @Test func `a source may change its line`() {
        var sources = BundleSources()
        #expect(sources.line(of: SSRC(1), named: .video, fitting: []) == .video)
        #expect(sources.line(of: SSRC(1), named: .audio, fitting: []) == .audio)
        #expect(sources.line(of: SSRC(1), named: nil, fitting: []) == .audio)
    }

    @Test func `sources without end do not fill memory, nor hide those that name themselves`() {
        var sources = BundleSources()
        for number in 0..<10_000 as Range<UInt32> {
            _ = sources.line(of: SSRC(number), named: nil, fitting: [.video])
        }
        #expect(sources.line(of: SSRC(9_999), named: nil, fitting: []) == .video)
        #expect(sources.line(of: SSRC(0), named: nil, fitting: []) == nil)
    }
}
