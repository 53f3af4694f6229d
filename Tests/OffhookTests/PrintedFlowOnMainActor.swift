// swift-format-ignore-file: printed as the documentation prints it.
// The flow that the documentation prints, in a main-actor class with isolated conformances.
import Offhook

@MainActor final class MainReceptionist: CallServiceDelegate, CallDelegate {
    let user: User
    let screen: any VideoSink
    let camera = V4L2Capturer()

    init(user: User, screen: any VideoSink) {
        self.user = user
        self.screen = screen
        user.callService.delegate = self
    }

    func callService(_ callService: CallService, didReceiveIncomingCall call: Call) {
        call.delegate = self
        Task {
            switch call.incomingVideoStatus {
            case .supported:
                try await call.setVideoMode(V4L2Capturer.availableCameras().isEmpty ? .receiveOnly : .sendReceive)
            case .indefinite: try await call.setVideoMode(.receiveOnly)
            case .off: break
            }
            try await call.accept()
        }
    }

    func callService(_ callService: CallService, didRemove call: Call) {}

    func callDidEstablish(_ call: Call) {}

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
            Task { [camera] in try await camera.useCamera(at: .front) }
        } else {
            camera.setVideoSink(nil)
        }
    }

    func call(_ call: Call, didFailWithError error: CallError) { call.end() }
    func callDidEnd(_ call: Call, reason: CallEndReason) {}
}

@MainActor func placeMainCall(window: any VideoSink, client: Client) async throws -> (MainReceptionist, Call) {
    let user = try client.createUser(
        UserConfiguration(
            address: "sip:alice@example.org",
            credentials: .init(authenticationName: "alice", password: "…"),
            server: .init("sip.example.org", transport: .tls)))  // nil server: no registrar, calls go peer to peer
    let receptionist = MainReceptionist(user: user, screen: window)
    try await user.start()  // registers, or just listens where there is no registrar
    let call = try user.callService.createCall(to: "sip:bob@example.org")
    call.delegate = receptionist
    try await call.setVideoMode(.sendReceive)
    try await call.start()
    return (receptionist, call)
}
