import Offhook

// Code that the documentation prints; `DocumentationTests` looks for it here.

func getStarted(phone: any CallDelegate) async throws {
    let client = Client()
    let alice = try client.createUser(UserConfiguration(address: "sip:alice@192.0.2.10"))
    try await alice.start()

    let call = try alice.callService.createCall(to: "sip:bob@192.0.2.20")
    call.delegate = phone
    try await call.start()  // returns when Bob has answered
    try await call.sendDTMF("42#")
    call.end()

    alice.mediaServices.audioInterface.setMicrophone(ToneCapturer(frequency: 440))
    alice.mediaServices.audioInterface.setSpeaker(try WAVRecorder(path: "received.wav"))

    try await call.setVideoMode(.sendReceive)
    try await call.start()

    await client.shutdown()
}

func listen() -> Client {
    var configuration = ClientConfiguration()
    configuration.bindAddress = IPAddress(parsing: "127.0.0.1")
    configuration.port = 5070  // 0 takes any free one; User/listeningEndpoints tells which
    let client = Client(configuration: configuration)
    return client
}

func findTheWay(password: String) -> Client {
    var configuration = ClientConfiguration()
    configuration.mediaSecurity = .dtls
    configuration.connectivity.ice = .on
    configuration.connectivity.stunServers = ["stun.example.org"]
    configuration.connectivity.relayServers = [
        .init(uri: "turn:relay.example.org", username: "alice", password: password),
        .init(uri: "turns:relay.example.org:443", username: "alice", password: password),
    ]
    return Client(configuration: configuration)
}

func speak(_ user: User) async throws {
    let audio = user.mediaServices.audioInterface
    audio.useMicrophone()
    audio.useSpeaker()

    let devices = try await audio.findDevices()
    if let headset = devices.speakers.first(where: { $0.formFactor == "headset" }) {
        audio.useSpeaker(headset)
    }
    audio.callTones = .europe
}

func startAccount() async throws {
    let client = Client()
    let user = try client.createUser(UserConfiguration(address: "sip:alice@example.org"))
    try await user.start()
}

func useCamera(_ sink: any VideoSink) async throws {
    let camera = V4L2Capturer()
    camera.setVideoSink(sink)
    try await camera.useCamera(at: .front)
}

func split(_ source: any VideoSource, _ preview: any VideoSink, _ recorder: any VideoSink) {
    source.setVideoSink(VideoSplitter([preview, recorder]))
}

func record(_ call: Call, to path: String) async throws -> CallRecorder {
    let recorder = try CallRecorder(path: path)
    try await call.startRecording(to: recorder)
    return recorder
}

func trace() -> Client {
    var configuration = ClientConfiguration()
    configuration.traceHandler = { print($0.direction, $0.remote, $0.message, separator: "\n") }
    configuration.logHandler = { print($0.level, $0.message) }
    let client = Client(configuration: configuration)
    return client
}

/// Shows notices to a person.
@MainActor final class NoticeBoard: @MainActor CallServiceDelegate, @MainActor CallDelegate {
    let user: User
    let screen: any VideoSink
    let camera = V4L2Capturer()

    init(user: User, screen: any VideoSink) {
        self.user = user
        self.screen = screen
    }

    func showNotice(_ text: String) {}

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Task {
            do {
                switch call.incomingVideoStatus {
                case .supported:
                    try await call.setVideoMode(V4L2Capturer.availableCameras().isEmpty ? .receiveOnly : .sendReceive)
                case .indefinite: try await call.setVideoMode(.receiveOnly)
                case .off: break
                }
                try await call.accept()
            } catch {
                // The caller may have given up meanwhile.
                showNotice("The call could not be taken: \(error)")
            }
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {}

    func addVideo(to call: Call) async {
        do {
            try await call.setVideoMode(.sendReceive)
        } catch {
            showNotice(error.code == .videoDenied ? "They would rather not be seen." : error.reason)
        }
    }

    func callDidEstablish(_ call: Call) {}
    func call(_ call: Call, didFailWithError error: CallError) {}

    func call(_ call: Call, didUpdateVideoChannels videoChannels: [VideoChannel]) {
        let video = user.mediaServices.videoInterface
        guard let channel = videoChannels.first else { return }
        if channel.isEnabled, channel.negotiatedDirection.receives {
            video.remoteVideoSource(for: channel.id)?.setVideoSink(screen)
        } else {
            video.remoteVideoSource(for: channel.id)?.setVideoSink(nil)
        }
        if channel.isEnabled, channel.negotiatedDirection.sends {
            camera.setVideoSink(video.localVideoSink(for: channel.id))
            Task { [camera] in
                do { try await camera.useCamera(at: .front) } catch { showNotice("\(error)") }
            }
        } else {
            camera.setVideoSink(nil)
        }
    }

    func call(_ call: Call, didReceiveVideoAddRequest direction: MediaDirection) {
        Task {
            do { try await call.acceptVideo(.receiveOnly) } catch { showNotice("\(error)") }
        }
    }

    func callDidEnd(_ call: Call, reason: CallEndReason) {
        switch reason.cause {
        case .ended(by: .remote): showNotice("They hung up.")
        case .ended(by: .local), .cancelled: break
        case .busy: showNotice("They are on another call.")
        case .declined: showNotice("They declined.")
        case .noAnswer: showNotice("Nobody answered.")
        case .answeredElsewhere, .declinedElsewhere: showNotice("Another device took care of it.")
        case .transferred, .replaced: showNotice("The call went on elsewhere.")
        case .mediaTimeout, .signalingLost: showNotice("The connection was lost.")
        case .failed(let error): showNotice(error.reason)
        }
    }
}

/// What the article on threads shows.
enum OnTheMainActor {
    @MainActor final class Phone: @MainActor CallServiceDelegate {
        func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
            Task { await answer(call) }
        }

        func callService(_ callService: CallService, didRemove call: Call) {}

        private func answer(_ call: Call) async {
            do { try await call.accept() } catch { show(error) }  // `error` is a CallError
        }

        private func show(_ error: CallError) {}
    }
}
