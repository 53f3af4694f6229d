import ExampleConsole
import Foundation
import Offhook

/// Answers every call with a picture, plays a greeting, and records what the caller then says and shows.
@main @MainActor final class Machine {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        guard let folder = words.first else {
            print("Type: answering-machine FOLDER [GREETING.wav] [PORT]")
            exit(2)
        }
        let greeting = words.first { $0.hasSuffix(".wav") }
        let machine = try Machine(folder: folder, greeting: greeting, port: words.lazy.compactMap { UInt16($0) }.first)
        do {
            try await machine.user.start()
        } catch {
            Console.say("\(error)")
            exit(1)
        }
        Console.say("Waiting for calls; Ctrl-D ends.")
        for await _ in Console.lines {}
        await machine.client.shutdown()
        for message in machine.messages.values { message.close() }
    }

    private static let longestMessage = Duration.seconds(60)

    private let client: Client
    private let user: User
    private let folder: String
    private let greeting: String?
    /// What callers see.
    private let picture = TestPatternCapturer(size: VideoSize(width: 640, height: 360), frameRate: 10)
    private let viewers = VideoSplitter([])
    private var messages: [Call.ID: CallRecorder] = [:]
    private var count = 0

    init(folder: String, greeting: String?, port: UInt16?) throws {
        var configuration = ClientConfiguration()
        if let port { configuration.port = port }
        client = Client(configuration: configuration)
        user = try client.createUser(UserConfiguration(address: "sip:machine@localhost"))
        self.folder = folder
        self.greeting = greeting
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        picture.setVideoSink(viewers)
        user.callService.delegate = self
    }

    /// Greets the caller, beeps, and records.
    private func greet(_ call: Call) async {
        do {
            let audio = user.mediaServices.audioInterface
            if let greeting {
                audio.play(try WAVCapturer(path: greeting), to: .remote(call))
                try await Task.sleep(for: Self.length(of: greeting))
            }
            audio.play(ToneCapturer(frequency: 880), to: .remote(call))
            try await Task.sleep(for: .milliseconds(400))
            audio.play(nil, to: .remote(call))
            guard call.endReason == nil else { return }
            count += 1
            let message = try CallRecorder(path: "\(folder)/message-\(count).webm", sides: .remote)
            messages[call.id] = message
            try await call.startRecording(to: message)
            Console.say("Recording \(message.path).")
            try await Task.sleep(for: Self.longestMessage)
        } catch {
            Console.say("\(error)")
        }
        call.end()
    }

    /// How long a WAV file plays: its header tells how many bytes make a second.
    private static func length(of path: String) throws -> Duration {
        let file = try Data(contentsOf: URL(filePath: path))
        guard file.count > 44 else { return .zero }
        let rate = file[28..<32].reversed().reduce(0) { $0 << 8 | Int($1) }
        return .milliseconds((file.count - 44) * 1000 / max(rate, 1))
    }
}

extension Machine: CallServiceDelegate, CallDelegate {
    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        Console.say("\(call.remoteAddress) calls.")
        call.delegate = self
        Console.attempt {
            if call.incomingVideoStatus != .off { try await call.setVideoMode(.sendReceive) }
            try await call.accept()
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {}

    func callDidEstablish(_ call: Call) {
        Task { await greet(call) }
    }

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        for channel in videoChannels {
            guard let sink = user.mediaServices.videoInterface.localVideoSink(for: channel.id) else { continue }
            if channel.isEnabled, channel.negotiatedDirection.sends { viewers.add(sink) } else { viewers.remove(sink) }
        }
    }

    func call(_ call: Call, didFailWithError error: CallError) {
        Console.say("\(error)")
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        let video = user.mediaServices.videoInterface
        for channel in call.videoChannels { video.localVideoSink(for: channel.id).map { viewers.remove($0) } }
        guard let message = messages.removeValue(forKey: call.id) else {
            Console.say("\(call.remoteAddress) left no message.")
            return
        }
        message.close()
        let seconds = Int(message.duration.components.seconds)
        Console.say(message.error?.reason ?? "\(message.path): \(seconds) s from \(call.remoteAddress).")
    }
}
