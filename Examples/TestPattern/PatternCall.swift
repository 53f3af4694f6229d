import ExampleConsole
import Foundation
import Offhook

/// Calls itself, sends the test pattern, and reads the numbers of the pictures that come back out of the network.
@main @MainActor final class PatternCall {
    static func main() async throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
        let call = try PatternCall()
        guard await call.run(for: .seconds(seconds)) else { exit(1) }
    }

    private let sender: Client
    private let receiver: Client
    private let alice: User
    private let bob: User
    private let pattern = TestPatternCapturer(size: VideoSize(width: 640, height: 360), frameRate: 25)
    private let reader = PatternSink()

    init() throws {
        var configuration = ClientConfiguration()
        configuration.bindAddress = IPAddress(parsing: "127.0.0.1")
        configuration.port = 25090
        receiver = Client(configuration: configuration)
        configuration.port = 25092
        sender = Client(configuration: configuration)
        alice = try sender.createUser(UserConfiguration(address: "sip:alice@127.0.0.1:25092"))
        bob = try receiver.createUser(UserConfiguration(address: "sip:bob@127.0.0.1:25090"))
        bob.callService.delegate = self
    }

    /// Returns whether pictures came, in order.
    func run(for duration: Duration) async -> Bool {
        do {
            try await bob.start()
            try await alice.start()
            let call = try alice.callService.createCall(to: "sip:bob@127.0.0.1:25090")
            call.delegate = self
            try await call.setVideoMode(.sendOnly)
            try await call.start()
            for _ in 0..<duration.components.seconds {
                try await Task.sleep(for: .seconds(1))
                let newest = reader.state.withLock { ($0.number, $0.age) }
                Console.say("Picture \(newest.0), \(Int(newest.1.inMilliseconds)) ms after it was drawn.")
            }
            call.end()
        } catch {
            Console.say("\(error)")
        }
        await sender.shutdown()
        await receiver.shutdown()
        let state = reader.state.withLock { $0 }
        Console.say("\(state.read) pictures read, \(state.unreadable) not readable, \(state.disorder) out of order.")
        return state.read > 0 && state.disorder == 0
    }
}

/// Reads each picture's number.
final class PatternSink: VideoSink {
    struct State {
        var number = -1
        var age = Duration.zero
        var read = 0
        var unreadable = 0
        var disorder = 0
    }

    let state = Lock(State())

    func handleVideoFrame(_ frame: VideoFrame) {
        let pattern = TestPatternReader().read(frame)
        let now = Instant.now
        state.withLock { state in
            guard let pattern else { return state.unreadable += 1 }
            state.read += 1
            if pattern.frameNumber <= state.number { state.disorder += 1 }
            state.number = pattern.frameNumber
            state.age = pattern.age(at: now)
        }
    }
}

extension PatternCall: CallServiceDelegate, CallDelegate {
    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Console.attempt {
            try await call.setVideoMode(.receiveOnly)
            try await call.accept()
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {}

    func callDidEstablish(_ call: Call) {}

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        let (outgoing, incoming) = (alice.mediaServices.videoInterface, bob.mediaServices.videoInterface)
        for channel in videoChannels where channel.isEnabled {
            if channel.negotiatedDirection.sends { pattern.setVideoSink(outgoing.localVideoSink(for: channel.id)) }
            if channel.negotiatedDirection.receives {
                incoming.remoteVideoSource(for: channel.id)?.setVideoSink(reader)
            }
        }
    }

    func call(_ call: Call, didFailWithError error: CallError) { call.end() }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        pattern.setVideoSink(nil)
    }
}
