import OffhookBasics
import OffhookEngine
import OffhookMedia
import OffhookRTP
import OffhookSDP
import OffhookSIP
import Testing

@Suite struct `Calls between two engines` {
    @Test func `a video call is offered, answered and ended`() throws {
        let network = EngineNetwork()
        let (caller, answered, start) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)

        #expect(network.finished[start] == .some(nil))
        #expect(network.snapshots[callee]?.incomingVideoStatus == .supported)
        for call in [caller, callee] {
            let snapshot = try #require(network.snapshots[call])
            #expect(snapshot.phase == .established)
            #expect(snapshot.channels.map(\.negotiated) == [.sendReceive])
            #expect(snapshot.isSecure)
            #expect(network.plans[call]?.video?.suiteName == "AEAD_AES_128_GCM")
        }

        network.step(.callee) { $0.end(callee, at: $1) }
        network.run(.seconds(40))

        #expect(network.events(of: callee).last == .ended(CallEnding(.endedHere)))
        #expect(network.events(of: caller).last == .ended(CallEnding(.endedThere)))
        #expect(network.openPorts == [CallEngine.sparePortsWanted, CallEngine.sparePortsWanted])
    }

    @Test func `a late offer is indefinite and is answered receive-only`() throws {
        let network = EngineNetwork()
        let (caller, answered, _) = network.connect(
            offering: .sendReceive, answering: .receiveOnly, delaysOffer: true)
        let callee = try #require(answered)

        #expect(network.snapshots[callee]?.incomingVideoStatus == .indefinite)
        #expect(network.snapshots[callee]?.channels.map(\.negotiated) == [.receiveOnly])
        #expect(network.snapshots[caller]?.channels.map(\.negotiated) == [.sendOnly])
        #expect(network.events(of: callee).prefix(2) == [.established, .channelsUpdated])
    }

    @Test func `video is added in mid-call, accepted, and taken away`() throws {
        let network = EngineNetwork()
        let (caller, answered, _) = network.connect(offering: nil, answering: nil)
        let callee = try #require(answered)
        #expect(network.snapshots[callee]?.incomingVideoStatus == .off)

        let add = network.perform(.setVideoMode(.sendReceive), on: caller, .caller)
        network.run(.seconds(1))
        #expect(network.events(of: callee).last == .videoAddRequested(.sendReceive))
        #expect(network.finished[add] == nil)
        network.perform(.acceptVideo(.receiveOnly), on: callee, .callee)
        network.run(.seconds(1))

        #expect(network.finished[add] == .some(nil))
        #expect(network.snapshots[caller]?.channels.map(\.negotiated) == [.sendOnly])
        network.perform(.setVideoMode(.disabled), on: caller, .caller)
        network.run(.seconds(1))
        #expect(network.snapshots[callee]?.channels.map(\.isEnabled) == [false])
        #expect(network.snapshots[callee]?.channels.map(\.disabledReason) == [.remoteUser])
    }

    @Test func `a screen that is shared is said to be a presentation, and no longer`() throws {
        let network = EngineNetwork()
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)
        #expect(network.snapshots[callee]?.channels.map(\.isPresentation) == [false])

        let begin = network.perform(.setPresentation(true), on: caller, .caller)
        network.run(.seconds(1))

        #expect(network.finished[begin] == .some(nil))
        #expect(network.snapshots[callee]?.channels.map(\.isPresentation) == [true])
        #expect(network.snapshots[caller]?.channels.map(\.isPresentation) == [false])
        #expect(network.snapshots[callee]?.channels.map(\.negotiated) == [.sendReceive])
        network.perform(.setPresentation(false), on: caller, .caller)
        network.run(.seconds(1))
        #expect(network.snapshots[callee]?.channels.map(\.isPresentation) == [false])
    }

    @Test func `added video that nobody accepts is denied after 15 seconds and audio goes on`() throws {
        let network = EngineNetwork()
        let (caller, answered, _) = network.connect(offering: nil, answering: nil)
        let callee = try #require(answered)
        let add = network.perform(.setVideoMode(.sendReceive), on: caller, .caller)
        network.run(.seconds(14))
        #expect(network.finished[add] == nil)
        network.run(.seconds(2))

        #expect(network.events(of: callee).last == .videoAddTimedOut)
        #expect(network.finished[add]??.kind == .videoDenied)
        #expect(network.snapshots[caller]?.phase == .established)
        #expect(network.plans[caller]?.audio?.sends == true)
    }

    @Test func `both sides may hold, and each undoes only its own`() throws {
        let network = EngineNetwork()
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)

        network.perform(.hold, on: caller, .caller)
        network.run(.seconds(1))
        #expect(network.snapshots[callee]?.isRemotelyHeld == true)
        network.perform(.hold, on: callee, .callee)
        network.run(.seconds(1))
        #expect(network.plans[callee]?.audio?.receives == false)
        network.perform(.unhold, on: caller, .caller)
        network.run(.seconds(1))
        #expect(network.snapshots[callee]?.isRemotelyHeld == false)
        #expect(network.snapshots[callee]?.isHeld == true)
        #expect(network.snapshots[caller]?.isRemotelyHeld == true)
        network.perform(.unhold, on: callee, .callee)
        network.run(.seconds(1))

        for call in [caller, callee] {
            #expect(network.snapshots[call]?.phase == .established)
            #expect(network.snapshots[call]?.channels.map(\.negotiated) == [.sendReceive])
            #expect(network.plans[call]?.audio?.sends == true)
        }
    }

    @Test func `two offers at once meet with 491 and both get their turn`() throws {
        let network = EngineNetwork(policy: .accept(.sendReceive))
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)

        let hold = network.perform(.hold, on: caller, .caller)
        let mode = network.perform(.setVideoMode(.receiveOnly), on: callee, .callee)
        network.run(.seconds(10))

        #expect(network.finished[hold] == .some(nil))
        #expect(network.finished[mode] == .some(nil))
        #expect(network.snapshots[caller]?.isHeld == true)
        #expect(network.snapshots[callee]?.isRemotelyHeld == true)
    }

    @Test func `a busy callee tells the caller`() throws {
        let network = EngineNetwork()
        let caller = CallHandle(number: 7)
        network.step(.caller) { engine, now in
            _ = engine.addCall(
                caller, of: AccountHandle(number: 1), to: URI(parsing: "sip:callee@192.0.2.2") ?? .other(""),
                delaysOffer: false, headers: SIPHeaders(), at: now)
        }
        let start = network.perform(.start, on: caller, .caller)
        network.run(.seconds(1))
        network.perform(.deny(isBusy: true), on: try #require(network.incoming.first), .callee)
        network.run(.seconds(40))

        #expect(network.finished[start]??.kind == .busy)
        #expect(network.events(of: caller).last == .ended(CallEnding(.busy, sipStatus: 486, text: "Busy Here")))
    }

    @Test func `the caller gives up before the answer`() throws {
        let network = EngineNetwork()
        let caller = CallHandle(number: 7)
        network.step(.caller) { engine, now in
            _ = engine.addCall(
                caller, of: AccountHandle(number: 1), to: URI(parsing: "sip:callee@192.0.2.2") ?? .other(""),
                delaysOffer: false, headers: SIPHeaders(), at: now)
        }
        network.perform(.start, on: caller, .caller)
        network.run(.seconds(1))
        network.step(.caller) { $0.end(caller, at: $1) }
        network.run(.seconds(40))

        let callee = try #require(network.incoming.first)
        guard case .ended(let ending)? = network.events(of: callee).last else {
            Issue.record("the callee was not told")
            return
        }
        #expect(ending.cause == .cancelled)
        #expect(network.events(of: caller).last == .ended(CallEnding(.cancelled)))
    }

    @Test func `figures tell how messages travel`() throws {
        let network = EngineNetwork()
        let (caller, answered, _) = network.connect(offering: nil, answering: nil)
        let callee = try #require(answered)

        for (side, call) in [(EngineNetwork.Side.caller, caller), (.callee, callee)] {
            network.step(side) { #expect($0.figures(of: call, at: $1)?.transport == .udp) }
        }
    }

    @Test func `digits arrive once each`() throws {
        let network = EngineNetwork()
        let (caller, answered, _) = network.connect(offering: nil, answering: nil)
        let callee = try #require(answered)

        network.perform(.sendDigits([.init(code: 1), .init(code: 1), .init(code: 11)]), on: caller, .caller)
        for _ in 0..<100 {
            network.step(.caller) { engine, now in
                engine.sendAudio(
                    [1, 2, 3], payloadType: network.plans[caller]?.audio?.sendFormat?.payloadType ?? 0, units: 960,
                    of: caller, at: now)
            }
            network.run(.milliseconds(20))
        }

        #expect(
            network.events(of: callee).filter { if case .digit = $0 { true } else { false } } == [
                .digit("1"), .digit("1"), .digit("#"),
            ])
    }

    @Test func `pictures and sound go through, also where packets are lost`() throws {
        let network = EngineNetwork()
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)
        network.mediaLossPeriod = 11
        let format = try #require(network.plans[caller]?.audio?.sendFormat)

        var sent: [[UInt8]] = []
        for number in 0..<60 {
            // A VP8 frame as far as RTP looks: the first byte's low bit is 0 in a key frame, whose size follows.
            let isKey = number == 0
            let head: [UInt8] = isKey ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 48, 0] : [0x11, 0, 0]
            let frame = head + [UInt8](repeating: UInt8(number), count: 3000)
            sent.append(frame)
            network.step(.caller) { $0.sendVideo(frame, isKeyFrame: isKey, captureTime: $1, of: caller, at: $1) }
            for _ in 0..<2 {
                network.step(.caller) {
                    $0.sendAudio([UInt8(number)], payloadType: format.payloadType, units: 960, of: caller, at: $1)
                }
                network.run(.milliseconds(20))
                network.step(.callee) { $0.playAudio(of: callee, at: $1) }
            }
        }
        network.run(.seconds(1))

        #expect(network.videoFrames[callee] == sent)
        #expect((network.sounds[callee]?.count ?? 0) > 90)
    }

    @Test(arguments: [MediaSecurityPolicy.dtls, .bestEffort])
    func `keys are agreed on by DTLS, also where packets are lost`(policy: MediaSecurityPolicy) throws {
        var capabilities = MediaCapabilities()
        capabilities.hasDTLS = true
        capabilities.security = policy
        let network = EngineNetwork(capabilities: capabilities)
        network.mediaLossPeriod = 5
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)

        for call in [caller, callee] {
            #expect(network.snapshots[call]?.isSecure == true)
            let figures = network.engines[call == caller ? 0 : 1].figures(of: call, at: network.now)
            #expect(figures?.audio?.suiteName == "AEAD_AES_128_GCM")
            #expect(figures?.video?.suiteName == "AEAD_AES_128_GCM")
        }
        network.mediaLossPeriod = 0
        let frame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 48, 0, 1, 2, 3]
        network.step(.callee) { $0.sendVideo(frame, isKeyFrame: true, captureTime: $1, of: callee, at: $1) }
        network.run(.seconds(1))
        #expect(network.videoFrames[caller] == [frame])
    }

    @Test(arguments: [MediaSecurityPolicy.sdes, .dtls])
    func `keys stay as they are over holds of either side, and packets go on being believed`(
        policy: MediaSecurityPolicy
    ) throws {
        var capabilities = MediaCapabilities()
        capabilities.hasDTLS = true
        capabilities.security = policy
        let network = EngineNetwork(capabilities: capabilities)
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)
        let atFirst = keys(in: network.messages[0])
        let answersKeys = keys(in: network.messages[1])

        for _ in 0..<3 {
            for (call, side) in [(caller, EngineNetwork.Side.caller), (callee, .callee)] {
                network.perform(.hold, on: call, side)
                network.run(.seconds(1))
                network.perform(.unhold, on: call, side)
                network.run(.seconds(1))
            }
        }

        // An offer has a key for each suite, the answer the one of its suite; later offers are those of the keys in use.
        #expect(keys(in: network.messages[0]) == atFirst)
        #expect(keys(in: network.messages[1]) == answersKeys)
        #expect(network.snapshots[caller]?.isSecure == true)
        let frame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 48, 0, 1, 2, 3]
        network.step(.callee) { $0.sendVideo(frame, isKeyFrame: true, captureTime: $1, of: callee, at: $1) }
        network.step(.caller) { $0.sendVideo(frame, isKeyFrame: true, captureTime: $1, of: caller, at: $1) }
        network.run(.seconds(1))
        #expect(network.videoFrames[caller]?.last == frame)
        #expect(network.videoFrames[callee]?.last == frame)
    }

    private func keys(in messages: [String]) -> Set<Substring> {
        Set(
            messages.flatMap { $0.split(separator: "\r\n") }.compactMap { line in
                line.hasPrefix("a=crypto:") ? line.split(separator: " ").last : nil
            })
    }

    @Test func `the encoder keeps to the bandwidth of the far end's description`() throws {
        var capabilities = MediaCapabilities()
        capabilities.videoBandwidth = 128_000
        let network = EngineNetwork(capabilities: capabilities)
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)

        for call in [caller, callee] {
            let target = try #require(network.videoTargets[call])
            #expect((1...128_000).contains(target.bitsPerSecond))
        }
    }

    /// RFC 8842 §5.3: who offered `actpass` may be greeted before it has the answer.
    @Test(arguments: [MediaSecurityPolicy.dtls, .bestEffort])
    func `a hello that comes before the answer counts once the answer is here`(policy: MediaSecurityPolicy) throws {
        var capabilities = MediaCapabilities()
        capabilities.hasDTLS = true
        capabilities.security = policy
        let network = EngineNetwork(capabilities: capabilities)
        network.calleesDelay = .milliseconds(300)
        let (caller, _, start) = network.connect(
            offering: .sendReceive, answering: .sendReceive, settling: .milliseconds(290))
        #expect(network.mediaCount > 0)
        #expect(!network.finished.keys.contains(start))
        // Sooner than the callee repeats its hello, a second after the first.
        network.run(.milliseconds(200))

        #expect(network.finished[start] == .some(nil))
        #expect(network.snapshots[caller]?.isSecure == true)
    }

    /// RFC 6347 §4.1.2.7: application data, an alert, and hellos of client and server that are broken.
    @Test(
        arguments: [nil, ICESettings()],
        [
            [23, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 97, 98, 99, 100],
            [21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40],
            [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 1, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 97, 98, 99, 100],
            [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 2, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 97, 98, 99, 100],
        ] as [[UInt8]])
    func `a stranger's record does not end the handshake`(ice: ICESettings?, record: [UInt8]) {
        var capabilities = MediaCapabilities()
        capabilities.hasDTLS = true
        capabilities.security = .dtls
        let network = EngineNetwork(capabilities: capabilities, ice: ice)
        network.strangersDatagrams = [record]
        let (caller, callee, _) = network.connect(offering: .sendReceive, answering: .sendReceive)

        #expect(network.snapshots[caller]?.isSecure == true)
        #expect(callee.flatMap { network.snapshots[$0]?.isSecure } == true)
    }

    @Test(arguments: [false, true])
    func `ICE finds the way, and lines share a transport where both can`(canBundle: Bool) throws {
        var capabilities = MediaCapabilities()
        capabilities.hasDTLS = true
        capabilities.security = .dtls
        capabilities.canBundle = canBundle
        let network = EngineNetwork(capabilities: capabilities, ice: ICESettings())
        network.mediaLossPeriod = 7
        let (caller, answered, start) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)
        #expect(network.finished[start] == .some(nil))
        network.mediaLossPeriod = 0

        let frame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 48, 0, 1, 2, 3]
        network.step(.callee) { $0.sendVideo(frame, isKeyFrame: true, captureTime: $1, of: callee, at: $1) }
        network.run(.seconds(1))

        #expect(network.videoFrames[caller] == [frame])
        #expect(network.snapshots[caller]?.usesICE == true)
        let restart = network.perform(.restartICE, on: caller, .caller)
        network.run(.seconds(3))
        #expect(network.finished[restart] == .some(nil))
        network.step(.callee) { $0.sendVideo(frame, isKeyFrame: true, captureTime: $1, of: callee, at: $1) }
        network.run(.seconds(1))
        #expect(network.videoFrames[caller] == [frame, frame])
    }

    @Test func `keys are there soon after the way is found, without a repeated hello`() throws {
        var capabilities = MediaCapabilities()
        capabilities.hasDTLS = true
        capabilities.security = .dtls
        capabilities.canBundle = true
        let network = EngineNetwork(capabilities: capabilities, ice: ICESettings())
        let (caller, answered, _) = network.connect(
            offering: .sendReceive, answering: .sendReceive, settling: .milliseconds(300))
        let callee = try #require(answered)
        #expect(network.snapshots[caller]?.isSecure == true)
        #expect(network.snapshots[callee]?.isSecure == true)
    }

    @Test func `a far end without ICE is reached at its plain address`() throws {
        let network = EngineNetwork(ice: ICESettings(), onlyCallerDoesICE: true)
        let (caller, answered, _) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)

        let frame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 48, 0, 1, 2, 3]
        network.step(.caller) { $0.sendVideo(frame, isKeyFrame: true, captureTime: $1, of: caller, at: $1) }
        network.run(.seconds(1))

        #expect(network.videoFrames[callee] == [frame])
        #expect(network.snapshots[caller]?.usesICE == false)
    }

    @Test(arguments: 1...14)
    func `a call survives the loss of any one message`(lost: Int) throws {
        let network = EngineNetwork()
        network.losing = lost
        let (caller, answered, start) = network.connect(offering: .sendReceive, answering: .sendReceive)
        let callee = try #require(answered)
        #expect(network.finished[start] == .some(nil))
        #expect(network.snapshots[callee]?.phase == .established)

        network.step(.caller) { $0.end(caller, at: $1) }
        network.run(.seconds(60))

        #expect(network.snapshots[caller]?.phase == .ended)
        #expect(network.snapshots[callee]?.phase == .ended)
        #expect(network.openPorts == [CallEngine.sparePortsWanted, CallEngine.sparePortsWanted])
    }
}
