import ExampleConsole
import Foundation
import Offhook

/// A door with a bell: it calls who lives there, shows them who stands outside, and opens when they press the right keys.
@main @MainActor final class Door {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        guard let resident = words.first, resident.hasPrefix("sip:") else {
            print("Type: door-station sip:resident@host [CODE] [PORT]")
            exit(2)
        }
        let door = try Door(
            resident: resident, code: words.dropFirst().first ?? "42#",
            port: words.dropFirst(2).first.flatMap { UInt16($0) })
        do {
            try await door.user.start()
        } catch {
            Console.say("\(error)")
            exit(1)
        }
        Console.say("Enter rings the bell; Ctrl-D ends.")
        for await _ in Console.lines { await door.ring() }
        door.call?.end()
        await door.client.shutdown()
    }

    private let client: Client
    private let user: User
    private let resident: String
    private let code: String
    private let camera: any VideoCapturer
    private var call: Call?
    private var pressed = ""

    init(resident: String, code: String, port: UInt16?) throws {
        var configuration = ClientConfiguration()
        if let port { configuration.port = port }
        client = Client(configuration: configuration)
        user = try client.createUser(UserConfiguration(address: "sip:door@localhost"))
        camera = V4L2Capturer.availableCameras().isEmpty ? TestPatternCapturer() : V4L2Capturer()
        (self.resident, self.code) = (resident, code)
        // Both are silent where there is no sound server.
        user.mediaServices.audioInterface.setMicrophone(PulseMicrophone())
        user.mediaServices.audioInterface.setSpeaker(PulseSpeaker())
    }

    private func ring() async {
        guard call == nil else { return }
        do {
            let call = try user.callService.createCall(to: resident)
            self.call = call
            call.delegate = self
            Console.say("The bell rings at \(resident).")
            // The resident sees the door; nobody outside sees the resident.
            try await call.setVideoMode(.sendOnly)
            try await call.start()
        } catch {
            Console.say("\(error)")
            call?.end()
        }
    }

    private func open() {
        Console.say("The door is open.")
        Task {
            try await Task.sleep(for: .seconds(3))
            Console.say("The door is closed.")
        }
    }
}

extension Door: CallDelegate {
    func callDidEstablish(_ call: Call) {
        Console.say("\(call.remoteDisplayName ?? call.remoteAddress) answers.")
    }

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        let channel = videoChannels.first { $0.isEnabled && $0.negotiatedDirection.sends }
        camera.setVideoSink(channel.flatMap { user.mediaServices.videoInterface.localVideoSink(for: $0.id) })
        Console.say(channel == nil ? "The resident does not see the door." : "The resident sees the door.")
        if channel != nil, let camera = camera as? V4L2Capturer {
            Console.attempt { try await camera.useCamera(at: .front) }
        }
    }

    func call(_ call: Call, didReceiveDTMF tone: DTMFTone) {
        pressed = String((pressed + tone.description).suffix(code.count))
        guard pressed == code else { return }
        pressed = ""
        open()
    }

    func call(_ call: Call, didFailWithError error: CallError) {
        Console.say("\(error)")
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        camera.setVideoSink(nil)
        self.call = nil
        pressed = ""
        Console.say("The call is over: \(reason).")
    }
}
