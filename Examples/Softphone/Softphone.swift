import ExampleConsole
import Foundation
import Offhook

/// A softphone in a window, or in the terminal where there is no display. It calls whom it is told to, or waits for calls.
@main @MainActor final class Softphone {
    static func main() async throws {
        let phone = try Softphone()
        var hasFailed = false
        do {
            try await phone.run()
        } catch {
            print(error)
            hasFailed = true
        }
        await phone.client.shutdown()
        if hasFailed { exit(1) }
    }

    private let client = Client()
    private let user: User
    private let camera: any VideoCapturer
    private let window: SDLRenderer?
    private let screen: any VideoSink
    private let keys: AsyncStream<Character>
    private let typed: AsyncStream<Character>.Continuation
    private var call: Call?

    init() throws {
        user = try client.createUser(UserConfiguration(address: "sip:softphone@localhost"))
        camera = V4L2Capturer.availableCameras().isEmpty ? TestPatternCapturer() : V4L2Capturer()
        (keys, typed) = AsyncStream.makeStream()
        do {
            window = try SDLRenderer(configuration: WindowConfiguration(title: "Softphone"))
        } catch {
            print(error)
            window = nil
        }
        var terminal = TerminalConfiguration()
        terminal.reservedRows = 6
        screen = window ?? TerminalRenderer(configuration: terminal)
        window?.delegate = self
        user.callService.delegate = self
        user.mediaServices.audioInterface.setMicrophone(PulseMicrophone())
        user.mediaServices.audioInterface.setSpeaker(PulseSpeaker())
        Thread.detachNewThread { [typed] in
            while let line = readLine() { for key in line { typed.yield(key) } }
        }
    }

    private func run() async throws {
        try await user.start()
        print("a: answer, x: hang up, m: mute, f: full screen, s: snapshot, 0-9 * #: tones, q: quit")
        if let address = CommandLine.arguments.dropFirst().first { try await place(address) }
        for await key in keys {
            guard key != "q" else { break }
            await press(key)
        }
        call?.end()
    }

    private func place(_ address: String) async throws {
        let call = try user.callService.createCall(to: address)
        self.call = call
        call.delegate = self
        try await call.setVideoMode(.sendReceive)
        try await call.start()
    }

    private func press(_ key: Character) async {
        do {
            switch key {
            case "f": window.map { $0.setFullScreen(!$0.isFullScreen) }
            case "s":
                if try window?.writeSnapshot(to: "softphone.png") == true { print("The picture is in softphone.png.") }
            case "a":
                if call?.incomingVideoStatus == .supported { try await call?.setVideoMode(.sendReceive) }
                try await call?.accept()
            case "x": call?.end()
            case "m": if let call { try await call.muteAudio(!call.isAudioMuted) }
            case _ where DTMFTone(key) != nil: try await call?.sendDTMF(String(key))
            default: break
            }
        } catch {
            print(error)
        }
    }
}

extension Softphone: SDLRendererDelegate {
    func rendererDidClose(_ renderer: SDLRenderer) { typed.yield("q") }

    func renderer(_ renderer: SDLRenderer, didType character: Character) { typed.yield(character) }
}

extension Softphone: CallServiceDelegate, CallDelegate {
    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        guard self.call == nil else {
            Console.attempt { try await call.deny(.busy) }
            return
        }
        self.call = call
        call.delegate = self
        print("\(call.remoteDisplayName ?? call.remoteAddress) calls; a: answer, x: hang up")
        window?.setTitle("\(call.remoteDisplayName ?? call.remoteAddress) calls")
    }

    func callService(_ callService: CallService, didRemove call: Call) {
        if call === self.call { self.call = nil }
    }

    func callDidEstablish(_ call: Call) {
        print("Talking with \(call.remoteDisplayName ?? call.remoteAddress).")
        window?.setTitle(call.remoteDisplayName ?? call.remoteAddress)
    }

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        guard let channel = videoChannels.first else { return }
        let video = user.mediaServices.videoInterface
        let (receives, sends) = (channel.negotiatedDirection.receives, channel.negotiatedDirection.sends)
        video.remoteVideoSource(for: channel.id)?.setVideoSink(channel.isEnabled && receives ? screen : nil)
        let local = channel.isEnabled && sends ? video.localVideoSink(for: channel.id) : nil
        camera.setVideoSink(local.map { VideoSplitter([$0] + (window.map { [$0.selfViewSink] } ?? [])) })
        if local == nil { window?.clearSelfView() }
        if local != nil, let camera = camera as? V4L2Capturer {
            Console.attempt { try await camera.useCamera(at: .front) }
        }
    }

    func call(_ call: Call, didFailWithError error: CallError) {
        print(error)
        call.end()
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        print("The call is over: \(reason).")
        camera.setVideoSink(nil)
        window?.clear()
        window?.clearSelfView()
        window?.setTitle("Softphone")
    }
}
