import Dispatch
import Offhook
import OffhookBasics
import OffhookTestKit
import Testing

@Suite struct `A simulated network` {
    @Test func `carries a whole call`() async throws {
        let receptionist = Answering()

        let network = SimulatedNetwork(seed: 1)
        let alice = try network.makeClient(named: "alice")
        let bob = try network.makeClient(named: "bob")
        let caller = try alice.createUser(UserConfiguration(address: "sip:alice@alice.test"))
        let callee = try bob.createUser(UserConfiguration(address: "sip:bob@bob.test"))
        callee.callService.delegate = receptionist
        try await network.run {
            try await caller.start()
            try await callee.start()
        }

        let call = try caller.callService.createCall(to: "sip:bob@bob.test")
        try await network.run { try await call.start() }
        await network.advance(by: .seconds(10))
        call.end()
        await network.advance(by: .seconds(1))

        #expect(
            receptionist.news == [
                "didReceiveIncomingCall", "didEstablish", "didUpdateVideoChannels []", "didChangeSecurity true",
                "didEnd ended(by: remote)", "didRemove",
            ])
        // INVITE, 180, 200, ACK; BYE, 200.
        #expect(network.signalingDatagramCount == 6)
        // 50 packets a second each way.
        #expect(network.mediaDatagramCount > 900)
        await network.shutdown()
    }

    @Test func `tells when DTLS has made the keys`() async throws {
        let receptionist = Answering()
        var configuration = ClientConfiguration()
        configuration.mediaSecurity = .dtls
        let pair = try await SimulatedPair(answering: receptionist, isChecked: true, configuration: configuration)

        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)
        try await pair.network.run { try await call.start() }
        await pair.network.advance(by: .seconds(5))

        #expect(
            receptionist.news.filter { $0 == "didEstablish" || $0.contains("Security") } == [
                "didEstablish", "didChangeSecurity true",
            ])
        #expect(call.isSecure)
        for result in pair.conformance?.results ?? [] { #expect(result.isMet, "\(result)") }
        await pair.network.shutdown()
    }

    @Test func `tells delegates of the main actor`() async throws {
        let network = SimulatedNetwork(seed: 1)
        let alice = try network.makeClient(named: "alice")
        let bob = try network.makeClient(named: "bob", callbackQueue: .main)
        let caller = try alice.createUser(UserConfiguration(address: "sip:alice@alice.test"))
        let callee = try bob.createUser(UserConfiguration(address: "sip:bob@bob.test"))
        let phone = await Phone(callee.callService)
        try await network.run {
            try await caller.start()
            try await callee.start()
        }

        let call = try caller.callService.createCall(to: "sip:bob@bob.test")
        try await network.run { try await call.start() }
        await network.advance(by: .milliseconds(20))

        #expect(await phone.isUp)
        await network.shutdown()
    }

    @Test func `takes as long as its latency says, in its own time`() async throws {
        var conditions = NetworkConditions()
        conditions.latency = .milliseconds(400)
        let pair = try await SimulatedPair(conditions: conditions, answering: Answering())
        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)
        let start = pair.network.elapsed

        try await pair.network.run { try await call.start() }

        #expect(pair.network.elapsed - start >= .milliseconds(800))
        await pair.network.shutdown()
    }

    @Test func `carries pictures that the test makes`() async throws {
        let bob = Answering { call in
            try await call.setVideoMode(.receiveOnly)
            try await call.accept()
        }
        let pair = try await SimulatedPair(answering: bob)
        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)
        try await call.setVideoMode(.sendOnly)
        try await pair.network.run { try await call.start() }
        await pair.network.advance(by: .milliseconds(20))
        let screen = NullVideoSink()
        let seen = try #require(bob.call?.videoChannels.first)
        pair.callee.mediaServices.videoInterface.remoteVideoSource(for: seen.id)?.setVideoSink(screen)
        let sent = try #require(call.videoChannels.first)
        let sink = try #require(pair.caller.mediaServices.videoInterface.localVideoSink(for: sent.id))

        for number in 0..<10 {
            let buffer = VideoFrameBuffer(size: VideoSize(width: 160, height: 120))
            for plane in 0..<3 { buffer.withMutablePlane(plane) { $0.update(repeating: UInt8(100 + number)) } }
            sink.handleVideoFrame(VideoFrame(buffer: buffer, captureTime: pair.network.now))
            await pair.network.advance(by: .milliseconds(50))
        }
        await pair.network.advance(by: .seconds(1))

        #expect(screen.frameCount > 5)
        await pair.network.shutdown()
    }

    @Test func `loses what a rule picks`() async throws {
        let pair = try await SimulatedPair(answering: Answering())
        let lines = Lock<[String]>([])
        pair.network.lose { datagram in
            guard datagram.isSignaling, datagram.sender == "bob" else { return false }
            lines.withLock { $0.append(datagram.startLine ?? "") }
            return true
        }
        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)

        // 64 times T1 (RFC 3261 §17.1.1.2).
        await #expect(throws: CallError.self) { try await pair.network.run { try await call.start() } }

        #expect(pair.network.elapsed >= .seconds(32))
        #expect(lines.withLock { $0 }.contains("SIP/2.0 180 Ringing"))
        #expect(pair.network.lostDatagramCount == lines.withLock { $0.count })
        await pair.network.shutdown()
    }

    @Test func `does to messages what its seed says`() async throws {
        func startLines(seed: UInt64) async throws -> [String] {
            var conditions = NetworkConditions()
            conditions.loss = 0.3
            conditions.jitter = .milliseconds(50)
            let lines = Lock<[String]>([])
            let pair = try await SimulatedPair(seed: seed, conditions: conditions, answering: Answering())
            pair.network.lose { datagram in
                if let line = datagram.startLine { lines.withLock { $0.append("\(datagram.sender) \(line)") } }
                return false
            }
            let call = try pair.caller.callService.createCall(to: pair.calleeAddress)
            try await pair.network.run { try await call.start() }
            await pair.network.shutdown()
            return lines.withLock { $0 }
        }

        #expect(try await startLines(seed: 5) == startLines(seed: 5))
    }

    @Test(arguments: 1...6) func `that is bad still carries a call`(seed: UInt64) async throws {
        var conditions = NetworkConditions()
        conditions.loss = 0.2
        conditions.jitter = .milliseconds(80)
        conditions.duplication = 0.1
        conditions.reordering = 0.1
        conditions.bandwidth = 300_000
        let receptionist = Answering()
        let pair = try await SimulatedPair(
            seed: seed, conditions: conditions, answering: receptionist, isChecked: true)
        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)

        try await pair.network.run { try await call.start() }
        await pair.network.advance(by: .seconds(3))
        call.end()
        await pair.network.advance(by: .seconds(40))

        #expect(call.status.endReason == .ended(by: .local))
        #expect(receptionist.news.last == "didRemove", "seed \(seed)")
        for result in try #require(pair.conformance).results { #expect(result.isMet, "\(result), seed \(seed)") }
        await pair.network.shutdown()
    }

    @Test func `takes the cable out`() async throws {
        var configuration = ClientConfiguration()
        configuration.timeouts.mediaLoss = .seconds(20)
        let pair = try await SimulatedPair(answering: Answering(), configuration: configuration)
        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)
        try await pair.network.run { try await call.start() }

        pair.network.setConnected(false, clientNamed: "bob")
        await pair.network.advance(by: .seconds(90))

        #expect(call.status.endReason == .mediaTimeout)
        await pair.network.shutdown()
    }

    @Test func `knows no strangers and takes no name twice`() async throws {
        let pair = try await SimulatedPair(answering: Answering())
        let call = try pair.caller.callService.createCall(to: "sip:carol@carol.test")

        await #expect(throws: CallError.self) { try await pair.network.run { try await call.start() } }
        #expect(throws: CallError.self) { try pair.network.makeClient(named: "Bob") }
        #expect(throws: CallError.self) { try pair.network.makeClient(named: "not a host") }
        await pair.network.shutdown()
    }

    @Test func `gives up waiting after a while, and says so`() async throws {
        let pair = try await SimulatedPair(answering: Answering { _ in })
        let call = try pair.caller.callService.createCall(to: pair.calleeAddress)

        let timeout = await #expect(throws: SimulatedTimeout.self) {
            try await pair.network.run(upTo: .seconds(5)) { try await call.start() }
        }

        #expect(timeout?.description == "nothing came of it within 5.0 seconds of simulated time (seed 1)")
        await pair.network.shutdown()
    }
}

/// Answers on the main actor.
@MainActor final class Phone: @MainActor CallServiceDelegate, @MainActor CallDelegate {
    private(set) var isUp = false

    init(_ service: CallService) {
        service.delegate = self
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Task { try await call.accept() }
    }
    func callService(_ callService: CallService, didRemove call: Call) {}
    func callDidEstablish(_ call: Call) { isUp = true }
    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {}
    func call(_ call: Call, didFailWithError error: CallError) {}
    func callDidEnd(_ call: Call, reason: CallEndReason) {}
}
