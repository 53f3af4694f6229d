import Offhook

/// Answers two calls with a sink of its own, one by a plain class and one on the main actor, and calls itself.
@main struct Program {
    static func main() async throws {
        try await answer { Receptionist(user: $0, screen: $1) }
        print("answered by a plain class, seen on a sink of its own")
        try await answer { MainReceptionist(user: $0, screen: $1) }
        print("answered on the main actor, seen on a sink of its own")
    }

    @MainActor private static func answer<Answering>(
        with receptionist: (User, any VideoSink) -> Answering
    ) async throws {
        var configuration = ClientConfiguration()
        configuration.bindAddress = IPAddress(parsing: "127.0.0.1")
        configuration.port = 0
        let client = Client(configuration: configuration)
        let callee = try client.createUser(UserConfiguration(address: "sip:answerer@127.0.0.1"))
        let screen = CountingSink()
        let answering = receptionist(callee, screen)
        try await callee.start()

        let other = Client(configuration: configuration)
        let caller = try other.createUser(UserConfiguration(address: "sip:caller@127.0.0.1"))
        try await caller.start()
        guard let port = callee.listeningEndpoints[.udp]?.port else { fatalError("a started account has a port") }
        let call = try caller.callService.createCall(to: "sip:answerer@127.0.0.1:\(port)")
        try await call.setVideoMode(.sendOnly)
        try await call.start()
        guard let channel = call.videoChannels.first,
            let sink = caller.mediaServices.videoInterface.localVideoSink(for: channel.id)
        else { fatalError("an answered video call has a line to send on") }
        let pattern = TestPatternCapturer(size: VideoSize(width: 320, height: 240), frameRate: 15)
        pattern.setVideoSink(sink)
        await screen.waitForPictures(5)
        pattern.setVideoSink(nil)
        call.end()
        await other.shutdown()
        await client.shutdown()
        withExtendedLifetime(answering) {}
    }
}
