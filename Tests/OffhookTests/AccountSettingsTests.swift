import Dispatch
import Offhook
import Testing

@Suite struct `The settings of an account` {
    private func configuration(port: UInt16 = 0) -> ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.bindAddress = IPAddress(parsing: "127.0.0.1")
        configuration.port = port
        return configuration
    }

    @Test(arguments: [
        "sip.example.org", "sip.example.org:5070", "192.0.2.1", "192.0.2.1:5070", "[2001:db8::1]:5061", "2001:db8::1",
        "localhost", "a_b.example.org",
    ])
    func `take a server`(_ text: String) async throws {
        let client = Client(configuration: configuration(), callbackQueue: callbackQueue())

        _ = try client.createUser(
            UserConfiguration(address: "sip:alice@example.org", server: SignalingServer(text, transport: .tls)))

        await client.shutdown()
    }

    @Test(arguments: [
        "", "sip.example.org:", "sip.example.org:0", "sip.example.org:99999", "sip:example.org", "a b", "[::1",
    ])
    func `refuse what is no server`(_ text: String) async {
        let client = Client(configuration: configuration(), callbackQueue: callbackQueue())

        #expect {
            try client.createUser(UserConfiguration(address: "sip:alice@example.org", server: SignalingServer(text)))
        } throws: { error in
            (error as? CallError)?.code == .invalidArgument
        }

        await client.shutdown()
    }

    @Test func `say why a server cannot be reached, and when it is tried again`() async throws {
        let client = Client(configuration: configuration(), callbackQueue: callbackQueue())
        let user = try client.createUser(
            UserConfiguration(address: "sip:alice@example.org", server: SignalingServer("127.0.0.1:1", transport: .tcp))
        )

        let error = await #expect(throws: CallError.self) { try await user.start() }

        #expect(error?.code == .unreachable)
        #expect(error?.retryAfter != nil)
        #expect(user.registration.state == .failed)
        #expect(user.callService.capabilities[.createCall] == .denied(.notRegistered))
        await client.shutdown()
    }

    @Test func `meet strangers with silence where only servers may call`() async throws {
        var closed = configuration()
        closed.allowedPeers = .serversOnly
        let callee = Client(configuration: closed, callbackQueue: callbackQueue())
        let user = try callee.createUser(UserConfiguration(address: "sip:alice@127.0.0.1"))
        let delegate = RecordingDelegate(takesCalls: false)
        user.callService.delegate = delegate
        try await user.start()
        let port = try #require(user.listeningEndpoints[.udp]?.port)
        var open = configuration()
        open.timeouts.noAnswer = .seconds(1)
        let caller = Client(configuration: open, callbackQueue: callbackQueue())
        let stranger = try caller.createUser(UserConfiguration(address: "sip:bob@127.0.0.1"))
        try await stranger.start()
        let ringing = RecordingDelegate()

        let call = try stranger.callService.createCall(to: "sip:alice@127.0.0.1:\(port)")
        call.delegate = ringing
        await #expect(throws: CallError.self) { try await call.start() }

        #expect(!delegate.news.contains("didReceiveIncomingCall"))
        #expect(!ringing.news.contains { $0.hasPrefix("didBeginRemoteAlerting") })
        await caller.shutdown()
        await callee.shutdown()
    }
}
