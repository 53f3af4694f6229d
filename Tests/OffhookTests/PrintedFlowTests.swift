import Dispatch
import Offhook
import Testing

@Suite struct `The printed flow` {
    @Test(arguments: [
        (IncomingVideoStatus.supported, ["setVideoMode receiveOnly", "accept"]),
        (.indefinite, ["setVideoMode receiveOnly", "accept"]),
        (.off, ["accept"]),
    ])
    func `answers as the incoming status advises`(status: IncomingVideoStatus, commands: [String]) async throws {
        guard V4L2Capturer.availableCameras().isEmpty || status != .supported else { return }
        let queue = callbackQueue()
        let (client, backend) = ScriptedBackend.client(callbackQueue: queue)
        let user = try client.createUser(UserConfiguration(address: "sip:alice@example.org"))
        let screen = NullVideoSink()
        let receptionist = Receptionist(user: user, screen: screen)
        let gate = Gate()
        backend.on("accept") { _, _ in
            gate.open()
        }

        backend.receiveCall(for: user, video: status)
        await gate.wait()

        #expect(backend.commands == commands)
        withExtendedLifetime(receptionist) {}
    }

    @Test func `places a call`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: callbackQueue())

        let (receptionist, call) = try await placeCall(window: NullVideoSink(), client: client)

        #expect(backend.commands == ["startUser", "setVideoMode sendReceive", "start"])
        #expect(call.delegate === receptionist)
    }

    @MainActor @Test func `places a call from the main actor, and is told there`() async throws {
        let (client, backend) = ScriptedBackend.client(callbackQueue: .main)
        let screen = NullVideoSink()
        let (receptionist, call) = try await placeMainCall(window: screen, client: client)

        backend.front.apply(.didEstablish, to: call.id) { $0.state = .established }
        backend.front.apply(.didFail(CallError(.signalingLost, "the way is lost")), to: call.id)
        await settle(.main)

        #expect(backend.commands == ["startUser", "setVideoMode sendReceive", "start", "end"])
        #expect(call.state == .ended)
        withExtendedLifetime(receptionist) {}
    }
}
